// The tasks of a replay, told apart by id and run. Only running tasks keep a history, and only so many of them.
import type { JsonMap } from '@svc/schemas'
import { type RunState, startsRun } from '../policy/runs.js'
import type { History } from '../rules/rule.js'
import type { View } from './replay-sets.js'

/** What one policy set said about a task so far. */
export interface Marks {
  blocked: boolean
  asked: boolean
  warned: boolean
}

/** One run of a task id. */
export interface Run {
  readonly task_id: string
  /** Number of the run of the task id, from 1. */
  readonly run: number
  /** The file with the first step, and the number of the run in it. */
  readonly source: string
  readonly run_in_source: number
  /** The same of the last step: a run can go on in another file. */
  last_source: string
  run_in_last: number
  state: RunState
  /** Null before the first step, and when it is not in memory any more. */
  history: History | null
  /** Steps so far. */
  length: number
  /** Time of the last step, ms since 1970. */
  now: number | null
  agent: JsonMap | null
  view: View
  history_lost: boolean
  readonly after: Marks
  readonly before: Marks
  flipped: boolean
  /** Ids of policies that the task violated. */
  violated: Set<number> | null
}

export interface RunBounds {
  /** Running tasks with a history in memory. */
  readonly max_running: number
  /** Ended tasks whose history is kept for a late task.error or task.end. */
  readonly max_ended: number
  /** Other tasks whose id and number of runs are remembered. */
  readonly max_past: number
}

export interface Runs {
  /** The run that a step of this type belongs to. */
  readonly open: (task_id: string, step_type: string, source: string) => Run
  /** The latest run of the id; null for an unknown id. */
  readonly find: (task_id: string) => Run | null
  /** Called after each step and each end, with the new state of the run. */
  readonly settle: (run: Run) => void
  readonly running: () => number
  /** Running tasks whose history was dropped to make room. */
  readonly evicted: () => number
}

interface Table extends RunBounds {
  readonly begin: (task_id: string, source: string, known: Run | null) => Run
  /** The least recently used run is first in each. */
  readonly running: Map<string, Run>
  readonly ended: Map<string, Run>
  readonly past: Map<string, Run>
  /** The run of the last step: consecutive steps are often of one task. */
  last: Run | null
  evicted: number
}

export function createRuns(bounds: RunBounds, begin: Table['begin']): Runs {
  const table: Table = {
    ...bounds,
    begin,
    running: new Map(),
    ended: new Map(),
    past: new Map(),
    last: null,
    evicted: 0,
  }
  return {
    open: (task_id, step_type, source) => open(table, task_id, step_type, source),
    find: (task_id) => find(table, task_id),
    settle: (run) => settle(table, run),
    running: () => table.running.size,
    evicted: () => table.evicted,
  }
}

function find({ last, running, ended, past }: Table, task_id: string): Run | null {
  if (last?.task_id === task_id) return last
  return running.get(task_id) ?? ended.get(task_id) ?? past.get(task_id) ?? null
}

function open(table: Table, task_id: string, step_type: string, source: string): Run {
  const known = find(table, task_id)
  if (known !== null && known === table.last && known.state === 'running') return known
  const run = known !== null && !startsRun(known.state, step_type) ? known : table.begin(task_id, source, known)
  table.last = run
  table.ended.delete(task_id)
  table.past.delete(task_id)
  // The least recently used run stays first.
  table.running.delete(task_id)
  table.running.set(task_id, run)
  if (table.running.size > table.max_running) evictFirst(table)
  return run
}

function settle(table: Table, run: Run): void {
  if (run.state === 'running') return
  const { task_id } = run
  table.running.delete(task_id)
  if (table.last === run) table.last = null
  if (run.state === 'none') {
    table.ended.delete(task_id)
    forget(table, run)
    return
  }
  table.ended.delete(task_id)
  table.ended.set(task_id, run)
  if (table.ended.size <= table.max_ended) return
  const [oldest] = table.ended.values()
  if (oldest === undefined) return
  table.ended.delete(oldest.task_id)
  forget(table, oldest)
}

function evictFirst(table: Table): void {
  const [oldest] = table.running.values()
  if (oldest === undefined) return
  table.running.delete(oldest.task_id)
  table.evicted += 1
  forget(table, oldest)
}

/** Drops the history of the run, and remembers that its id was used. */
function forget({ past, max_past }: Table, run: Run): void {
  run.history = null
  // A running task that goes on keeps its policies.
  if (run.state !== 'running') run.agent = null
  past.delete(run.task_id)
  past.set(run.task_id, run)
  if (past.size <= max_past) return
  const [oldest] = past.keys()
  if (oldest !== undefined) past.delete(oldest)
}

/** A run that follows the run `known` of its id. */
export function newRun(task_id: string, source: string, known: Run | null, agent: JsonMap | null, view: View): Run {
  const run_in_source = known?.last_source === source ? known.run_in_last + 1 : 1
  return {
    task_id,
    run: (known?.run ?? 0) + 1,
    source,
    run_in_source,
    last_source: source,
    run_in_last: run_in_source,
    state: 'none',
    history: null,
    length: 0,
    now: null,
    agent,
    view,
    history_lost: false,
    after: { blocked: false, asked: false, warned: false },
    before: { blocked: false, asked: false, warned: false },
    flipped: false,
    violated: null,
  }
}
