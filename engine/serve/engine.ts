// What the local engine does, apart from HTTP: judge, record, end, register.

import { actionDigest } from '@svc/proof'
import {
  type AgentRegistration,
  type Behavior,
  type EndedTask,
  type EndTaskRequest,
  type EvaluateRequest,
  isBlocked,
  type JsonMap,
  type RecordedStep,
  type RecordRequest,
  type ReleasedReservation,
  type ReleaseRequest,
} from '@svc/schemas'
import { registrationFacts } from '../agent/registration.js'
import { record } from '../policy/history.js'
import { occasionOf } from '../policy/plan.js'
import type { PolicySource } from '../source/source.js'
import type { Sink } from '../trace/sink.js'
import { blockedLine } from './blocked-line.js'
import { ServeError } from './errors.js'
import { createJudge, type Judge } from './judge.js'
import type { JudgedEvaluation } from './judged.js'
import { evaluationLine, incidentLines, stepLine } from './lines.js'
import type { Meter } from './metrics.js'
import { awaitRecord, type Reservation, reservedFor, type Task, takeDecision } from './task.js'
import { createTasks, type Tasks } from './tasks.js'

export interface EngineParts {
  readonly source: PolicySource
  readonly sink: Sink
  /** Whether nothing is allowed while nothing is enforced (docs/design/engine.md §6). */
  readonly fail_closed: boolean
  readonly clock: () => number
  readonly newId: () => string
  readonly meter: Meter
  /** Takes a line for a person: which step is blocked, and why. */
  readonly notify: (line: string) => void
}

export interface LocalEngine {
  readonly evaluate: (request: EvaluateRequest) => Promise<JudgedEvaluation>
  readonly record: (request: RecordRequest) => Promise<RecordedStep>
  readonly release: (request: ReleaseRequest) => ReleasedReservation
  readonly endTask: (request: EndTaskRequest) => Promise<EndedTask>
  readonly registerAgent: (body: AgentRegistration) => JudgedEvaluation & { readonly agent_id: string }
  /** Tasks in memory. */
  readonly tasks: () => number
}

/** Histories kept: this many tasks, none older than a day (docs/design/engine.md §7). */
const limits = { most: 10_000, oldest: 24 * 3600 * 1000 }
/** Agents that can be registered here; one more is refused rather than another forgotten, with its tools. */
const mostAgents = 10_000

interface Workings extends EngineParts {
  readonly judge: Judge
  readonly tasks: Tasks
  readonly agents: Map<string, JsonMap>
  /** The task of each reservation. */
  readonly reservations: Map<string, Task>
}

export function createEngine(parts: EngineParts): LocalEngine {
  const tasks = createTasks({ set: () => parts.source.current().set, recall: parts.sink.recall, ...limits })
  const it: Workings = { ...parts, judge: createJudge(parts), tasks, agents: new Map(), reservations: new Map() }
  return {
    evaluate: (request) => evaluateIntended(it, request),
    record: ({ step }) => recordStep(it, step),
    release: ({ evaluation_id }) => ({ status: 'ok', released: release(it, evaluation_id) }),
    endTask: async ({ task_id }) => {
      await it.tasks.load(task_id, it.clock())
      endTask(it, task_id)
      await it.sink.flush()
      return { status: 'ok', task_id }
    },
    registerAgent: (body) => registerAgent(it, body),
    tasks: tasks.count,
  }
}

/** Judges a step that has not happened. Nothing but the decision is remembered, and what it reserves. */
async function evaluateIntended(it: Workings, { intended, context, reserve }: EvaluateRequest) {
  checkContext(intended, context)
  const { agent_id } = context
  const task_id = context.task_id ?? intended.task_id
  if (task_id === undefined) throw invalid('context.task_id', 'is missing, and so is `intended.task_id`: name the task')
  const now = it.clock()
  const task = await it.tasks.open(task_id, intended.step_type, now)
  task.facts = it.judge.facts(it.agents.get(agent_id), { ...context, task_id })
  const step = { timestamp: timeOf(now), ...intended, agent_id, task_id }
  const evaluation = it.judge.step(task, step, occasionIn(task, step))
  awaitRecord(task, evaluation)
  if (reserve === true && !evaluation.blocked) reserveStep(it, task, evaluation.evaluation_id, { step, at: now })
  it.meter.evaluated(evaluation.outcome)
  if (evaluation.blocked) {
    it.notify(blockedLine(step, evaluation))
    it.sink.write(evaluationLine(step, task.facts, evaluation, now))
  }
  return evaluation
}

/** Refuses a request that says the same thing twice: one of the two would silently win. */
function checkContext(intended: Behavior, context: EvaluateRequest['context']): void {
  for (const key of ['task_id', 'agent_id'] as const) {
    const [own, others] = [intended[key], context[key]]
    if (own !== undefined && others !== undefined && own !== others)
      throw invalid(`intended.${key}`, `differs from \`context.${key}\`: say one or the other`)
  }
  if (context.declared_tools !== undefined && context.agent_allowed_tools !== undefined)
    throw invalid('context.agent_allowed_tools', 'is another name of `declared_tools`: give one of them')
}

/** Task rules are asked once, at the first task.end. */
function occasionIn(task: Task, step: Behavior) {
  return task.ended ? 'step' : occasionOf(step)
}

/** Takes in a step that happened, joined with the decision on it, and writes it to the trace. */
async function recordStep(it: Workings, sent: Behavior): Promise<RecordedStep> {
  const { task_id } = sent
  if (task_id === undefined) throw invalid('step.task_id', 'is missing')
  const now = it.clock()
  const task = await it.tasks.open(task_id, sent.step_type, now)
  const known = sent.agent_id === undefined ? undefined : it.agents.get(sent.agent_id)
  if (Object.keys(task.facts).length === 0 && known !== undefined) task.facts = it.judge.facts(known, {})
  const step = {
    ...agentOf(task),
    ...sent,
    step: sent.step ?? task.last_step + 1,
    timestamp: sent.timestamp ?? timeOf(now),
  }
  keep(it, task, step, decisionOn(it, task, step))
  if (isBlocked(step)) stopTask(it, task, step)
  await it.sink.settled()
  return { step: step.step, task_id }
}

/**
 * The decision the step was asked for. One that allowed something else says nothing of what was done, so that is judged
 * now, before it joins the history; one that blocked stands, whatever the step has been turned into.
 */
function decisionOn(it: Workings, task: Task, step: Behavior): JudgedEvaluation {
  const action_digest = actionDigest(step)
  const asked = takeDecision(task, step.meta?.evaluation_id, action_digest)
  if (asked === null) return it.judge.step(task, step, occasionIn(task, step))
  it.reservations.delete(asked.evaluation_id)
  if (asked.blocked || asked.action_digest === action_digest) return asked
  return { ...it.judge.step(task, step, occasionIn(task, step)), evaluation_id: asked.evaluation_id }
}

function keep(it: Workings, task: Task, step: Behavior & { step: number }, evaluation: JudgedEvaluation): void {
  const now = it.clock()
  record(task.set, task.history, step, now)
  task.last_step = Math.max(task.last_step, step.step)
  task.ended ||= occasionOf(step) === 'last_step'
  it.sink.write(stepLine(step, evaluation, it.source.current().manifests, now))
  const incidents = incidentLines(step, evaluation.policies, now, evaluation.blocked)
  for (const line of incidents) it.sink.write(line)
  it.meter.recorded(incidents.length)
}

/** A blocked step ends its task: the error and the end follow, so that the log is whole (docs/design/engine.md §7). */
function stopTask(it: Workings, task: Task, { agent_id, task_id }: Behavior): void {
  const whose = { ...(agent_id !== undefined && { agent_id }), ...(task_id !== undefined && { task_id }) }
  for (const step_type of ['task.error', 'task.end'] as const) {
    const step = { ...whose, step_type, step: task.last_step + 1, timestamp: timeOf(it.clock()) }
    keep(it, task, step, it.judge.step(task, step, occasionIn(task, step)))
  }
}

/** Lets an allowed step count until it is done, and forgets the promises that have run out. */
function reserveStep({ reservations }: Workings, task: Task, evaluation_id: string, reservation: Reservation): void {
  for (const [id, holder] of reservations) {
    const held = holder.reserved.get(id)
    if (held !== undefined && reservation.at - held.at < reservedFor) break
    holder.reserved.delete(id)
    reservations.delete(id)
  }
  task.reserved.set(evaluation_id, reservation)
  reservations.set(evaluation_id, task)
}

/** Gives back what an allowed step had reserved; false when there is no such reservation (any more). */
function release({ reservations }: Workings, evaluation_id: string): boolean {
  const task = reservations.get(evaluation_id)
  reservations.delete(evaluation_id)
  return task?.reserved.delete(evaluation_id) ?? false
}

/**
 * Forgets the task. INVARIANT (an end is final): its line follows the task's last one, also for a task that is not known
 * here, and is on disk before the answer.
 */
function endTask(it: Workings, task_id: string): void {
  const task = it.tasks.close(task_id)
  if (task !== null) concludeTask(it, task)
  it.sink.write({ kind: 'end', recorded_at: timeOf(it.clock()), task_id })
}

/** Task rules that no task.end has asked for are asked now; what they find goes to the trace and blocks nothing. */
function concludeTask(it: Workings, task: Task): void {
  for (const evaluation_id of task.reserved.keys()) it.reservations.delete(evaluation_id)
  task.reserved.clear()
  if (task.ended) return
  const { task_id } = task
  const step: Behavior = { ...agentOf(task), step_type: 'task.end', task_id }
  const { policies } = it.judge.step(task, step, 'end')
  const incidents = incidentLines(step, policies, it.clock())
  for (const line of incidents) it.sink.write(line)
  it.meter.recorded(incidents.length, 0)
}

/** Judges the fields as they were sent, and remembers them for the agent's steps. */
function registerAgent(it: Workings, body: AgentRegistration) {
  const agent_id = body.agent_key
  if (it.agents.size >= mostAgents && !it.agents.has(agent_id))
    throw new ServeError('FULL', `${mostAgents} agents are registered here, the most there can be`)
  const agent = registrationFacts(body, agent_id)
  it.agents.set(agent_id, agent)
  const evaluation = it.judge.registration(agent)
  for (const line of incidentLines({ agent_id }, evaluation.policies, it.clock())) it.sink.write(line)
  return { ...evaluation, agent_id }
}

function invalid(path: string, message: string): ServeError {
  return new ServeError('INVALID', `\`${path}\`: ${message}`, [{ path, message }])
}

/** Whose step it is, as far as the task's last evaluation said. */
function agentOf({ facts }: Task): Pick<Behavior, 'agent_id'> {
  const { agent_id } = facts
  return typeof agent_id === 'string' ? { agent_id } : {}
}

function timeOf(now: number): string {
  return new Date(now).toISOString()
}
