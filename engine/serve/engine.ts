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
import type { Scope } from '../rules/rule.js'
import type { LoadedPolicies } from '../source/source.js'
import { type JsonMap, verbProblem } from '../steps.js'
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
  for (const key of ['task_id', 'agent_id'] as const) {
    if (intended[key] === undefined || intended[key] === context[key]) continue
    const message = `differs from \`context.${key}\`: say one or the other`
    throw new ServeError('INVALID', `\`intended.${key}\` ${message}`, [{ path: `intended.${key}`, message }])
  }
  const task = parts.tasks.open(context.task_id, parts.clock())
  task.facts = factsOf(agents, context)
  const evaluation = judge(parts, task, intended)
  awaitRecord(task, evaluation)
  return evaluation
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
  if (task_id === undefined)
    throw new ServeError('INVALID', '`step.task_id` is missing', [{ path: 'step.task_id', message: 'is missing' }])
  const now = parts.clock()
  const task = parts.tasks.open(task_id, now)
  const known = sent.agent_id === undefined ? undefined : agents.get(sent.agent_id)
  if (Object.keys(task.facts).length === 0 && known !== undefined) task.facts = known
  const step = {
    ...sent,
    step: sent.step ?? task.last_step + 1,
    timestamp: sent.timestamp ?? new Date(now).toISOString(),
  }
  const evaluation = takeDecision(task, sent.meta?.evaluation_id, actionDigest(sent)) ?? judge(parts, task, step)
  keep(parts, task, step, evaluation)
  if (step.output?.status === 'blocked') stopTask(parts, task, step)
  return { step: step.step, task_id }
}

function keep(parts: EngineParts, task: Task, step: Behavior & { step: number }, evaluation: Evaluation): void {
  const now = parts.clock()
  record(parts.policies.set, task.history, step, now)
  task.last_step = Math.max(task.last_step, step.step)
  task.ended ||= step.step_type === 'task.end'
  parts.sink.write(stepLine(step, evaluation, parts.policies.manifests, now))
  for (const line of incidentLines(step, evaluation.policies, now)) parts.sink.write(line)
}

/** A blocked step ends its task: the error and the end follow, so that the log is whole (seed §2). */
function stopTask(parts: EngineParts, task: Task, { agent_id, task_id }: Behavior): void {
  for (const step_type of ['task.error', 'task.end'] as const) {
    const timestamp = new Date(parts.clock()).toISOString()
    const step = {
      step_type,
      step: task.last_step + 1,
      timestamp,
      ...(agent_id && { agent_id }),
      ...(task_id && { task_id }),
    }
    keep(parts, task, step, judge(parts, task, step))
  }
}

/** Task rules that no task.end has asked for are asked now; what they find goes to the trace and blocks nothing. */
function endTask(parts: EngineParts, task_id: string): void {
  const task = parts.tasks.find(task_id)
  if (task === null) return
  if (!task.ended) {
    const step: Behavior = { step_type: 'task.end', task_id }
    const situation = { step, agent: task.facts, context: task.facts, history: task.history, now: parts.clock() }
    const { policies } = evaluate(parts.policies.set, ['task_execution'], situation)
    for (const line of incidentLines(step, policies, parts.clock())) parts.sink.write(line)
  }
  parts.tasks.end(task_id)
}

/** Judges the fields as they were sent, and remembers them for the agent's steps. */
function registerAgent(
  { policies, clock, newId }: EngineParts,
  agents: Agents,
  body: AgentRegistration,
): LocalRegistration {
  const known = ['agent_key', 'name', 'purpose', 'owner_id', 'risk_classification', 'environment', 'declared_tools']
  const entries = Object.entries(body)
  const agent_id = body.agent_key
  const agent = {
    ...Object.fromEntries(entries.filter(([key]) => known.includes(key))),
    agent_id,
    attributes: Object.fromEntries(entries.filter(([key]) => !known.includes(key))),
  }
  agents.set(agent_id, agent)
  const situation = { step: null, agent, context: {}, history: newHistory(policies.set), now: clock() }
  const decision = evaluate(policies.set, ['agent_registration'], situation)
  return { evaluation_id: newId(), ...decision, action_digest: null, agent_id }
}

function checkStep(step: Behavior, path: string): void {
  const message = verbProblem(step)
  if (message !== null)
    throw new ServeError('INVALID', `\`${path}.verb\`: ${message}`, [{ path: `${path}.verb`, message }])
}
