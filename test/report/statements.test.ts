import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { ReportData } from '../../report/content/report-data.js'
import { statementsOf, verdictOf } from '../../report/content/statements.js'
import type { Governance } from '../../report/governance/governance.js'
import { governed, reportData } from '../support/reports/report-data.js'
import { emptyReport, hostileReport } from '../support/reports/report-samples.js'

interface Case {
  readonly name: string
  readonly summary?: Partial<ReportData['summary']>
  readonly integrity?: Partial<ReportData['integrity']>
  readonly unknown_everywhere?: boolean
  readonly governed_everywhere?: boolean
  readonly no_engine_anywhere?: boolean
  readonly answered_by?: readonly string[]
  readonly verdict: string
  readonly contains: readonly string[]
  readonly lacks?: readonly string[]
}

const cases = parse(
  readFileSync(new URL('../cases/reports/statements.yaml', import.meta.url), 'utf8'),
) as readonly Case[]

const textOf = (data: ReportData) =>
  [verdictOf(data).text, ...statementsOf(data).map(({ answer }) => answer)].join('\n')

const period = { from: '2026-03-01T00:00:00.000Z', to: '2026-03-01T01:00:00.000Z' }
const noEngine: Governance = {
  ...governed,
  governed_seconds: 0,
  unknown_seconds: 3_600,
  intervals: [{ ...period, state: 'unknown', reason: 'no_engine', instance_id: null }],
}

/** The incidents of the list, each with one answer, in turn of these actors. */
function answeredBy(data: ReportData, actors: readonly string[] | undefined): ReportData {
  if (actors === undefined) return data
  const answer = { at: period.from, from: 'open', to: 'active', note: null } as const
  const rows = data.incidents.list.rows.map((row, index) => ({
    ...row,
    history: [{ ...answer, by: actors[index % actors.length] ?? '' }],
  }))
  return { ...data, incidents: { ...data.incidents, list: { rows, more: 0 } } }
}

function dataOf(each: Case): ReportData {
  const { summary, integrity, unknown_everywhere, governed_everywhere, no_engine_anywhere } = each
  const base = answeredBy(reportData(), each.answered_by)
  const unknown = { ...governed, unknown_seconds: 3_600 }
  const governance =
    unknown_everywhere === true
      ? unknown
      : governed_everywhere === true
        ? governed
        : no_engine_anywhere === true
          ? noEngine
          : undefined
  const rows = base.agents.rows.map((row) => ({ ...row, governance: governance ?? row.governance }))
  return {
    ...base,
    summary: { ...base.summary, ...summary },
    integrity: { ...base.integrity, ...integrity },
    agents: { rows, more: 0 },
  }
}

describe('the statements of page 1', () => {
  it.each(cases)('state $name', (each) => {
    const data = dataOf(each)
    expect(verdictOf(data).mark).toBe(each.verdict)
    for (const sentence of each.contains) expect(textOf(data)).toContain(sentence)
    for (const sentence of each.lacks ?? []) expect(textOf(data)).not.toContain(sentence)
  })

  it('state an empty period', () => {
    expect(verdictOf(emptyReport()).mark).toBe('good')
    expect(statementsOf(emptyReport()).map(({ answer }) => answer)).toEqual([
      'No agent was registered.',
      'No step was recorded, so none could violate a policy.',
      'No incident asked for an answer. No policy asked for an approval.',
      'Yes: the log is the one that was signed. The period has no entries in the log. Only a witness reveals a person who holds both the database and the signing key: the verification of the bundle names those that confirmed this log.',
    ])
  })

  it('hold no text of others', () => {
    expect(textOf(hostileReport())).toMatch(/^[\x20-\x7e\n“”’]+$/)
  })
})
