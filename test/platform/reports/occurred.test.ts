// Reports by the times that senders state: which steps and incidents count (test/cases/reports/occurred.yaml), and that the numbers
// of a report agree with each other.
import { readFileSync } from 'node:fs'
import type { LogRecord } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { ReportData } from '../../../report/content/report-data.js'
import { reportIdOf } from '../../../report/content/report-id.js'
import { createPeriod } from '../../../report/tally/period.js'
import { type Act, play } from '../../support/log/history-acts.js'
import { type HistoryPlatform, type HistoryWorkspace, openHistoryPlatform } from '../../support/log/history-platform.js'
import { reportOf } from '../../support/log/honest-histories.js'

type Sent = { readonly at: string } & Partial<{
  readonly task: string
  readonly steps: readonly (readonly [kind: string, timestamp: string])[]
  readonly move: 'review' | 'resolve'
  readonly erase: string
}>
type Expected = Readonly<Record<string, unknown>>
interface Case {
  readonly name: string
  readonly sent: readonly Sent[]
  readonly from: string
  readonly to: string
  readonly received: Expected
  readonly occurred: Expected
}
const cases = parse(readFileSync(new URL('../../cases/reports/occurred.yaml', import.meta.url), 'utf8')) as Case[]

const types: Readonly<Record<string, string>> = { start: 'task.start', model: 'step.model', end: 'task.end' }
const agent = 'desk'
const begun: readonly Act[] = [
  { act: 'register', agent },
  // The registration has an incident of its own.
  { act: 'move', move: 'resolve' },
  { act: 'assign', agent, waives: [], waived_days: 0 },
  { act: 'beat', agent, run: 'one', ended: false },
  { act: 'beat', agent, run: 'one', ended: true },
]

describe('a report by the times that senders state', () => {
  let platform: HistoryPlatform
  beforeAll(async () => {
    platform = await openHistoryPlatform()
  })
  afterAll(() => platform.close())

  it.each(cases.map((row) => [row.name, row] as const))('counts %s', async (_, row) => {
    const workspace = await played(platform, row.sent)
    const [received, occurred] = await both(workspace, row.from, row.to)
    for (const data of [received, occurred]) expectAgreement(data)
    expect(numbersOf(received, row.received)).toEqual(row.received)
    expect(numbersOf(occurred, row.occurred)).toEqual(row.occurred)
    // Time without enforcement is that of engines and of receipt.
    const governance = (data: ReportData) => data.agents.rows.map((each) => [each.agent_id, each.governance])
    expect(governance(occurred)).toEqual(governance(received))
  })

  it('reads the log to the cut-off, and verifies it', async () => {
    const [first] = cases
    const workspace = await played(platform, first?.sent ?? [])
    const [received, occurred] = await both(workspace, first?.from ?? '', first?.to ?? '')
    expect(received.integrity.rehashed).toBe(0)
    const { entries, cut_off, rehashed } = occurred.integrity
    expect([entries.end, rehashed]).toEqual([cut_off, cut_off - entries.first])
    const { steps, possible, others } = occurred.integrity.rejudge
    expect([steps, possible, others]).toEqual([4, 4, []])
    await workspace.query(
      `update log_entries set record = replace(record, 'imported', 'imported2') where org_id = $1`,
      [workspace.scope.org_id],
    )
    const [, altered] = await both(workspace, first?.from ?? '', first?.to ?? '')
    expect(altered.integrity.problems.rows.map(({ code }) => code)).toEqual(Array(3).fill('record_altered'))
  })

  it('counts a step without a readable time by its receipt', () => {
    const period = { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' }
    const times = createPeriod({ period, by: 'occurred' })
    const step = { timestamp: 'at noon', received_at: '2026-01-05T00:00:00.000Z' } as LogRecord
    expect([times.timeOf(step).at, times.otherTimeOf(step)]).toEqual([step.received_at, null])
    const imported = { ...step, timestamp: '2026-01-05T02:00:00+02:00', received_at: '2026-02-01T00:00:00.000Z' }
    expect([times.timeOf(imported).at, times.otherTimeOf(imported)]).toEqual([step.received_at, Date.parse(period.to)])
  })
})

it('leaves the ids of reports by times of receipt as they were', () => {
  const period = { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' }
  const plan = { format: 'pdf', period, agent_ids: null, cut_off: 5, root: '0'.repeat(64) } as const
  expect(reportIdOf('org_1', { ...plan, by: 'received' })).toBe('rep_333aee5c9a9085b824e7ee646faad723')
  expect(reportIdOf('org_1', { ...plan, by: 'occurred' })).not.toBe('rep_333aee5c9a9085b824e7ee646faad723')
})

async function played(platform: HistoryPlatform, sent: readonly Sent[]): Promise<HistoryWorkspace> {
  const workspace = await platform.newWorkspace(Date.parse('2025-11-01T09:00:00Z'))
  for (const act of begun) await play(workspace, act)
  const numbers = new Map<string, number>()
  for (const { at, task = '', steps = [], move, erase } of sent) {
    workspace.wait(Date.parse(at) - workspace.clock())
    if (move !== undefined) await play(workspace, { act: 'move', move })
    if (erase !== undefined) await play(workspace, { act: 'erase', task: erase })
    const entries = steps.map(([kind, timestamp]) => {
      const step = (numbers.get(task) ?? 0) + 1
      numbers.set(task, step)
      const step_type = types[kind] ?? 'step.resource'
      return { task_id: task, agent_key: agent, step, step_type, step_name: kind, input: { to: 'b' }, timestamp }
    })
    if (entries.length > 0) await workspace.ingest.submit(workspace.scope, workspace.key, entries)
  }
  workspace.wait(Date.parse('2026-05-01T00:00:00Z') - workspace.clock())
  await workspace.publish()
  return workspace
}

const both = (workspace: HistoryWorkspace, from: string, to: string) =>
  Promise.all(
    (['received', 'occurred'] as const).map((by) => reportOf(workspace, Date.parse(from), { to: Date.parse(to), by })),
  ) as Promise<[ReportData, ReportData]>

/** What the report says of each name of the expected numbers. */
function numbersOf({ summary, incidents, activity }: ReportData, expected: Expected): Expected {
  const { outside } = summary
  const numbers: Expected = {
    ...summary,
    listed: incidents.list.rows.length,
    days: Object.fromEntries(
      activity.buckets.flatMap(({ from, ...day }) => {
        const counts = [day.steps, day.violations, day.incidents]
        return counts.some((count) => count > 0) ? [[from.slice(0, 10), counts]] : []
      }),
    ),
    outside: outside === null ? null : [outside.first.slice(0, 10), outside.last.slice(0, 10)],
  }
  return Object.fromEntries(Object.keys(expected).map((name) => [name, numbers[name]]))
}

/** Each total is the sum of the rows that show it. */
function expectAgreement({ summary, activity, agents, policies, incidents, integrity }: ReportData): void {
  expect(integrity).toMatchObject({ verdict: 'whole', problems: { rows: [] } })
  const sum = <T>(rows: readonly T[], of: (row: T) => number) => rows.reduce((total, row) => total + of(row), 0)
  const { steps, violations, incidents_opened, undecided_steps } = summary
  expect({
    by_day: [
      sum(activity.buckets, (day) => day.steps),
      sum(activity.buckets, (day) => day.violations),
      sum(activity.buckets, (day) => day.incidents),
    ],
    by_agent: [sum(agents.rows, (row) => row.steps), sum(agents.rows, (row) => row.violations)],
    incidents_of_agents: sum(agents.rows, (row) => row.incidents),
    undecided: sum(agents.rows, (row) => row.undecided_steps),
    by_type: sum(Object.values(activity.step_types), (count) => count),
    by_policy: [sum(policies.rows, (row) => row.violations), sum(policies.rows, (row) => row.incidents)],
    by_severity: sum(incidents.counts, (row) => row.count),
  }).toEqual({
    by_day: [steps, violations, incidents_opened],
    by_agent: [steps, violations],
    incidents_of_agents: incidents_opened,
    undecided: undecided_steps,
    by_type: steps,
    by_policy: [violations, incidents_opened],
    by_severity: incidents_opened,
  })
}
