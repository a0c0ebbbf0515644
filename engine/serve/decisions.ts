// Decisions whose steps are not recorded yet: what was allowed may have happened without a record, and what was blocked may
// have happened all the same (docs/adr/0051-decisions-and-metadata.md).
import { isoTime, type Step } from '@svc/schemas'
import type { UnrecordedLine } from '../trace/sink.js'
import type { DecisionFile } from './decision-file.js'
import type { LocalEvaluation } from './local-evaluation.js'
import { decisionOn, keyOf, type OpenDecision } from './open-decision.js'
import { unrecordedText } from './unrecorded-text.js'

export interface Decisions {
  /** Waits for the step of a decision. An earlier decision on the same action in the same task is replaced. */
  readonly add: (step: Step, evaluation: LocalEvaluation) => void
  /** The step was recorded: settles the decision that it names, and the one on its action. */
  readonly settle: (task_id: string, evaluation_id: unknown, action_digest: string) => void
  /** The caller gave the step up; false for a decision that does not wait. */
  readonly release: (evaluation_id: string) => boolean
  /** Writes the decisions whose time is over. */
  readonly check: () => void
  /** Keeps the decisions that have waited for a while on disk. */
  readonly save: () => void
  readonly counts: () => { readonly open: number; readonly unrecorded: number }
  readonly close: () => void
}

export interface DecisionsParts {
  /** How long a step may take, ms; null watches nothing. */
  readonly timeout: number | null
  readonly clock: () => number
  readonly write: (line: UnrecordedLine) => void
  readonly notify: (line: string) => void
  /** Null where nothing outlives the process. */
  readonly file: DecisionFile | null
}

/** Decisions that wait at most; beyond them the one that has waited longest counts as unrecorded. */
export const maxOpen = 10_000
/** Most steps are recorded before this, and never reach the disk. ms */
const youngMs = 500

export function createDecisions(parts: DecisionsParts): Decisions {
  return parts.timeout === null ? watchingNothing : watching({ ...parts, timeout: parts.timeout })
}

const watchingNothing: Decisions = {
  add: () => undefined,
  settle: () => undefined,
  release: () => false,
  check: () => undefined,
  save: () => undefined,
  counts: () => ({ open: 0, unrecorded: 0 }),
  close: () => undefined,
}

function watching({ timeout, clock, write, notify, file }: DecisionsParts & { readonly timeout: number }): Decisions {
  const table = openTable(file)
  let unrecorded = 0

  const writeUnrecorded = (key: string, decision: OpenDecision) => {
    const now = clock()
    const { at, ...members } = decision
    write({ kind: 'unrecorded', recorded_at: isoTime(now), ...members, decided_at: isoTime(at) })
    notify(unrecordedText(decision, now))
    unrecorded += 1
    table.end(key)
  }
  return {
    add: (step, evaluation) => {
      const decision = decisionOn(step, evaluation, clock())
      if (decision === null) return
      table.keep(decision)
      const [oldest] = table.open
      if (table.open.size > maxOpen && oldest !== undefined) writeUnrecorded(...oldest)
    },
    settle: (task_id, evaluation_id, action_digest) => {
      const named = typeof evaluation_id === 'string' ? table.keys.get(evaluation_id) : undefined
      if (named !== undefined && table.open.get(named)?.task_id === task_id) table.end(named)
      table.end(keyOf({ task_id, action_digest }))
    },
    release: (evaluation_id) => {
      const key = table.keys.get(evaluation_id)
      if (key !== undefined) table.end(key)
      return key !== undefined
    },
    check: () => {
      const last = clock() - timeout
      for (const [key, decision] of table.open) {
        if (decision.at > last) break
        writeUnrecorded(key, decision)
      }
    },
    save: () => file?.add(takeWhile(table.open, ({ at }) => at <= clock() - youngMs)),
    counts: () => ({ open: table.open.size, unrecorded }),
    close: () => file?.close(table.open),
  }
}

function openTable(file: DecisionFile | null) {
  /** By task and action; the one that has waited longest is first. */
  const open = new Map<string, OpenDecision>()
  /** By evaluation. */
  const keys = new Map<string, string>()
  const forget = (key: string) => {
    const decision = open.get(key)
    if (decision === undefined) return
    open.delete(key)
    keys.delete(decision.evaluation_id)
  }
  const keep = (decision: OpenDecision) => {
    const key = keyOf(decision)
    forget(key)
    open.set(key, decision)
    keys.set(decision.evaluation_id, key)
  }
  for (const decision of file?.read() ?? []) keep(decision)
  return {
    open: open as ReadonlyMap<string, OpenDecision>,
    keys: keys as ReadonlyMap<string, string>,
    keep,
    /** INVARIANT (recorded before forgotten): the disk forgets a decision only after its step or its line was written. */
    end: (key: string) => {
      forget(key)
      file?.remove(key)
    },
  }
}

function takeWhile(open: ReadonlyMap<string, OpenDecision>, is_old: (decision: OpenDecision) => boolean) {
  const old = new Map<string, OpenDecision>()
  for (const [key, decision] of open) {
    if (!is_old(decision)) break
    old.set(key, decision)
  }
  return old
}
