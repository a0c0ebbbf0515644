// Random histories of honest workspaces: agents, waivers, stops, approvals, erasures, prunes, rotated keys, and steps that come
// late, out of order, twice, or from long ago.

import type { ReportRequest } from '@svc/schemas'
import { withTransaction } from '../../../platform/db/db.js'
import { PlatformError } from '../../../platform/errors.js'
import { readLogSize } from '../../../platform/ledger/log.js'
import { collectReport, type ReportParts } from '../../../platform/reports/collect/make-report.js'
import { planRequest } from '../../../platform/reports/plan-request.js'
import type { ReportPlan } from '../../../report/content/plan.js'
import type { ReportData } from '../../../report/content/report-data.js'
import { numbers, pick, type Random } from '../engine/policy-pairs.js'
import { type Act, play, type StepKind } from './history-acts.js'
import type { HistoryPlatform, HistoryWorkspace } from './history-platform.js'

/** When every history begins. */
export const begin = Date.parse('2026-01-10T09:00:00Z')
const agents = ['desk', 'clerk'] as const
const waivable = ['Known receivers', 'No secrets', 'Payments are approved']
const kinds: readonly StepKind[] = ['model', 'pay', 'waived', 'waived', 'secret', 'late', 'blocked']

/** The acts of one workspace, determined by the seed. */
export function honestActs(seed: number): Act[] {
  const random = numbers(seed)
  const kind = random()
  if (kind < 0.1) return calmActs(kind < 0.04, kind < 0.07)
  const first: Act[] = agents.flatMap((agent) => [
    { act: 'register', agent },
    { act: 'assign', agent, waives: waivable.filter(() => random() < 0.5), waived_days: pick(random, [1, 30, 300]) },
  ])
  const acts = Array.from({ length: 6 + Math.floor(random() * 14) }, (_, number) => anAct(random, number))
  const tasks = acts.flatMap((act) => (act.act === 'task' || act.act === 'approval' ? act.task : []))
  const erased: Act[] = random() < 0.3 && tasks.length > 0 ? [{ act: 'erase', task: pick(random, tasks) }] : []
  const last: Act[] = random() < 0.3 ? ageing(random) : []
  return [...first, ...acts, ...erased, ...last]
}

/** A workspace in which everything was decided and answered. */
function calmActs(has_secret: boolean, is_owned: boolean): Act[] {
  const agent = 'desk'
  const steps: readonly StepKind[] = ['start', has_secret ? 'secret' : 'model', 'end']
  const order = steps.map((_, index) => index)
  const beat = { act: 'beat', agent, run: 'one', minutes_ago: 1 } as const
  return [
    { act: 'register', agent, owned: is_owned && !has_secret },
    { act: 'assign', agent, waives: [], waived_days: 30 },
    { ...beat, ended: false },
    { act: 'task', agent, task: 'a task', steps, order, decided: true, days_ago: 0, again: false },
    { act: 'move', move: 'review' },
    { ...beat, ended: true },
  ]
}

/** What an honest workspace may do next; the first ones happen most. */
function anAct(random: Random, number: number): Act {
  const agent = pick(random, agents)
  const task = `task ${Math.floor(random() * 5)}`
  const acts: readonly (() => Act)[] = [
    () => aTask(random, agent, random() < 0.6 ? `task ${number}` : task),
    () => aTask(random, agent, task),
    () => ({
      act: 'approval',
      agent,
      task: `paid ${number}`,
      outcome: pick(random, ['given', 'rejected', 'missing', 'blocked']),
    }),
    () => ({ act: 'beat', agent, run: pick(random, ['one', 'two']), ended: random() < 0.4 }),
    () => ({ act: 'move', move: pick(random, ['review', 'resolve', 'ignore', 'reactivate']) }),
    () => ({ act: 'wait', minutes: pick(random, [1, 10, 600, 10_000]) }),
    () => ({ act: pick(random, ['resume', 'note', 'gap', 'release', 'publish']) }),
    () => ({ act: 'stop', agent: random() < 0.5 ? agent : null }),
    () => ({ act: 'write', mode: pick(random, ['enforce', 'observe']) }),
    () => ({ act: 'unrecorded', agent, outcome: pick(random, ['allow', 'block']) }),
    () => ({ act: pick(random, ['hold', 'erase', 'erase']), task }),
    () => ({ act: 'rotate', days: pick(random, [0, 30]) }),
    () => ({ act: 'active', agent, active: random() < 0.5 }),
    () => ({ act: 'assign', agent, waives: waivable.filter(() => random() < 0.5), waived_days: 30 }),
  ]
  return pick(random, [...acts, ...acts.slice(0, 5), ...acts.slice(0, 2)])()
}

function aTask(random: Random, agent: string, task: string): Act {
  const count = 1 + Math.floor(random() * 5)
  const steps: StepKind[] = ['start', ...Array.from({ length: count }, () => pick(random, kinds))]
  if (random() < 0.6) steps.push('end')
  const order = steps.map((_, index) => index)
  if (random() < 0.3) order.reverse()
  if (random() < 0.2) order.splice(Math.floor(random() * order.length), 1)
  const days_ago = pick(random, [0, 0, 0, 1, 500])
  return { act: 'task', agent, task, steps, order, decided: random() < 0.6, days_ago, again: random() < 0.2 }
}

/** Old entries are archived and deleted. */
function ageing(random: Random): Act[] {
  return [
    { act: 'retention', days: 184 },
    { act: 'wait', minutes: 400 * 24 * 60 },
    aTask(random, 'desk', 'a later task'),
    { act: 'prune' },
  ]
}

export interface PlayedHistory {
  readonly workspace: HistoryWorkspace
  readonly acts: readonly Act[]
  /** The size of the signed log. */
  readonly size: number
}

/** Plays the acts in a new workspace; what the platform refuses did not happen. */
export async function playedHistory(platform: HistoryPlatform, acts: readonly Act[]): Promise<PlayedHistory> {
  const workspace = await platform.newWorkspace(begin)
  for (const act of acts) {
    workspace.wait(1000)
    await play(workspace, act).catch((error: unknown) => {
      if (!(error instanceof PlatformError) || error.code === 'INTERNAL') throw error
    })
  }
  // The last steps claim times of some seconds later.
  workspace.wait(60_000)
  return { workspace, acts, size: await workspace.publish() }
}

/** When the entry at a share of the log was received, as ms since 1970: a report may begin there. */
export async function receivedAt({ query, scope }: HistoryWorkspace, share: number): Promise<number> {
  const entries = ['log_entries', 'log_records'].map(
    (table) => `select log_index, received_at from ${table} where org_id = $1`,
  )
  const rows = await query<{ at: number }>(
    `select (extract(epoch from received_at) * 1000)::float8 as at from (${entries.join(' union all ')}) e order by log_index`,
    [scope.org_id],
  )
  return rows[Math.floor(rows.length * share)]?.at ?? begin
}

/** A period, ms since 1970, and the times by which its steps count. */
export interface CountedPeriod {
  readonly from: number
  readonly to: number
  readonly by: 'received' | 'occurred'
}

/** The plan of the report of a period; of the whole log unless one is given. */
export function planOf(
  { db, scope, clock }: HistoryWorkspace,
  from = begin,
  {
    to = clock(),
    by = 'received',
    ...others
  }: Partial<CountedPeriod & Pick<ReportRequest, 'format' | 'agent_ids'>> = {},
): Promise<ReportPlan> {
  const period = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  return withTransaction(db, scope, async (tx) => {
    const now = { time: clock(), size: await readLogSize(scope, tx) }
    return planRequest(scope, tx, now, { format: 'json', ...others, ...period, by })
  })
}

/** What reports of a workspace are made from. */
export function reportParts({ db, signer, log_host }: HistoryWorkspace): ReportParts {
  return { db, keysOf: (org_id) => signer.keysOf(log_host, org_id) }
}

/** The content of the report of a period; of the whole log unless one is given. */
export async function reportOf(
  workspace: HistoryWorkspace,
  from?: number,
  times?: Partial<CountedPeriod>,
): Promise<ReportData> {
  return collectReport(reportParts(workspace), workspace.scope, await planOf(workspace, from, times))
}
