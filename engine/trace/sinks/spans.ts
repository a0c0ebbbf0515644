// Lines of the trace as spans of OTLP JSON with the names of the semantic conventions for generative AI. A line always gives
// the same span, so that a receiver recognises one that is sent twice.
import { createHash } from 'node:crypto'
import { requestJson } from '@svc/proof'
import { type Behavior, type JsonMap, parseTimestamp } from '@svc/schemas'
import { AmbiguousField, dotted } from '../../rules/values/members.js'
import { stepOfEnd } from '../delivery/end-step.js'
import type { TraceLine } from './sink.js'

type StepLine = Extract<TraceLine, { kind: 'step' }>

/** The span of a line as an object for JSON; null for a line that has none. */
export function spanOf(line: TraceLine): object | null {
  if (line.kind === 'step') return spanOfStep(line)
  if (line.kind === 'incident' || line.kind === 'unrecorded') return spanOfNote(line)
  const end = line.kind === 'end' ? stepOfEnd(line) : null
  return end === null ? null : spanOfStep(end)
}

function spanOfStep(line: StepLine): object {
  const { task_id = '', step = 0, step_type, step_name, timestamp = line.recorded_at } = line
  const operation = operationOf(line)
  const named = operation === undefined ? step_type : operation
  const failed = line.output?.status === 'blocked' || line.output?.status === 'error' || step_type === 'task.error'
  return {
    ...idsOf(task_id, `${step} ${timestamp}`),
    name: step_name === undefined ? named : `${named} ${step_name}`,
    kind: step_type === 'step.model' ? clientKind : internalKind,
    ...timesOf(timestamp, step),
    attributes: attributesOf({
      ...contextOf(line),
      'gen_ai.operation.name': operation,
      ...genAiOf(line, operation),
      ...(operation !== 'execute_tool' && { 'svc.step.input': line.input, 'svc.step.output': line.output }),
      ...ownOf(line),
    }),
    ...(failed && { status: { code: errorStatus } }),
  }
}

/** SPAN_KIND_INTERNAL, SPAN_KIND_CLIENT and STATUS_CODE_ERROR of OTLP. */
const [internalKind, clientKind, errorStatus] = [1, 3, 2]

/** An incident, or a decision whose step was never recorded: no act of the agent. */
function spanOfNote(line: Extract<TraceLine, { kind: 'incident' | 'unrecorded' }>): object {
  const { kind, task_id, evaluation_id, recorded_at } = line
  const policy = kind === 'incident' ? ` ${line.violation.policy_id}` : ''
  return {
    ...idsOf(task_id ?? evaluation_id, `${kind} ${evaluation_id}${policy}`),
    name: `svc.${kind}`,
    kind: internalKind,
    ...timesOf(recorded_at, 0),
    attributes: attributesOf({ ...contextOf(line), [`svc.${kind}`]: line }),
  }
}

function contextOf({ task_id, agent_id }: { readonly task_id?: string | null; readonly agent_id?: string | null }) {
  return { 'gen_ai.conversation.id': task_id, 'gen_ai.agent.id': agent_id }
}

/** A trace for each task. The id of a task may be used again, but not at the same time. */
function idsOf(task_id: string, identity: string) {
  const digest = (text: string) => createHash('sha256').update(text).digest('hex')
  return { traceId: digest(task_id).slice(0, 32), spanId: digest(JSON.stringify([task_id, identity])).slice(0, 16) }
}

/** Steps of one millisecond stay in their order. A step has one time: it says when it happened, not how long it took. */
function timesOf(timestamp: string, step: number) {
  const nanos = `${BigInt(parseTimestamp(timestamp) ?? 0) * 1_000_000n + BigInt(step % 1_000_000)}`
  return { startTimeUnixNano: nanos, endTimeUnixNano: nanos }
}

const memoryOperations: Readonly<Record<NonNullable<Behavior['verb']>, string>> = {
  GET: 'search_memory',
  POST: 'create_memory',
  PATCH: 'update_memory',
  DELETE: 'delete_memory',
}

/** The operation of the conventions; undefined for a step that they have no name for. */
function operationOf({ step_type, step_name, verb }: Behavior): string | undefined {
  if (step_type === 'step.model') return 'chat'
  if (step_type === 'task.start') return 'invoke_agent'
  if (step_type === 'step.self' && verb !== undefined) return memoryOperations[verb]
  const isTool = /^step\.(resource|message|exec|credential|self|unknown)$/.test(step_type)
  return isTool && step_name !== undefined ? 'execute_tool' : undefined
}

function genAiOf({ step_name, input, output, properties }: Behavior, operation: string | undefined): JsonMap {
  if (operation === 'chat')
    return {
      'gen_ai.request.model': step_name,
      'gen_ai.usage.input_tokens': usageIn(properties, 'input_tokens'),
      'gen_ai.usage.output_tokens': usageIn(properties, 'output_tokens'),
      'gen_ai.usage.total_tokens': usageIn(properties, 'total_tokens'),
      'gen_ai.usage.cost': usageIn(properties, 'cost_usd'),
      'gen_ai.input.messages': messagesOf('user', input),
      'gen_ai.output.messages': messagesOf('assistant', output),
    }
  if (operation !== 'execute_tool') return {}
  return {
    'gen_ai.tool.name': step_name,
    'gen_ai.tool.call.arguments': input,
    'gen_ai.tool.call.result': output,
  }
}

function usageIn(properties: JsonMap | undefined, name: string): number | undefined {
  try {
    const value = dotted(['usage', name])(properties)
    return typeof value === 'number' ? value : undefined
  } catch (error) {
    if (error instanceof AmbiguousField) return undefined
    throw error
  }
}

/** A payload as one message, whatever its form: readers of the conventions show it, and `svc.step.…` has it as it is. */
function messagesOf(role: string, payload: JsonMap | undefined): unknown {
  if (payload === undefined) return undefined
  const content = typeof payload.content === 'string' ? payload.content : JSON.stringify(payload)
  return [{ role, parts: [{ type: 'text', content }] }]
}

/** The step itself, for `engine/convert/otel/own-step.ts` to read, and its decision. */
function ownOf({ step, step_type, step_name, verb, properties, meta }: StepLine): JsonMap {
  const { evaluation_id, action, risk_score, policies } = Object(meta?.['svc.eval']) as JsonMap
  const violated = Array.isArray(policies) ? policies.filter((policy) => policy?.violated === true) : []
  return {
    'svc.step.type': step_type,
    'svc.step.number': step,
    'svc.step.name': step_name,
    'svc.step.verb': verb,
    'svc.step.properties': properties,
    'svc.step.meta': meta,
    'svc.evaluation.id': evaluation_id,
    'svc.evaluation.action': action,
    'svc.evaluation.risk_score': risk_score,
    'svc.evaluation.violated': violated.length > 0 ? violated.map(({ name }) => String(name)) : undefined,
  }
}

/** Attributes without a value are left out; lists and objects are JSON text, as libraries write them. */
function attributesOf(values: JsonMap): object[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [{ key, value: anyValueOf(value) }],
  )
}

function anyValueOf(value: unknown): object {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  return { stringValue: typeof value === 'string' ? value : requestJson(value) }
}
