// Rows of the PDF that stand for several things of the content.
import { describe, expect, it } from 'vitest'
import type { IncidentResult, ReportData } from '../../report/content/report-data.js'
import { reportPdf } from '../../report/formats/pdf.js'
import { hasPoppler, textOf } from '../support/reports/pdf.js'
import { incidentResult, reportData } from '../support/reports/report-data.js'

const wordsOf = async (data: ReportData) => textOf(await reportPdf(data, '<x/>')).replace(/\s+/g, ' ')
const timesOf = (text: string, words: string) => text.split(words).length - 1

function incidentsOf(...rows: readonly IncidentResult[]): ReportData {
  const base = reportData()
  return { ...base, incidents: { ...base.incidents, list: { rows, more: 3 } } }
}

describe.skipIf(!hasPoppler)('rows of a PDF report', () => {
  it('join unanswered incidents of one agent, policy and reason, and count each', async () => {
    const same = { severity: 'high', state: 'open', effect: 'blocked', history: [] } as const
    const rows = Array.from({ length: 20 }, (_, index) => incidentResult(index, same))
    const text = await wordsOf(incidentsOf(...rows, incidentResult(20, { ...same, agent_id: 'agt_2' })))
    expect(text).toContain('20 incidents')
    expect(text).toContain('12 others in the attachment')
    expect(timesOf(text, 'No answer')).toBe(2)
    expect(text).toContain('Listed: 21 of 24 incidents.')
  })

  it('keep what ran apart from what was stopped', async () => {
    const same = { severity: 'high', state: 'open', history: [] } as const
    const effects = ['blocked', 'executed', 'blocked', 'blocked', null] as const
    const rows = effects.map((effect, index) => incidentResult(index, { ...same, effect }))
    const text = await wordsOf(incidentsOf(...rows))
    expect(text).toContain('high, open Step: stopped before it ran 3 incidents')
    expect(text).toContain('high, open Step: executed Refund desk')
    expect(timesOf(text, 'No answer')).toBe(3)
  })

  it('keep incidents with an answer apart', async () => {
    const rows = [2, 6].map((index) => incidentResult(index))
    const text = await wordsOf(incidentsOf(...rows))
    expect(timesOf(text, 'Note: refunded by hand, customer informed')).toBe(2)
    for (const { id } of rows) expect(text).toContain(id)
  })

  it('join missing approvals of one task, and no given ones', async () => {
    const base = reportData()
    const [first] = base.oversight.approvals.rows
    if (first === undefined) throw new Error('the report of the tests has approvals')
    const missing = [4, 5, 6].map((step) => ({ ...first, step, task_id: 'case-9', outcome: 'missing' as const }))
    const given = [7, 8].map((step) => ({ ...first, step, task_id: 'case-9', outcome: 'given' as const }))
    const approvals = { rows: [...missing, ...given], more: 0 }
    const text = await wordsOf({ ...base, oversight: { ...base.oversight, approvals } })
    expect(text).toContain('case-9, 4, 5 and 6')
    expect(text).toContain('case-9, 7')
    expect(text).toContain('case-9, 8')
  })

  it('name agents without a local engine once, and list no interval of theirs', async () => {
    const base = reportData()
    const { from, to } = base.report.period
    const interval = { from, to, state: 'unknown', reason: 'no_engine', instance_id: null } as const
    const governance = {
      governed_seconds: 0,
      ungoverned_seconds: 0,
      unknown_seconds: 9,
      idle_seconds: 0,
      intervals: [interval],
      more: 0,
    }
    const rows = base.agents.rows.slice(0, 2).map((row) => ({ ...row, governance }))
    const text = await wordsOf({ ...base, agents: { rows, more: 0 } })
    const names = rows.map(({ name }) => name).join(', ')
    expect(text).toContain('2 agents used no local engine in this period')
    expect(text).toContain(`the time is unknown where it is not ungoverned: ${names}.`)
    expect(text).toContain('No other time is known to be ungoverned, unknown or without an engine.')
    expect(text).not.toContain('No engine had reported yet')
  })
})

describe.skipIf(!hasPoppler)('page 1 of a PDF report', () => {
  const base = reportData()
  const [agent] = base.agents.rows
  const of = (changes: Partial<ReportData['report']>, rest: Partial<ReportData> = {}) =>
    wordsOf({ ...base, ...rest, report: { ...base.report, ...changes } })

  it('names the agents that were chosen, where they are few', async () => {
    const text = await of({ agent_ids: [agent?.agent_id ?? ''] }, { agents: { rows: agent ? [agent] : [], more: 0 } })
    expect(text).toContain(`Scope 1 chosen agent: ${agent?.name}`)
  })

  it('states what is not covered before the log began and after the cut-off', async () => {
    const period = { from: '2020-01-01T00:00:00.000Z', to: '2099-01-01T00:00:00.000Z' }
    const text = await of({ period })
    expect(text).toContain('is the last that counts; the time after it is not covered')
    expect(text).toContain('All agents of the workspace; the log begins on 2026-03-01 00:00:00 UTC')
  })
})
