// A running task under one policy set: its history, numbers and time, and the decisions whose steps are not recorded yet. One id
// has one history at every door, and an end does one thing: it voids what allows and keeps what forbids (docs/design/engine.md §5).
import { canonicalType, type JsonMap, parseTimestamp, type Step } from '@svc/schemas'
import type { PolicySet } from '../policy/compile.js'
import { type Decision, evaluate, type PassCounts } from '../policy/evaluate.js'
import { type Explanation, explain } from '../policy/explain.js'
import {
  carryOver,
  copyHistory,
  newDeferredHistory,
  newHistory,
  occasionIn,
  record,
  wordsIn,
} from '../policy/history.js'
import { isEnd, type Occasion } from '../policy/plan.js'
import type { History, RuleContext } from '../rules/form/rule.js'
import { narrowToolsToFacts } from '../rules/selection/task-tools.js'
import type { OthersLabel } from '../rules/taint/labels.js'
import { isWhole, type PastSteps } from './past-steps.js'
import { type Awaited, Waiting } from './waiting.js'

/** The options of an evaluation; each has a default. */
export interface Evaluating {
  /** The time of the evaluation, ms since 1970; default: when the step counts as having occurred. */
  readonly now?: number
  /** The step is recorded, not intended. */
  readonly happened?: boolean
  /** Default: of the step, or the registration without one. */
  readonly occasion?: Occasion | undefined
  /** A part of the set of the task, which indexes histories as the whole does. */
  readonly set?: PolicySet
  /** Counts the policies that applied and passed, by id. */
  readonly passed?: PassCounts
  /** Readings that two evaluations of one step share. */
  readonly readings?: unknown[]
}

export interface RecordedDecision {
  readonly decision: Decision
  /** The policies that applied and whose rules passed. */
  readonly passed: Readonly<PassCounts>
  /** The time when the step counts as having occurred, ms since 1970: the time of the evaluation. */
  readonly at: number
}

/** The time of a first step without one: Monday 2026-01-05T09:00:00Z. */
const begin = Date.UTC(2026, 0, 5, 9)

export class Task<D extends Awaited = Awaited> {
  #set: PolicySet
  #history: History
  #is_lost: boolean
  #last_step = 0
  #last_at: number | null = null
  #length = 0
  #waiting: Waiting<D> | null = null

  /** `is_lost`: earlier steps of the task are not known. */
  constructor(set: PolicySet, is_lost = false, history = newHistory(set, !is_lost)) {
    this.#set = set
    this.#history = history
    this.#is_lost = is_lost
  }

  /** A task that is replayed: costly indexes are made when a rule first reads them. It cannot be copied or change its set. */
  static deferred(set: PolicySet): Task {
    return new Task(set, false, newDeferredHistory(set))
  }

  /** A task with these steps, at the times of their timestamps. */
  static of(set: PolicySet, steps: Iterable<Step>): Task {
    const task = new Task(set)
    for (const step of steps) task.add(step)
    return task
  }

  /** The policies that its history is indexed for. */
  get set(): PolicySet {
    return this.#set
  }

  /** Earlier steps may be missing. */
  get is_lost(): boolean {
    return this.#is_lost
  }

  /** The largest number of its steps; 0 before the first. */
  get last_step(): number {
    return this.#last_step
  }

  /** The time when its last step counts as having occurred, ms since 1970; null before the first. */
  get last_at(): number | null {
    return this.#last_at
  }

  /** Steps that were added, blocked ones included. */
  get length(): number {
    return this.#length
  }

  /** A task.end was added, and since then nothing but ends. */
  get finished(): boolean {
    return this.#history.finished
  }

  /** The tools that the task declares; null when it declares none. */
  get tools(): readonly unknown[] | null {
    return this.#history.tools
  }

  /** The least trusted content of others that the task has received: content that is not known counts as public. */
  get received(): OthersLabel | null {
    return this.#history.others ?? (this.#is_lost ? 'public' : null)
  }

  /** The number of the task.end that its steps lack; null for a task without steps, and for one that is finished. */
  get missing_end(): number | null {
    return this.finished || this.#last_step === 0 ? null : this.#last_step + 1
  }

  /** Decisions whose steps are not recorded yet. */
  get waiting(): Waiting<D> {
    this.#waiting ??= new Waiting()
    return this.#waiting
  }

  /** The time when a step after these counts as having occurred, ms since 1970: never before its predecessor. */
  timeOf({ timestamp }: Pick<Step, 'timestamp'>): number {
    const own = timestamp === undefined ? null : parseTimestamp(timestamp)
    const last = this.#last_at
    if (last === null) return own ?? begin
    return own === null ? last + 1000 : Math.max(own, last)
  }

  /** The decision on a step after these, or on the registration of the agent. `facts`: the agent. Changes nothing. */
  evaluate(step: Step | null, facts: JsonMap, how: Evaluating = {}): Decision {
    return evaluate(how.set ?? this.#set, ...this.#context(step, facts, how), how.passed)
  }

  /** The same with the answer of every policy. */
  explain(step: Step | null, facts: JsonMap, how: Evaluating = {}): Explanation {
    return explain(how.set ?? this.#set, ...this.#context(step, facts, how))
  }

  /** The decision on a step as it enters the log; the step carries the labels of what it read. */
  evaluateRecorded(step: Step, facts: JsonMap): RecordedDecision {
    const passed: PassCounts = {}
    const at = this.timeOf(step)
    return { decision: this.evaluate(step, facts, { now: at, happened: true, passed }), passed, at }
  }

  /**
   * The steps of the gates that approve a step that was evaluated so, by policy: of the policies with an approval that the step
   * does not violate, also where the gate satisfies the rule itself. Call it before the step is added.
   */
  approvingGates(step: Step, facts: JsonMap, { decision, at }: RecordedDecision): ReadonlyMap<number, number> {
    const gates = new Map<number, number>()
    const [occasion, context] = this.#context(step, facts, { now: at, happened: true })
    for (const { policy, approval } of this.#set.plans[occasion].applicable(step)) {
      const gate = approval?.gateOf(context) ?? null
      // Few tasks have a gate with a digest: only these pay for the look-up.
      if (gate !== null && !decision.violations.some(({ policy_id }) => policy_id === policy.id))
        gates.set(policy.id, gate)
    }
    return gates
  }

  #context(step: Step | null, facts: JsonMap, how: Evaluating): [Occasion, RuleContext] {
    const { now = this.timeOf(step ?? {}), happened = false, readings = [] } = how
    const history = this.#waiting?.expected(this.#set, this.#history, now) ?? this.#history
    const occasion = how.occasion ?? (step === null ? 'registration' : occasionIn(this.#history, step))
    return [occasion, { step, agent: facts, context: facts, history, now, happened, readings }]
  }

  /**
   * Adds a step that happened at `at`. A blocked step satisfies no rule and is not counted. An end voids the gates, the approvals
   * and the decisions that allowed a step; everything else stays.
   */
  add(step: Step, at: number = this.timeOf(step)): void {
    record(this.#set, this.#history, step, at)
    this.#last_at = at
    this.#length += 1
    this.#last_step = Math.max(this.#last_step, step.step ?? this.#last_step + 1)
    if (isEnd(step)) this.#waiting?.voidAllowed()
  }

  /** Limits the tools of the task to those that its agent declares now. */
  limitTools(facts: JsonMap): void {
    narrowToolsToFacts(this.#history, facts)
  }

  /**
   * Takes the number that the first step states: a larger one shows that others are missing. `waiting`: steps of other decisions,
   * which may be recorded later than they happened.
   */
  noteFirst(stated = 1, waiting = 0): void {
    if (this.#last_step > 0 || stated - 1 <= waiting) return
    this.loseSteps(stated - 1)
  }

  /** The task has steps up to this number that are not known. INVARIANT: a number is used once. */
  loseSteps(last_step: number): void {
    const { tools } = this.#history
    this.#history = { ...newHistory(this.#set, false), tools }
    this.#is_lost = true
    this.#last_step = last_step
  }

  /** True if the present index holds what an index for another set needs. */
  carries(set: PolicySet): boolean {
    return carryOver(this.#set, this.#history, set).complete
  }

  /** Indexes the history for another set. What the present index lacks comes from the earlier steps; else the task is lost. */
  carryTo(set: PolicySet, past: PastSteps | null): void {
    const { history, complete } = carryOver(this.#set, this.#history, set)
    const isThere = complete || (past !== null && isWhole(past, this.#last_step))
    // An evaluation may have limited the tools since the last recorded step.
    this.#history = complete || !isThere || past === null ? history : { ...historyOf(set, past), tools: history.tools }
    this.#is_lost ||= !isThere
    this.#set = set
  }

  /** Takes the earlier steps of a task that is read back. What allows is not kept of a history that lacks steps. */
  resume(past: PastSteps, last_step: number): void {
    const is_whole = isWhole(past, last_step)
    this.#is_lost = !is_whole
    this.#history = historyOf(this.#set, { ...past, is_whole })
    this.#length = past.steps.length
    this.#last_step = past.steps.reduce((last, { step }) => Math.max(last, step.step ?? 0), last_step)
  }

  /** A copy that changes independently, without the decisions that wait. */
  copy(): Task<D> {
    const copied = new Task<D>(this.#set, this.#is_lost, copyHistory(this.#set, this.#history))
    copied.#last_step = this.#last_step
    copied.#last_at = this.#last_at
    copied.#length = this.#length
    return copied
  }

  /** Words that its indexes hold: nearly all of its memory. */
  get words(): number {
    return wordsIn(this.#set, this.#history)
  }
}

/** A gate of a history that lacks steps may have been withdrawn or used since. */
function historyOf(set: PolicySet, { steps, is_whole }: PastSteps): History {
  const history = newHistory(set, is_whole)
  const kept = is_whole ? steps : steps.filter(({ step }) => canonicalType(step.step_type) !== 'step.gate')
  for (const { step, at } of kept) record(set, history, step, at)
  return history
}
