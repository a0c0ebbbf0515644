// Decisions whose steps are not recorded yet: what was allowed may have happened without a record, and what was blocked may
// have happened anyway (docs/adr/0051-decisions-and-metadata.md).
import { isoTime, type Step } from '@svc/schemas'
import type { UnrecordedLine } from '../../trace/sinks/sink.js'
import type { DecisionFile } from './file.js'
import type { LocalEvaluation } from './local-evaluation.js'
import { answered, decisionOn, keyOf, type OpenDecision, type WaitingDecision } from './open-decision.js'
import { othersText, unrecordedText } from './operator-lines.js'

export interface Decisions {
  /** Waits for the step of a decision. An earlier decision on the same action in the same task is replaced. */
  readonly add: (step: Step, evaluation: LocalEvaluation) => void
  /** True if the decision that a step names, or one on its action, waits. */
  readonly waits: (task_id: string, evaluation_id: unknown, action_digest: string) => boolean
  /** The step was recorded: settles these decisions. */
  readonly settle: (task_id: string, evaluation_id: unknown, action_digest: string) => void
  /** The caller gave the step up; null for a decision that does not wait. */
  readonly release: (evaluation_id: string) => OpenDecision | null
  /** A gate may answer a question: from then on its step is awaited as others are. */
  readonly answer: (task_id: string, gate: Step) => void
  /** Questions of the task are not awaited any more. */
  readonly endTask: (task_id: string) => void
  /** Writes the decisions whose time is over. */
  readonly check: () => void
  /** Keeps decisions that have waited for a while on disk; true when there are more of them. */
  readonly save: () => boolean
  readonly counts: () => { readonly open: number; readonly unrecorded: number }
  readonly close: () => void
}

export interface DecisionsParts {
  /** The longest time that a step may take, ms; Infinity reports none. */
  readonly timeout: number
  /** The same for the answer to a question. */
  readonly ask_timeout: number
  /** ms since 1970, for what is written. */
  readonly clock: () => number
  /** ms on a clock that never jumps, for how long a decision has waited. */
  readonly elapsed: () => number
  readonly write: (line: UnrecordedLine) => void
  readonly notify: (line: string) => void
  /** Null where nothing outlives the process. */
  readonly file: DecisionFile | null
}

/** Decisions that wait at most; beyond them the one that has waited longest counts as unrecorded. */
export const maxOpen = 10_000
/**
 * Lines between two checks for those, and lines for the operator: a caller that records nothing must not fill the trace.
 * The last line says how many others there were.
 */
const maxCrowdedOut = 50
const maxNotes = 20
/** Written at once, which takes about a millisecond. */
const maxSaved = 250
/** Most steps are recorded before this, and never reach the disk. ms */
const youngMs = 500

export function createDecisions({ timeout, ask_timeout, file, ...parts }: DecisionsParts): Decisions {
  const { clock, elapsed } = parts
  const table = openTable(file, parts)
  const crowd = createCrowd()
  const { writeLine, noteOthers } = createWriter(parts)
  let unrecorded = 0

  const timeoutOf = ({ outcome }: WaitingDecision) => (outcome === 'ask' ? ask_timeout : timeout)
  const expire = (key: string, decision: WaitingDecision, has_line: boolean) => {
    if (has_line) writeLine(decision, 0)
    unrecorded += 1
    table.end(key, false)
  }
  const endCrowd = () => {
    const { last, others } = crowd.take()
    if (last !== null) writeLine(last, others)
    noteOthers(others)
  }
  return {
    add: (step, evaluation) => {
      const decision = decisionOn(step, evaluation, clock())
      if (decision === null) return
      table.keep({ ...decision, since: elapsed() })
      if (table.open.size <= maxOpen) return
      const [key, oldest] = oldestIn(table.open)
      if (timeoutOf(oldest) === Number.POSITIVE_INFINITY) table.end(key, false)
      else expire(key, oldest, crowd.hasLine(oldest))
    },
    waits: (task_id, evaluation_id, action_digest) =>
      table.named(task_id, evaluation_id) !== undefined || table.open.has(keyOf({ task_id, action_digest })),
    settle: (task_id, evaluation_id, action_digest) => {
      const named = table.named(task_id, evaluation_id)
      if (named !== undefined) table.end(named)
      table.end(keyOf({ task_id, action_digest }))
    },
    release: (evaluation_id) => {
      const key = table.keys.get(evaluation_id)
      const decision = key === undefined ? undefined : table.open.get(key)
      if (key !== undefined) table.end(key)
      return decision ?? null
    },
    ...questionsIn(table, elapsed),
    check: () => {
      const now = elapsed()
      for (const [key, decision] of table.open) {
        if (decision.since > now - Math.min(timeout, ask_timeout)) break
        if (decision.since <= now - timeoutOf(decision)) expire(key, decision, true)
      }
      endCrowd()
    },
    save: () => table.save(elapsed() - youngMs),
    counts: () => ({ open: table.open.size, unrecorded }),
    close: () => {
      endCrowd()
      table.close()
    },
  }
}

function questionsIn(table: DecisionTable, elapsed: () => number): Pick<Decisions, 'answer' | 'endTask'> {
  const of = (task_id: string) =>
    [...table.open.values()].filter((decision) => decision.outcome === 'ask' && decision.task_id === task_id)
  return {
    answer: (task_id, gate) => {
      for (const question of of(task_id)) {
        const after = answered(question, gate)
        if (after !== null) table.keep({ ...after, since: elapsed() })
      }
    },
    endTask: (task_id) => {
      for (const question of of(task_id)) table.end(keyOf(question))
    },
  }
}

/** The decision that has waited longest. A question may wait for days, and gives way last. */
function oldestIn(open: ReadonlyMap<string, WaitingDecision>): readonly [string, WaitingDecision] {
  let first: readonly [string, WaitingDecision] | undefined
  for (const entry of open) {
    if (entry[1].outcome !== 'ask') return entry
    first ??= entry
  }
  if (first === undefined) throw new Error('no decision waits')
  return first
}

/** Writes lines to the trace, and up to `maxNotes` of them for the operator until the others are noted. */
function createWriter({ clock, elapsed, write, notify }: Omit<DecisionsParts, 'timeout' | 'ask_timeout' | 'file'>) {
  let notes = 0
  return {
    writeLine: (decision: WaitingDecision, others: number) => {
      const now = clock()
      const { at, since, found: _found, gates: _gates, ...members } = decision
      const decided_at = isoTime(at)
      write({ kind: 'unrecorded', recorded_at: isoTime(now), ...members, decided_at, ...(others > 0 && { others }) })
      if (notes < maxNotes) notify(unrecordedText(decision, elapsed() - since))
      notes += 1
    },
    noteOthers: (others: number) => {
      const count = others + Math.max(0, notes - maxNotes)
      if (count > 0) notify(othersText(count))
      notes = 0
    },
  }
}

/** Decisions that gave way to newer ones since the last check, when they were too many for a line each. */
function createCrowd() {
  /** One count for steps that may have happened, one for those that were not to happen: neither hides the other. */
  const lines = { allowed: 0, others: 0 }
  let last: WaitingDecision | null = null
  let count = 0
  return {
    hasLine: (decision: WaitingDecision) => {
      const kind = decision.outcome === 'allow' ? 'allowed' : 'others'
      lines[kind] += 1
      if (lines[kind] <= maxCrowdedOut) return true
      last = decision
      count += 1
      return false
    },
    take: () => {
      const taken = { last, others: Math.max(0, count - 1) }
      Object.assign(lines, { allowed: 0, others: 0 })
      last = null
      count = 0
      return taken
    },
  }
}

type DecisionTable = ReturnType<typeof openTable>

function openTable(file: DecisionFile | null, { clock, elapsed }: Pick<DecisionsParts, 'clock' | 'elapsed'>) {
  /** By task and action; the one that has waited longest is first. */
  const open = new Map<string, WaitingDecision>()
  /** By evaluation. */
  const keys = new Map<string, string>()
  /** Those that are not on disk, in the same order. */
  const unsaved = new Map<string, WaitingDecision>()
  const forget = (key: string) => {
    const decision = open.get(key)
    if (decision === undefined) return
    open.delete(key)
    unsaved.delete(key)
    keys.delete(decision.evaluation_id)
  }
  const keep = (decision: WaitingDecision) => {
    const key = keyOf(decision)
    forget(key)
    open.set(key, decision)
    keys.set(decision.evaluation_id, key)
    if (file !== null) unsaved.set(key, decision)
  }
  for (const decision of file?.read() ?? [])
    keep({ ...decision, since: elapsed() - Math.max(0, clock() - decision.at) })
  unsaved.clear()
  return {
    open: open as ReadonlyMap<string, WaitingDecision>,
    keys: keys as ReadonlyMap<string, string>,
    keep,
    /** The key of an evaluation of the task; undefined for an unknown one. */
    named: (task_id: string, evaluation_id: unknown) => {
      const key = typeof evaluation_id === 'string' ? keys.get(evaluation_id) : undefined
      return key !== undefined && open.get(key)?.task_id === task_id ? key : undefined
    },
    /**
     * INVARIANT (recorded before forgotten): the disk forgets a decision only after its step or its line was written; at once,
     * or with what is saved next.
     */
    end: (key: string, at_once = true) => {
      forget(key)
      file?.remove(key, at_once)
    },
    /** Writes those from before a time on the clock that never jumps. */
    save: (before: number) => {
      const old = new Map<string, WaitingDecision>()
      for (const [key, decision] of unsaved) {
        if (decision.since > before || old.size === maxSaved) break
        old.set(key, decision)
      }
      for (const key of old.keys()) unsaved.delete(key)
      const more = old.size === maxSaved
      file?.add(old, more)
      return more
    },
    close: () => {
      unsaved.clear()
      file?.close(open)
    },
  }
}
