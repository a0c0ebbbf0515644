// Evaluates the steps of a verified bundle again, in the order of the log, and compares each verdict with the recorded one
// (docs/design/reports.md §4). Memory: the histories of the tasks that have later steps in the bundle.
import { agentFactsIn } from '@svc/proof'
import { isBlocked, type JsonMap, type LeafRecord, type LogRecord, type RejudgeVerdict, versionOf } from '@svc/schemas'
import { withMemoryLabels } from '../memory/labels.js'
import { isOfMemory, type MemoryUse } from '../memory/use.js'
import { committedResults, type LoggedStep, stepOfRecord } from '../task/logged.js'
import { type Difference, differences } from './compare.js'
import { Memories, useOf } from './memories.js'
import { type ReadPolicySet, readPolicySet } from './policy-set.js'
import { maxSetsOfTask, type Survey } from './survey.js'
import { addStep, dropFinished, giveUp, type OpenTask, openTask, type RejudgeReason, receivedIn } from './task.js'

/** An entry of the bundle; `record` is null when it was deleted, `values` when its payload was. */
export interface RejudgedEntry {
  readonly log_index: number
  readonly record: LogRecord | LeafRecord | null
  readonly values: JsonMap | null
}

export interface RejudgeParts {
  /** Of all records of the period. */
  readonly survey: Survey
  /** The text of a policy set of the bundle; null for an unknown digest. */
  readonly bodyOf: (digest: string) => string | null
  /** Log index of the first entry of the period. */
  readonly first: number
}

type Mismatch = RejudgeVerdict['mismatches'][number]

const limits = { mismatches: 100, histories: 50_000, sets: 500 }

/** Events after which the facts of an agent are those that they hold. */
const factEvents = ['agent.registered', 'agent.updated', 'agent.risk_confirmed']

export class Rejudge {
  readonly #parts: RejudgeParts
  readonly #tasks = new Map<string, OpenTask>()
  readonly #facts = new Map<string, JsonMap>()
  readonly #sets = new Map<string, ReadPolicySet | null>()
  readonly #memories: Memories
  readonly #others = new Map<RejudgeReason, number>()
  readonly #mismatches: Mismatch[] = []
  #moreMismatches = 0
  #histories = 0
  #steps = 0
  #evaluated = 0

  constructor(parts: RejudgeParts) {
    this.#parts = parts
    this.#memories = new Memories(parts.first === 0)
  }

  /** Takes a proven entry from outside the period, before the entries of the period and in the order of the log. */
  addEarlier({ log_index, record, values }: RejudgedEntry): void {
    if (log_index < this.#parts.first && record !== null && values !== null) this.#takeFacts(record, values, log_index)
  }

  /** Takes the next entry of the period. */
  add(entry: RejudgedEntry): void {
    const { log_index, record, values } = entry
    if (record === null) {
      this.#steps += 1
      this.#count('record_pruned')
      this.#memories.forgetAll()
    } else if (record.type === 'step') this.#addStep(log_index, record, values)
    else if (values !== null) this.#takeFacts(record, values, log_index)
  }

  finish(): RejudgeVerdict {
    return {
      equal: this.#mismatches.length > 0 ? false : this.#evaluated === 0 ? null : true,
      engine: versionOf('engine'),
      steps: this.#steps,
      evaluated: this.#evaluated,
      others: [...this.#others].sort(([, a], [, b]) => b - a).map(([reason, steps]) => ({ reason, steps })),
      mismatches: this.#mismatches,
      more_mismatches: this.#moreMismatches,
    }
  }

  #takeFacts(record: LeafRecord | LogRecord, values: JsonMap, log_index: number): void {
    const event = (record.type === 'event' ? values.event : null) as JsonMap | null | undefined
    if (!factEvents.includes(String(event?.kind)) || typeof event?.subject_id !== 'string') return
    const recorded = agentFactsIn(record, values, log_index)
    // An event of an earlier release holds no facts; those before it may be out of date.
    if (recorded === null) this.#facts.delete(event.subject_id)
    else this.#facts.set(recorded.agent_id, recorded.facts)
    if (event.kind === 'agent.registered' && log_index >= this.#parts.first) this.#memories.begin(event.subject_id)
  }

  #addStep(log_index: number, record: LogRecord, values: JsonMap | null): void {
    const { task_id, agent_id } = record
    const task = this.#tasks.get(task_id) ?? this.#open(record)
    this.#steps += 1
    const before = task.histories.size
    const reason = this.#rejudge(task, log_index, record, values)
    if (reason === null) this.#evaluated += 1
    else this.#count(reason)
    this.#histories += task.histories.size - before
    if (this.#parts.survey.memories.get(agent_id) === log_index) this.#memories.release(agent_id)
    if (task.survey.last > log_index) return
    this.#histories -= task.histories.size
    this.#tasks.delete(task_id)
  }

  #open({ task_id, seq }: LogRecord): OpenTask {
    const survey = this.#parts.survey.tasks.get(task_id) ?? { last: 0, sets: new Map<string, number>() }
    const isFollowed = survey.sets.size <= maxSetsOfTask && this.#histories + survey.sets.size <= limits.histories
    const read = isFollowed ? [...survey.sets.keys()].map((digest) => [digest, this.#setOf(digest)] as const) : []
    const task = openTask(
      survey,
      new Map(read.flatMap(([digest, set]) => (set === null ? [] : [[digest, set] as const]))),
    )
    if (seq !== 1) giveUp(task, 'task_began_earlier')
    else if (!isFollowed) giveUp(task, 'over_limit')
    this.#histories += task.histories.size
    this.#tasks.set(task_id, task)
    return task
  }

  /** The compiled policies of a digest; null when they are missing or unreadable. The latest ones are kept. */
  #setOf(digest: string): ReadPolicySet | null {
    const body = this.#sets.has(digest) ? null : this.#parts.bodyOf(digest)
    const found = this.#sets.get(digest) ?? (body === null ? null : readPolicySet(body))
    this.#sets.delete(digest)
    this.#sets.set(digest, found)
    const [oldest] = this.#sets.keys()
    if (this.#sets.size > limits.sets && oldest !== undefined) this.#sets.delete(oldest)
    return found
  }

  /** Evaluates the step and adds it to its task; returns why it could not be evaluated, or null. */
  #rejudge(task: OpenTask, log_index: number, record: LogRecord, values: JsonMap | null): RejudgeReason | null {
    if (values === null) giveUp(task, 'payload_erased')
    if (task.unknown !== null || values === null) {
      // The step may have written content that depends on unknown facts.
      if (isOfMemory(record)) this.#memories.forget(record.agent_id)
      return task.unknown
    }
    try {
      return this.#evaluate(task, log_index, record, values)
    } catch {
      giveUp(task, 'step_unreadable')
      this.#memories.forget(record.agent_id)
      return task.unknown
    }
  }

  #evaluate(task: OpenTask, log_index: number, record: LogRecord, values: JsonMap): RejudgeReason | null {
    const { agent_id } = record
    const sent = stepOfRecord(record, values)
    const use = isOfMemory(sent) ? useOf(sent) : null
    const labels = use === null ? null : this.#memories.labels(agent_id, use)
    if (labels === 'unknown') giveUp(task, 'reads_memory')
    const step = withMemoryLabels(sent, labels === 'unknown' ? null : labels)
    const reason = task.unknown ?? this.#compare(task, log_index, record, step, values.evaluation)
    addStep(task, step)
    if (use !== null && !isBlocked(sent)) this.#keep(agent_id, use, receivedIn(task))
    dropFinished(task, log_index)
    return reason
  }

  #keep(agent_id: string, use: MemoryUse, received: ReturnType<typeof receivedIn>): void {
    if (received !== 'unknown') this.#memories.keep(agent_id, use, received)
    else if (use.writes || use.deletes) this.#memories.forget(agent_id)
  }

  /** Compares the recorded evaluation of the step with that of the engine; returns why it could not, or null. */
  #compare(
    task: OpenTask,
    log_index: number,
    record: LogRecord,
    step: LoggedStep,
    recorded: unknown,
  ): RejudgeReason | null {
    const { agent_id, policy_set } = record
    const read = this.#setOf(policy_set)
    const history = task.histories.get(policy_set)
    const facts = this.#facts.get(agent_id)
    if (read === null || history === undefined)
      return this.#parts.bodyOf(policy_set) === null ? 'policy_set_missing' : 'policy_set_unreadable'
    if (facts === undefined) return 'agent_facts_unknown'
    const evaluated = history.evaluateRecorded(step, facts)
    const found = differences(recorded, committedResults(evaluated, read.policies))
    // This engine cannot evaluate a policy that it rejects; the results of the other policies are compared anyway.
    const own = found.filter(({ policy_id }) => policy_id === null || !read.rejected.has(policy_id))
    for (const difference of own) this.#note(log_index, record, difference, read)
    return own.length === 0 && found.length > 0 ? 'policy_unknown' : null
  }

  #note(log_index: number, { agent_id, task_id, step }: LogRecord, difference: Difference, read: ReadPolicySet): void {
    if (this.#mismatches.length === limits.mismatches) {
      this.#moreMismatches += 1
      return
    }
    const policy = read.policies.get(difference.policy_id ?? Number.NaN)?.name ?? null
    this.#mismatches.push({ log_index, agent_id, task_id, step, policy, ...difference })
  }

  #count(reason: RejudgeReason): void {
    this.#others.set(reason, (this.#others.get(reason) ?? 0) + 1)
  }
}
