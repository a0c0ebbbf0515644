// What the local engine does, apart from HTTP: judge, record, end, register.
import type {
  AgentRegistration,
  Behavior,
  EndedTask,
  EndTaskRequest,
  EvaluateRequest,
  Evaluation,
  LocalRegistration,
  RecordedStep,
  RecordRequest,
} from '@svc/schemas'
import { actionDigest } from '../log/record.js'
import { evaluate } from '../policy/evaluate.js'
import { newHistory, record } from '../policy/history.js'
import { registrationFacts } from '../registration.js'
import type { Scope } from '../rules/rule.js'
import type { LoadedPolicies } from '../source/source.js'
import { isBlocked, type JsonMap, verbProblem } from '../steps.js'
import type { Sink } from '../trace/sink.js'
import { ServeError } from './errors.js'
import { incidentLines, stepLine } from './lines.js'
import { awaitRecord, type Task, type Tasks, takeDecision } from './tasks.js'

export interface EngineParts {
  readonly policies: LoadedPolicies
  readonly tasks: Tasks
  readonly sink: Sink
  readonly clock: () => number
  readonly newId: () => string
}

export interface LocalEngine {
  readonly evaluate: (request: EvaluateRequest) => Evaluation
  readonly record: (request: RecordRequest) => RecordedStep
  readonly endTask: (request: EndTaskRequest) => Promise<EndedTask>
  readonly registerAgent: (body: AgentRegistration) => LocalRegistration
}

export function createEngine(parts: EngineParts): LocalEngine {
  const agents = new Map<string, JsonMap>()
  return {
    evaluate: (request) => evaluateIntended(parts, agents, request),
    record: ({ step }) => recordStep(parts, agents, step),
    endTask: async ({ task_id }) => {
      endTask(parts, task_id)
      await parts.sink.flush()
      return { status: 'ok', task_id }
    },
    registerAgent: (body) => registerAgent(parts, agents, body),
  }
}

type Agents = Map<string, JsonMap>

/** Judges a step that has not happened. Nothing but the decision is remembered. */
function evaluateIntended(parts: EngineParts, agents: Agents, { intended, context }: EvaluateRequest): Evaluation {
  checkStep(intended, 'intended')
  checkContext(intended, context)
  const { agent_id, task_id } = context
  const now = parts.clock()
  const task = parts.tasks.open(task_id, now)
  task.facts = factsOf(agents, context)
  const evaluation = judge(parts, task, { agent_id, task_id, timestamp: timeOf(now), ...intended })
  awaitRecord(task, evaluation)
  return evaluation
}

/** Refuses a request that says the same thing twice: one of the two would silently win. */
function checkContext(intended: Behavior, context: EvaluateRequest['context']): void {
  for (const key of ['task_id', 'agent_id'] as const) {
    if (intended[key] !== undefined && intended[key] !== context[key])
      throw invalid(`intended.${key}`, `differs from \`context.${key}\`: say one or the other`)
  }
  if (context.declared_tools !== undefined && context.agent_allowed_tools !== undefined)
    throw invalid('context.agent_allowed_tools', 'is another name of `declared_tools`: give one of them')
}

/** The agent as registered here, with what the context says of it now. */
function factsOf(agents: Agents, { agent_allowed_tools, ...context }: EvaluateRequest['context']): JsonMap {
  const declared_tools = context.declared_tools ?? agent_allowed_tools
  return { ...agents.get(context.agent_id), ...context, ...(declared_tools !== undefined && { declared_tools }) }
}

function judge({ policies, clock, newId }: EngineParts, task: Task, step: Behavior): Evaluation {
  const scopes: Scope[] =
    step.step_type === 'task.end' && !task.ended ? ['step_execution', 'task_execution'] : ['step_execution']
  const situation = { step, agent: task.facts, context: task.facts, history: task.history, now: clock() }
  const decision = evaluate(policies.set, scopes, situation)
  return {
    evaluation_id: newId(),
    ...decision,
    action_digest: actionDigest(step),
    ...(task.history_lost && { history_lost: true }),
  }
}

/** Takes in a step that happened, joined with the decision on it, and writes it to the trace. */
function recordStep(parts: EngineParts, agents: Agents, sent: Behavior): RecordedStep {
  checkStep(sent, 'step')
  const { task_id } = sent
  if (task_id === undefined) throw invalid('step.task_id', 'is missing')
  const now = parts.clock()
  const task = parts.tasks.open(task_id, now)
  const known = sent.agent_id === undefined ? undefined : agents.get(sent.agent_id)
  if (Object.keys(task.facts).length === 0 && known !== undefined) task.facts = known
  const step = {
    ...agentOf(task),
    ...sent,
    step: sent.step ?? task.last_step + 1,
    timestamp: sent.timestamp ?? timeOf(now),
  }
  keep(parts, task, step, decisionOn(parts, task, step))
  if (isBlocked(step)) stopTask(parts, task, step)
  return { step: step.step, task_id }
}

/**
 * The decision the step was asked for. One that allowed something else says nothing of what was done, so that is judged
 * now, before it joins the history; one that blocked stands, whatever the step has been turned into.
 */
function decisionOn(parts: EngineParts, task: Task, step: Behavior): Evaluation {
  const action_digest = actionDigest(step)
  const asked = takeDecision(task, step.meta?.evaluation_id, action_digest)
  if (asked === null) return judge(parts, task, step)
  if (asked.blocked || asked.action_digest === action_digest) return asked
  return { ...judge(parts, task, step), evaluation_id: asked.evaluation_id }
}

function keep(parts: EngineParts, task: Task, step: Behavior & { step: number }, evaluation: Evaluation): void {
  const now = parts.clock()
  record(parts.policies.set, task.history, step, now)
  task.last_step = Math.max(task.last_step, step.step)
  task.ended ||= step.step_type === 'task.end'
  parts.sink.write(stepLine(step, evaluation, parts.policies.manifests, now))
  for (const line of incidentLines(step, evaluation.policies, now, evaluation.blocked)) parts.sink.write(line)
}

/** A blocked step ends its task: the error and the end follow, so that the log is whole (seed §2). */
function stopTask(parts: EngineParts, task: Task, { agent_id, task_id }: Behavior): void {
  const whose = { ...(agent_id !== undefined && { agent_id }), ...(task_id !== undefined && { task_id }) }
  for (const step_type of ['task.error', 'task.end'] as const) {
    const step = { ...whose, step_type, step: task.last_step + 1, timestamp: timeOf(parts.clock()) }
    keep(parts, task, step, judge(parts, task, step))
  }
}

/** Task rules that no task.end has asked for are asked now; what they find goes to the trace and blocks nothing. */
function endTask(parts: EngineParts, task_id: string): void {
  const task = parts.tasks.find(task_id)
  if (task === null) return
  if (!task.ended) {
    const step: Behavior = { ...agentOf(task), step_type: 'task.end', task_id }
    const situation = { step, agent: task.facts, context: task.facts, history: task.history, now: parts.clock() }
    const { policies } = evaluate(parts.policies.set, ['task_execution'], situation)
    for (const line of incidentLines(step, policies, parts.clock())) parts.sink.write(line)
  }
  parts.tasks.end(task_id)
}

/** Judges the fields as they were sent, and remembers them for the agent's steps. */
function registerAgent(
  { policies, sink, clock, newId }: EngineParts,
  agents: Agents,
  body: AgentRegistration,
): LocalRegistration {
  const agent_id = body.agent_key
  const agent = registrationFacts(body, agent_id)
  agents.set(agent_id, agent)
  const now = clock()
  const situation = { step: null, agent, context: {}, history: newHistory(policies.set), now }
  const decision = evaluate(policies.set, ['agent_registration'], situation)
  for (const line of incidentLines({ agent_id }, decision.policies, now)) sink.write(line)
  return { evaluation_id: newId(), ...decision, action_digest: null, agent_id }
}

function checkStep(step: Behavior, path: string): void {
  const message = verbProblem(step)
  if (message !== null) throw invalid(`${path}.verb`, message)
}

function invalid(path: string, message: string): ServeError {
  return new ServeError('INVALID', `\`${path}\`: ${message}`, [{ path, message }])
}

/** Whose step it is, as far as the task's last evaluation said. */
function agentOf({ facts }: Task): Pick<Behavior, 'agent_id'> {
  return typeof facts.agent_id === 'string' ? { agent_id: facts.agent_id } : {}
}

function timeOf(now: number): string {
  return new Date(now).toISOString()
}
