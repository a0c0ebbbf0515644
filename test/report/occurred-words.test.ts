// What reports say of the times by which their steps count: page 1 and the section on scope of the PDF, and the XML.
import { describe, expect, it } from 'vitest'
import type { ReportData } from '../../report/content/report-data.js'
import { verdictOf } from '../../report/content/statements.js'
import { reportXml } from '../../report/formats/oscal.js'
import { reportPdf } from '../../report/formats/pdf.js'
import { canValidate, schemaErrors } from '../support/reports/oscal.js'
import { hasPoppler, textOf } from '../support/reports/pdf.js'
import { reportData } from '../support/reports/report-data.js'

const base = reportData()
/** `received`: the first and the last time of receipt that is outside of the period. */
const occurred = (number: number, received: readonly [string, string] | null, changes: Partial<ReportData> = {}) => {
  const outside = received === null ? null : { first: `${received[0]}.000Z`, last: `${received[1]}.000Z` }
  const summary = { ...base.summary, steps_outside: number, outside }
  return { ...base, report: { ...base.report, by: 'occurred' }, summary, ...changes } as ReportData
}
const bySender = 'Steps count by the time that their sender stated; the log does not prove that time.'
const rows = [
  ['none', occurred(0, null), 'All of them were received in the period.'],
  [
    'one after the period',
    occurred(1, ['2026-04-03T08:00:00', '2026-04-03T08:00:00']),
    '1 of 12,360 steps was received after the period, until 2026-04-03 08:00:00 UTC.',
  ],
  [
    'many after the period',
    occurred(4_000, ['2026-04-03T08:00:00', '2026-05-03T09:30:00']),
    '4,000 of 12,360 steps were received after the period, until 2026-05-03 09:30:00 UTC.',
  ],
  [
    'some before the period',
    occurred(2, ['2026-02-28T23:59:59', '2026-05-03T09:30:00']),
    '2 of 12,360 steps were received before or after the period, from 2026-02-28 23:59:59 to 2026-05-03 09:30:00 UTC.',
  ],
] as const
const received = 'Times are times of receipt'

describe.skipIf(!hasPoppler)('the PDF of a report by the times that senders state', () => {
  const wordsOf = async (data: ReportData) =>
    textOf(await reportPdf(data, '<x/>'))
      .split('\f')
      .map((page) => page.replace(/\s+/g, ' '))

  it('says on page 1 and in its scope which times decide, and which steps were received later', async () => {
    const [, data, sentence] = rows[2]
    const [first = '', ...others] = await wordsOf(data)
    expect(first).toContain('1 March 2026 to 31 March 2026, by the times that senders state')
    expect(others[0]).toContain('Contents')
    expect(first).toContain(`${bySender} ${sentence}`)
    expect(first).not.toContain(received)
    expect(first).not.toContain('claim a time outside the period')
    const scope = others.find((page) => page.includes('Scope, method and limits Scope')) ?? ''
    expect(scope).toContain(`${bySender} ${sentence} A step without a readable time counts by the time of its receipt.`)
    expect(scope).toContain('An incident that a step opened counts with that step, also if it was opened later')
    expect(scope).toContain('Steps that were received more than one day before the period are not read')
    expect(scope).toContain('every record from one day before the period to the cut-off was read and hashed again')
    const text = others.join(' ')
    expect(text).toContain('Steps count here when they were received, whatever time their sender stated')
    expect(text).toContain('Entries that were read, by type')
    expect(text).toContain('Steps count by the time that their sender stated')
  })

  it('says in a report by times of receipt what it said before', async () => {
    const pages = await wordsOf(base)
    expect(pages[0]).toContain('Times are times of receipt.')
    expect(pages.join(' ')).toContain('Times are times of receipt by the platform')
    expect(pages.join(' ')).not.toContain('sender stated')
  })

  it('says of the time before the log that it has only the steps that were sent later', async () => {
    const period = { from: '2026-02-01T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z' }
    const pages = await wordsOf(occurred(0, null, { report: { ...base.report, by: 'occurred', period } }))
    expect(pages.join(' ')).toContain(
      'The log begins on 2026-03-01 00:00:00 UTC; of the time before it, the report has only the steps that were sent later, with their incidents.',
    )
  })
})

describe('a report by the times that senders state', () => {
  it.each(rows)('says in the XML which times decide: %s', (_, data, sentence) => {
    const xml = reportXml(data)
    expect(xml.replace(/\s+/g, ' ')).toContain(`${bySender} ${sentence}`)
    expect(xml).toContain('<prop name="by" ns="urn:svc:oscal" value="occurred"')
    expect(xml).not.toContain(received)
    if (canValidate) expect(schemaErrors(xml)).toBe('')
    expect(reportXml(base)).toContain(received)
  })

  it('is never good for a period before the log', () => {
    const period = { from: '2026-02-01T00:00:00.000Z', to: '2026-03-01T00:00:00.000Z' }
    const quiet = Object.fromEntries(Object.keys(base.summary).map((name) => [name, 0]))
    const of = (steps: number) =>
      verdictOf({
        ...base,
        report: { ...base.report, by: 'occurred', period },
        summary: { ...quiet, steps, decided_steps: steps } as unknown as ReportData['summary'],
        agents: { rows: [], more: 0 },
      })
    const begins = 'The record is whole. The log begins after this period, so that this report shows'
    expect(of(0)).toEqual({ mark: 'attention', text: `${begins} nothing of it.` })
    expect(of(3)).toEqual({ mark: 'attention', text: `${begins} only the steps of it that were sent later.` })
  })
})
