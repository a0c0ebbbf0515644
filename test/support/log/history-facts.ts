// What is true of a played history, counted from the tables and the payloads: another way than that of the report.
import { isMap } from '@svc/proof'
import { type CommittedResult, isBlocked, type JsonMap, parseTimestamp, type Step } from '@svc/schemas'
import type { HistoryWorkspace } from './history-platform.js'
import { begin, type CountedPeriod } from './honest-histories.js'

interface Row {
  readonly agent_id: string
  readonly step_type: string
  readonly timestamp: string
  readonly received: number
  readonly body: string | null
  readonly violations: readonly Violation[]
}

interface Violation {
  readonly name: string
  readonly severity: string
  readonly mode: string
  readonly waived: boolean
  readonly asks: boolean | null
}

interface Run {
  readonly agent_id: string
  readonly instance_id: string
  readonly from: number
  readonly to: number
  readonly ended: boolean
}

export interface OfPolicies {
  /** Ids of policies by name. */
  readonly applied: ReadonlySet<string>
  readonly open: ReadonlySet<string>
  readonly waived: ReadonlySet<string>
}

export interface HistoryFacts {
  readonly counts: Readonly<Record<string, number>>
  readonly policies: OfPolicies
}

/** Of the steps that the log still holds and that were received from a time on, or occurred in a period. */
export async function factsOf(
  workspace: HistoryWorkspace,
  from = begin,
  { to = workspace.clock(), by = 'received' }: Partial<CountedPeriod> = {},
): Promise<HistoryFacts> {
  const { query, scope } = workspace
  const period = { from, to, by }
  // A step may claim a time up to a day after its receipt.
  const read_from = by === 'received' ? from : from - 24 * 60 * 60_000
  const rows = await query<Row>(
    `select e.agent_id, e.step_type, e.timestamp, (extract(epoch from e.received_at) * 1000)::float8 as received, p.body,
       coalesce((select json_agg(json_build_object('name', v.name, 'severity', v.severity, 'mode', v.mode,
         'waived', v.waived, 'asks', v.asks)) from log_violations v
         where v.org_id = $1 and v.log_index = e.log_index), '[]'::json) as violations
     from log_entries e left join log_payloads p on p.org_id = $1 and p.log_index = e.log_index
     where e.org_id = $1 and e.received_at >= $2`,
    [scope.org_id, new Date(read_from)],
  )
  const runs = await query<Run>(
    `select agent_id, instance_id, (extract(epoch from min(seen_from)) * 1000)::float8 as from,
       (extract(epoch from max(last_seen_at)) * 1000)::float8 as to,
       (array_agg(ended order by last_seen_at desc, ended desc))[1] as ended
     from engine_intervals where org_id = $1 group by 1, 2`,
    [scope.org_id],
  )
  const incidents = await incidentsOf(workspace, period)
  const read = rows.map((row) => ({ ...row, ...payloadOf(row.body) }))
  const steps = by === 'received' ? read : read.filter((step) => isWithin(ownTime(step), period))
  const names = await policyNames(workspace)
  const open = incidents.filter(({ state }) => state === 'open' || state === 'active')
  const counted = countsOf(steps, period)
  const isSilent = (step: Known) => step.decided === false && isWithin(step.received, period) && hadStopped(step, runs)
  const opened = {
    incidents_opened: incidents.filter(({ is_earlier }) => !is_earlier).length,
    incidents_unanswered: incidents.filter(({ state }) => state === 'open').length,
    incidents_open: open.length,
    incidents_open_earlier: open.filter(({ is_earlier }) => is_earlier).length,
  }
  const applied = new Set(steps.flatMap(({ applied: ids }) => ids.map((id) => names.get(id) ?? '')))
  const waived = steps.flatMap(({ violations }) => violations.filter((one) => one.waived).map(({ name }) => name))
  return {
    counts: {
      ...counted,
      ...opened,
      steps_without_engine: read.filter(isSilent).length,
      erased_entries: await erasedEntries(workspace, read_from),
    },
    policies: { applied, open: new Set(open.map(({ policy_name }) => policy_name)), waived: new Set(waived) },
  }
}

type Known = Row & ReturnType<typeof payloadOf>
type Timed = Pick<Row, 'timestamp' | 'received'>

const ownTime = ({ timestamp, received }: Timed) => parseTimestamp(timestamp) ?? received
const isWithin = (time: number, { from, to }: CountedPeriod) => time >= from && time < to

/** Incidents by their receipt, or by the own time of the step that opened them; without those after the period. */
async function incidentsOf({ query, scope }: HistoryWorkspace, { from, to, by }: CountedPeriod) {
  const rows = await query<Timed & { state: string; policy_name: string }>(
    `select i.state, i.policy_name, (extract(epoch from r.received_at) * 1000)::float8 as received, coalesce((
         select e.timestamp from log_entries e where e.org_id = $1 and e.task_id = i.task_id and e.step = i.step
         and e.log_index < i.log_index order by e.seq desc limit 1), '') as timestamp
     from incidents i join log_records r on r.org_id = $1 and r.log_index = i.log_index where i.org_id = $1`,
    [scope.org_id],
  )
  const at = (row: Timed) => (by === 'received' ? row.received : ownTime(row))
  return rows.filter((row) => at(row) < to).map((row) => ({ ...row, is_earlier: at(row) < from }))
}

/** What the payload of a step says; null where it is erased. */
function payloadOf(body: string | null) {
  if (body === null) return { decided: null, blocked: null, given: 0, applied: [] as readonly number[] }
  const values = JSON.parse(body) as JsonMap & { readonly evaluation: readonly CommittedResult[] }
  const { meta, evaluation } = values
  const isDecided = isMap(meta) && Object.hasOwn(meta, 'svc.eval') && meta['svc.late'] !== true
  const own = isDecided || (isMap(meta) && Object.hasOwn(meta, 'svc.end'))
  const applied = evaluation.filter((one) => one.violated || one.applied === true || one.approved_by_step !== undefined)
  return {
    decided: own,
    blocked: isBlocked(values as unknown as Step),
    given: evaluation.filter((one) => one.approved_by_step !== undefined).length,
    applied: applied.map(({ policy_id }) => policy_id),
  }
}

function countsOf(steps: readonly Known[], period: CountedPeriod) {
  const count = (holds: (step: Known) => boolean) => steps.filter(holds).length
  const violations = steps.flatMap((step) => step.violations)
  const asks = (step: Known) => step.violations.filter((one) => one.asks === true).length
  const sum = (of: (step: Known) => number) => steps.reduce((total, step) => total + of(step), 0)
  const given = sum((step) => step.given)
  return {
    steps: steps.length,
    decided_steps: count(({ decided }) => decided === true),
    undecided_steps: count(({ decided }) => decided === false),
    erased_steps: count(({ body }) => body === null),
    steps_outside: period.by === 'received' ? count((step) => !isWithin(ownTime(step), period)) : 0,
    steps_received_outside: period.by === 'occurred' ? count(({ received }) => !isWithin(received, period)) : 0,
    steps_in_violation: count((step) => step.violations.some(({ mode, waived }) => !waived && mode !== 'observe')),
    critical_steps: count((step) => step.blocked !== true && step.violations.some(isCritical)),
    enforced: violations.filter(({ mode, waived }) => !waived && mode !== 'observe').length,
    observed: violations.filter(({ mode, waived }) => !waived && mode === 'observe').length,
    waived: violations.filter(({ waived }) => waived).length,
    gates_erased: count(({ body, step_type }) => body === null && step_type === 'step.gate'),
    approvals_asked: given + sum(asks),
    approvals_missing: sum((step) => (step.blocked === false ? asks(step) : 0)),
    approvals_erased: sum((step) => (step.body === null ? asks(step) : 0)),
    approvals_given: given,
    approvals_blocked: sum((step) => (step.blocked === true ? asks(step) : 0)),
  }
}

const isCritical = ({ severity, mode, waived }: Violation) => severity === 'critical' && mode === 'enforce' && !waived

/** Clocks of engines differ by at most so much: a run may have begun earlier than it is known from. */
const maxSkewMs = 5 * 60_000

/** Every engine of the agent that had reported had stopped in order, and no other began soon after. */
function hadStopped({ agent_id, received }: Known, runs: readonly Run[]): boolean {
  const own = runs.filter((run) => run.agent_id === agent_id)
  const before = own.filter(({ from }) => from <= received)
  const isBeginning = own.some(({ from }) => from > received && from - received <= maxSkewMs)
  return before.length > 0 && !isBeginning && before.every(({ ended, to }) => ended && to < received)
}

async function policyNames({ query, scope }: HistoryWorkspace): Promise<Map<number, string>> {
  const sets = await query<{ body: string }>('select body from policy_sets where org_id = $1', [scope.org_id])
  const policies = sets.flatMap(({ body }) => JSON.parse(body) as { id: number; name: string }[])
  return new Map(policies.map(({ id, name }) => [id, name]))
}

async function erasedEntries({ query, scope }: HistoryWorkspace, from: number): Promise<number> {
  const [row] = await query<{ count: number }>(
    `select (select count(*) from log_entries e left join log_payloads p on p.org_id = $1 and p.log_index = e.log_index
         where e.org_id = $1 and e.received_at >= $2 and p.body is null)::int
       + (select count(*) from log_records where org_id = $1 and received_at >= $2 and body is null)::int as count`,
    [scope.org_id, new Date(from)],
  )
  return row?.count ?? 0
}
