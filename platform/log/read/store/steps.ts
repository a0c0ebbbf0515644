// The steps of a task with their violations, in arrival order.
import { stopsStep } from '@svc/engine/parts'
import { receivedAtOf, type StoredHead } from '@svc/proof'
import {
  isBlocked,
  isoTime,
  type LogEntry,
  type LoggedViolation,
  type StepViolation,
  stepTypesOf,
  type TaskStep,
  type TaskTimeline,
} from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import { type List, raw, read, rowsOf, total } from '../../../db/list.js'
import type { Scope } from '../../../db/scope.js'
import { readByIndex, utc } from '../../../db/sql.js'
import { invalid } from '../../../errors.js'
import { type CountedViolation, countedViolations } from '../../../incidents/store/occurrences.js'
import { readHead } from '../../../ledger/log.js'
import { violationsAt } from '../../../ledger/violations.js'
import { approvalAt, readApprovals } from './approvals.js'
import { readEntries } from './logs.js'
import { findTask } from './tasks.js'

export interface StepFilter {
  readonly violating?: string
  readonly kind?: string
  /** The number of a step, or the id of its entry: the first page is the one around it. */
  readonly around?: string
  /** `true`: with the approvals of each step. */
  readonly approvals?: string
}

/** Positions between a gate and a step that are compared. */
const maxApart = 200

/** The positions before and after a page; null without a further page. */
export interface Timeline extends Omit<TaskTimeline, 'next_cursor' | 'previous_cursor'> {
  readonly before: number | null
}

interface PageOfSteps {
  readonly limit: number
  /** The `seq` of the last step of the previous page. */
  readonly after: number | null
}

/** A page of the steps of a task; null for an unknown task. A task is unfinished as `findTask` has it. */
export async function readTimeline(
  scope: Scope,
  tx: Transaction,
  task_id: string,
  filter: StepFilter,
  page: PageOfSteps,
  overdue: string,
): Promise<Timeline | null> {
  await readByIndex(tx)
  // With the times, a bitmap of the log's blocks is preferred to the index of the task: for one of 10,000 steps it read 60,000 others.
  await tx.query('set local enable_bitmapscan = off')
  const head = await readHead(scope, tx, task_id)
  const task = await findTask(scope, tx, task_id, overdue)
  if (head === null || task === null) return null
  const steps = matching(scope, head, filter)
  const after = page.after ?? (await startOf(scope, tx, head, steps, filter, page.limit))
  const found = await read<FoundStep>(
    tx,
    columnsOf(steps).where('e.seq', '>', after).orderBy('e.seq').limit(page.limit),
  )
  const violating = await countViolating(scope, tx, task_id)
  const entries = await readEntries(scope, tx, found)
  const shown = await withViolations(scope, tx, task_id, entries)
  const approvals = filter.approvals === 'true' ? await readApprovals(scope, tx, entries, maxApart) : null
  const { first_received_at: first, last_received_at: last, last_log_index } = head
  return {
    task,
    received: { first, last, last_log_index },
    steps: shown.map((step) => ({ ...step, ...approvalAt(approvals, step.log_index) })),
    total: await countSteps(tx, head, steps, filter, violating),
    violating,
    before: after === 0 ? null : await positionBefore(tx, steps, after + 1, page.limit),
  }
}

interface FoundStep {
  readonly seq: number
  readonly log_index: number
  readonly received_at: string
}

function columnsOf(steps: List): List {
  return steps.clone().select(raw(`e.seq, e.log_index, ${utc('e.received_at')}`))
}

/** The times of the task exclude the partitions of other months. */
function matching(scope: Scope, head: StoredHead, { violating, kind }: StepFilter): List {
  const { task_id, first_received_at, last_received_at } = head
  const steps = rowsOf(scope, 'log_entries e')
    .where('e.task_id', task_id)
    .whereBetween('e.received_at', [first_received_at, last_received_at])
  if (kind === 'tool') steps.whereNotIn('e.step_type', noTools)
  if (kind === 'gate') steps.whereIn('e.step_type', gates)
  if (violating === 'true') steps.whereIn('e.seq', violatingSteps(scope, task_id))
  if (violating === 'false') steps.whereNotIn('e.seq', violatingSteps(scope, task_id))
  return steps
}

/** The life of a task, its models and its gates. */
const noTools = stepTypesOf(['task.start', 'task.end', 'task.error', 'task.idle', 'step.model', 'step.gate'])

const gates = stepTypesOf(['step.gate'])

function violatingSteps(scope: Scope, task_id: string): List {
  return rowsOf(scope, 'log_violations').where({ task_id }).select('seq')
}

function countViolating(scope: Scope, tx: Transaction, task_id: string): Promise<number> {
  return total(tx, rowsOf(scope, 'log_violations').where({ task_id }), 'count(distinct seq)')
}

async function countSteps(
  tx: Transaction,
  { seq }: StoredHead,
  steps: List,
  { violating, kind }: StepFilter,
  violatingCount: number,
): Promise<number> {
  if (kind !== undefined) return total(tx, steps)
  if (violating === undefined) return seq
  return violating === 'true' ? violatingCount : seq - violatingCount
}

/** The position that the first page begins after: 0, or half a page before the step that is asked for. */
async function startOf(
  scope: Scope,
  tx: Transaction,
  { task_id }: StoredHead,
  steps: List,
  { around }: StepFilter,
  limit: number,
): Promise<number> {
  if (around === undefined) return 0
  const seq = await positionOf(scope, tx, task_id, around)
  if (seq === null) throw invalid([{ path: 'around', message: noSuchStep }])
  return positionBefore(tx, steps, seq, Math.floor(limit / 2))
}

const noSuchStep = 'names a step that this task lacks: use the number of a step, or the `log_id` of one'

/** The first entry of a step number, or the entry with an id. */
async function positionOf({ org_id }: Scope, tx: Transaction, task_id: string, step: string): Promise<number | null> {
  const isNumber = /^\d{1,15}$/.test(step)
  const received_at = isNumber ? null : receivedAtOf(step)
  if (!isNumber && received_at === null) return null
  const [condition, values] =
    received_at === null ? ['step = $3', [step]] : ['log_id = $3 and received_at = $4', [step, isoTime(received_at)]]
  const [row] = await tx.query<{ seq: number }>(
    `select seq from log_entries where org_id = $1 and task_id = $2 and ${condition} order by seq limit 1`,
    [org_id, task_id, ...values],
  )
  return row?.seq ?? null
}

/** The position after which `count` matching steps come before the step at `seq`; 0 if there are no more. */
async function positionBefore(tx: Transaction, steps: List, seq: number, count: number): Promise<number> {
  const earlier = steps.clone().where('e.seq', '<', seq).orderBy('e.seq', 'desc').offset(count).limit(1)
  const [row] = await read<{ seq: number }>(tx, earlier.select('e.seq'))
  return row?.seq ?? 0
}

async function withViolations(
  scope: Scope,
  tx: Transaction,
  task_id: string,
  entries: readonly { readonly entry: LogEntry; readonly is_erased: boolean }[],
): Promise<TaskStep[]> {
  const entryAt = new Map(entries.map(({ entry }) => [entry.log_index, entry]))
  const violations = await violationsAt(scope, tx, [...entryAt.keys()])
  const places = violations.flatMap(({ log_index, violation: { policy_id } }) => {
    const entry = entryAt.get(log_index)
    return entry === undefined ? [] : [{ log_id: entry.log_id, step: entry.step, policy_id }]
  })
  const counted = new Map(
    (await countedViolations(scope, tx, task_id, places)).map((row) => [`${row.policy_id} ${row.log_id}`, row]),
  )
  return entries.map(({ entry, is_erased }) => {
    const own = violations.filter(({ log_index }) => log_index === entry.log_index)
    const found = own.map(({ violation }) => ofStep(violation, counted.get(`${violation.policy_id} ${entry.log_id}`)))
    return stepView(entry, is_erased, found)
  })
}

interface ViolationOfStep {
  readonly scope: CountedViolation['scope']
  readonly shown: LoggedViolation
}

/** A violation without an incident is waived, or its incident was deleted: then it counts as one of its step. */
function ofStep(violation: StepViolation, counted: CountedViolation | undefined): ViolationOfStep {
  const { incident_id = null, effect = null, scope = 'step_execution' } = counted ?? {}
  return { scope, shown: { ...violation, incident_id, effect } }
}

function stepView(entry: LogEntry, is_erased: boolean, violations: readonly ViolationOfStep[]): TaskStep {
  const { step_type, output } = entry
  const effect = isBlocked({ step_type, ...(output !== null && { output }) }) ? 'blocked' : 'executed'
  return {
    ...entry,
    is_erased,
    outcome: outcomeOf(violations),
    effect: is_erased ? null : effect,
    violations: violations.map(({ shown }) => shown),
  }
}

/** The outcome of the evaluation: policies that ask lift nothing while another one blocks. */
function outcomeOf(violations: readonly ViolationOfStep[]): TaskStep['outcome'] {
  const stopping = violations.filter(({ scope, shown }) => stopsStep({ severity: shown.severity, scope }, shown))
  if (stopping.some(({ shown }) => shown.asks !== true)) return 'block'
  if (stopping.length > 0) return 'ask'
  return violations.length > 0 ? 'warn' : 'allow'
}
