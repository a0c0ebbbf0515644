// The local engine without HTTP: evaluate, record, release, end, register.

import { actionDigest } from '@svc/proof'
import {
  type AgentRegistration,
  type Behavior,
  canonicalType,
  type EndedTask,
  type EndTaskRequest,
  type EvaluateRequest,
  isBlocked,
  isoTime,
  type JsonMap,
  type RecordedStep,
  type RecordRequest,
  type ReleasedReservation,
  type ReleaseRequest,
} from '@svc/schemas'
import { registrationFacts } from '../agent/registration.js'
import { isEnd } from '../policy/plan.js'
import type { PolicySource } from '../source/source.js'
import type { LastSteps } from '../trace/memory/last-steps.js'
import type { Sink } from '../trace/sinks/sink.js'
import type { Decisions } from './decisions/decisions.js'
import type { LocalEvaluation } from './decisions/local-evaluation.js'
import { blockedLine } from './decisions/operator-lines.js'
import { invalid, ServeError } from './errors.js'
import { createEvaluator, type Evaluator } from './evaluator.js'
import { evaluationLine, incidentLines, isAct, releasedLines, stepLine, withoutOwnMembers } from './lines.js'
import type { Memory } from './memory.js'
import type { Meter } from './metrics.js'
import { rejectOtherAgents } from './other-agents.js'
import { type Reservations, releaseReservation, reserveStep } from './tasks/reservations.js'
import type { LocalTask } from './tasks/task.js'
import { createTaskPolicies, manifestsOfTask } from './tasks/task-policies.js'
import { createTasks, type Tasks } from './tasks/tasks.js'

export interface EngineParts {
  readonly source: PolicySource
  readonly sink: Sink
  /** Blocks every step while no policy is in effect (docs/design/engine.md §6). */
  readonly fail_closed: boolean
  readonly clock: () => number
  /** ms on a clock that never jumps, for the age of tasks. */
  readonly elapsed: () => number
  readonly newId: () => string
  readonly meter: Meter
  readonly memory: Memory
  readonly decisions: Decisions
  readonly last_steps: LastSteps
  /** Receives a line for each blocked step, and for each version of a manifest that a task has lost. */
  readonly notify: (line: string) => void
}

export interface LocalEngine {
  readonly evaluate: (request: EvaluateRequest) => Promise<LocalEvaluation>
  readonly record: (request: RecordRequest) => Promise<RecordedStep>
  readonly release: (request: ReleaseRequest) => ReleasedReservation
  readonly endTask: (request: EndTaskRequest) => Promise<EndedTask>
  readonly registerAgent: (body: AgentRegistration) => LocalEvaluation & { readonly agent_id: string }
  /** Tasks in memory. */
  readonly tasks: () => number
}

/** Tasks in memory, how long an idle one is kept, and the words of all: about 100 MiB (docs/design/engine.md §7). */
const limits = { maxTasks: 10_000, maxIdleMs: 24 * 3600 * 1000, maxWords: 1_000_000 }
/** Registered agents; a registration beyond the limit is rejected, because evicting an agent would lose its tools. */
const maxAgents = 10_000

interface EngineState extends EngineParts {
  readonly evaluator: Evaluator
  readonly tasks: Tasks
  readonly agents: Map<string, JsonMap>
  /** Throws when the id is the one of another agent; `path` is the member that has it. */
  readonly assertAgent: (agent_id: string, path: string) => void
  readonly reservations: Reservations
}

export function createEngine(parts: EngineParts): LocalEngine {
  const policies = createTaskPolicies(parts.source, parts.notify)
  const tasks = createTasks({ policies, recall: parts.sink.recall, last_steps: parts.last_steps, ...limits })
  const state: EngineState = {
    ...parts,
    evaluator: createEvaluator(parts),
    tasks,
    agents: new Map(),
    assertAgent: rejectOtherAgents(parts.source, parts.notify),
    reservations: new Map(),
  }
  return {
    evaluate: (request) => evaluateIntended(state, request),
    record: ({ step, end = true }) => recordStep(state, step, end),
    release: ({ evaluation_id }) => release(state, evaluation_id),
    endTask: async ({ task_id }) => {
      const { task, is_open: known } = await state.tasks.load(task_id, state.elapsed())
      await onDisk(async () => {
        endTask(state, task_id, task)
        await state.sink.flush()
      })
      return { status: 'ok', task_id, known }
    },
    registerAgent: (body) => registerAgent(state, body),
    tasks: tasks.count,
  }
}

/** Evaluates a step that has not happened. Only the decision and its reservation are kept. */
async function evaluateIntended(state: EngineState, { intended, context, reserve }: EvaluateRequest) {
  assertContext(intended, context)
  const { agent_id } = context
  const task_id = context.task_id ?? intended.task_id
  if (task_id === undefined)
    throw invalid('context.task_id', 'is missing, and so is `intended.task_id`: send one of them')
  const now = state.clock()
  state.assertAgent(agent_id, 'context.agent_id')
  const task = await state.tasks.open(task_id, state.elapsed())
  task.noteFirst(intended.step, task.waiting.size)
  setFacts(task, state.evaluator.facts(state.agents.get(agent_id), { ...context, task_id }))
  const step = state.memory.labelled({ timestamp: isoTime(now), ...intended, agent_id, task_id }, false)
  const evaluation = state.evaluator.step(task, step, false)
  task.waiting.add(evaluation)
  state.decisions.add(step, evaluation)
  if (reserve === true && !evaluation.blocked)
    reserveStep(state.reservations, task, evaluation.evaluation_id, step, now)
  state.meter.evaluated(evaluation.outcome)
  if (evaluation.blocked) {
    state.notify(blockedLine(step, evaluation))
    state.sink.write(evaluationLine(step, task.facts, evaluation, now))
  }
  return evaluation
}

/** The tools that the agent declares now can only limit those that the task began with. */
function setFacts(task: LocalTask, facts: JsonMap): void {
  task.facts = facts
  task.limitTools(facts)
}

/** Rejects a request that gives one value twice: the engine would silently ignore one of the two. */
function assertContext(intended: Behavior, context: EvaluateRequest['context']): void {
  for (const key of ['task_id', 'agent_id'] as const) {
    const [own, others] = [intended[key], context[key]]
    if (own !== undefined && others !== undefined && own !== others)
      throw invalid(`intended.${key}`, `differs from \`context.${key}\`: send one of them`)
  }
  if (context.declared_tools !== undefined && context.agent_allowed_tools !== undefined)
    throw invalid('context.agent_allowed_tools', 'is another name of `declared_tools`: send one of them')
}

/** The step will not happen. One that was blocked or asked about is an occurrence of what it would have violated. */
function release({ decisions, reservations, sink, meter, clock }: EngineState, evaluation_id: string) {
  const given_up = decisions.release(evaluation_id)
  const incidents = given_up === null ? [] : releasedLines(given_up, clock())
  for (const line of incidents) sink.write(line)
  meter.recorded(incidents.length, 0)
  const released = releaseReservation(reservations, evaluation_id)
  return { status: 'ok' as const, released, settled: given_up !== null }
}

/** Adds a step that happened to its task and writes it with its decision to the trace. `end`: a blocked step ends the task. */
async function recordStep(state: EngineState, body: Behavior, end: boolean): Promise<RecordedStep> {
  const sent = withoutOwnMembers(body)
  const { task_id } = sent
  if (task_id === undefined) throw invalid('step.task_id', 'is missing')
  const now = state.clock()
  if (sent.agent_id !== undefined) state.assertAgent(sent.agent_id, 'step.agent_id')
  const task = await state.tasks.open(task_id, state.elapsed())
  // The decision on this step is one of those that wait, if it was evaluated.
  task.noteFirst(sent.step, Math.max(0, task.waiting.size - 1))
  const known = sent.agent_id === undefined ? undefined : state.agents.get(sent.agent_id)
  if (Object.keys(task.facts).length === 0 && known !== undefined) setFacts(task, state.evaluator.facts(known, {}))
  const numbered = { step: sent.step ?? task.last_step + 1, timestamp: sent.timestamp ?? isoTime(now) }
  const step = state.memory.labelled({ ...task.agentOf(), ...sent, ...numbered }, true)
  const action_digest = actionDigest(step)
  const named = step.meta?.evaluation_id
  // After a restart, only the open decisions know that the step was evaluated before.
  const waited = state.decisions.waits(task_id, named, action_digest)
  const decision = task.waiting.take(named, action_digest)
  const evaluation = evaluationOf(state, task, step, action_digest, decision)
  keep(state, task, step, { ...evaluation, is_late: decision === null && !waited && isAct(step) })
  state.decisions.settle(task_id, named, action_digest)
  if (canonicalType(step.step_type) === 'step.gate') state.decisions.answer(task_id, step)
  if (end && isBlocked(step)) stopTask(state, task, step)
  await state.sink.settled()
  return { step: step.step, task_id }
}

/**
 * The decision on the step. When the evaluation allowed another action, the step is evaluated now, before it joins the
 * history, and so is a step that was asked about; a decision to block stays, also when the step was changed afterwards.
 */
function evaluationOf(
  { evaluator, reservations }: EngineState,
  task: LocalTask,
  step: Behavior,
  action_digest: string,
  decision: LocalEvaluation | null,
): LocalEvaluation {
  const evaluateNow = () => evaluator.step(task, step, true, { action_digest })
  if (decision === null) return evaluateNow()
  reservations.delete(decision.evaluation_id)
  // A gate may have approved the step since.
  const isFinal = decision.outcome !== 'ask' && (decision.blocked || decision.action_digest === action_digest)
  if (isFinal) return decision
  return { ...evaluateNow(), evaluation_id: decision.evaluation_id }
}

function keep(
  state: EngineState,
  task: LocalTask,
  step: Behavior & { step: number },
  evaluation: LocalEvaluation,
): void {
  const now = state.clock()
  const tools = task.tools !== task.written_tools ? task.tools : null
  task.add(step, now)
  state.memory.keep(step, task.received)
  task.written_tools = task.tools
  state.tasks.weigh(task)
  if (isEnd(step)) state.decisions.endTask(task.task_id)
  state.sink.write(stepLine(step, evaluation, { ...manifestFacts(state, task, evaluation), tools, now }))
  const incidents = incidentLines(step, evaluation, now, evaluation.blocked)
  for (const line of incidents) state.sink.write(line)
  state.meter.recorded(incidents.length)
}

function manifestFacts(
  { source }: EngineState,
  { policies: { set, versions } }: LocalTask,
  evaluation: LocalEvaluation,
) {
  // A decision of a time without policies names no manifests; one under a set without manifests names those of the set.
  const versions_known =
    versions !== null && (evaluation.manifests.length > 0 || evaluation.manifests === set.manifests)
  return { manifests: manifestsOfTask(source.current().manifests, versions), versions_known }
}

/** Ends the task of a blocked step with a task.error and a task.end, so that the log is complete (docs/design/engine.md §7). */
function stopTask(state: EngineState, task: LocalTask, { agent_id, task_id }: Behavior): void {
  const ids = { ...(agent_id !== undefined && { agent_id }), ...(task_id !== undefined && { task_id }) }
  for (const step_type of ['task.error', 'task.end'] as const) {
    const step = { ...ids, step_type, step: task.last_step + 1, timestamp: isoTime(state.clock()) }
    keep(state, task, step, state.evaluator.step(task, step, true))
  }
}

/**
 * Ends the task, which keeps its history. INVARIANT (an end is final): its line follows the last line of the task, also for
 * a task that is not in memory, and is on disk before the answer.
 */
function endTask(state: EngineState, task_id: string, task: LocalTask | null): void {
  if (task !== null) concludeTask(state, task)
  const now = state.clock()
  const end = task?.endOf() ?? {}
  state.sink.write({ kind: 'end', recorded_at: isoTime(now), task_id, ...end })
  state.decisions.endTask(task_id)
  if (task === null) return
  if (end.step !== undefined) task.add({ ...end, task_id, step_type: 'task.end' }, now)
  else task.waiting.voidAllowed()
  state.tasks.close(task)
}

/** The trace reports why the disk takes nothing, once; the caller repeats the request. */
async function onDisk<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ServeError('FULL', `the end cannot be written to the trace: ${why}; repeat the request`)
  }
}

/** Evaluates the task rules when no task.end did; their violations go to the trace and block nothing. */
function concludeTask(state: EngineState, task: LocalTask): void {
  for (const evaluation_id of task.waiting.releaseAll()) state.reservations.delete(evaluation_id)
  if (task.finished) return
  const { task_id } = task
  const step: Behavior = { ...task.agentOf(), step_type: 'task.end', task_id }
  const evaluation = state.evaluator.step(task, step, true, { occasion: 'end' })
  const incidents = incidentLines(step, evaluation, state.clock())
  for (const line of incidents) state.sink.write(line)
  state.meter.recorded(incidents.length, 0)
}

/** Evaluates the fields as they were sent, and keeps them for the steps of the agent. */
function registerAgent(state: EngineState, body: AgentRegistration) {
  const agent_id = body.agent_key
  if (state.agents.size >= maxAgents && !state.agents.has(agent_id))
    throw new ServeError('FULL', `at most ${maxAgents} agents can be registered: restart the engine to remove agents`)
  const agent = registrationFacts(body, agent_id)
  state.agents.set(agent_id, agent)
  const evaluation = state.evaluator.registration(agent)
  for (const line of incidentLines({ agent_id }, evaluation, state.clock())) state.sink.write(line)
  return { ...evaluation, agent_id }
}
