// Recorded runs become steps (engine.md §9). Pure: the same transcript always becomes the same steps.
import { createHash } from 'node:crypto'
import type { Behavior } from '@svc/schemas'
import { parseStrictJson } from '../log/strict-json.js'
import type { JsonMap } from '../steps.js'
import { meaningOf, type ToolMap } from './tools.js'
import type { Message, ToolCall, Transcript } from './transcript.js'

export interface ImportSettings {
  readonly agent_key: string
  /** ms since 1970 of the first line's first step. */
  readonly start: number
  readonly tools: ToolMap
  /** Every tool seen in the file: what the agent is taken to have declared. */
  readonly declared_tools: readonly string[]
}

/** A recorded run as steps. Transcripts carry no times: a line gets an hour, a step a second, marked as synthetic. */
export function stepsOf(transcript: Transcript, line: number, settings: ImportSettings): Behavior[] {
  const bodies = [
    startOf(transcript, settings),
    ...bodiesOf(transcript, settings.tools),
    { step_type: 'task.end' as const },
  ]
  const task_id = taskIdOf(settings.agent_key, transcript.run_id)
  return bodies.map(({ meta, ...body }, index) => ({
    agent_id: settings.agent_key,
    task_id,
    step: index + 1,
    timestamp: new Date(settings.start + line * 3_600_000 + index * 1000).toISOString(),
    ...body,
    meta: { ...meta, synthetic_time: true },
  }))
}

/** UUIDv5 (RFC 9562 §5.5) of the run in the namespace of its agent, so that importing twice is the same import. */
export function taskIdOf(agent_key: string, run_id: string): string {
  return uuid5(uuid5(rootNamespace, agent_key), run_id)
}

// The URL namespace of RFC 9562 §6.6.
const rootNamespace = '6ba7b811-9dad-11d1-80b4-00c04fd430c8'

function uuid5(namespace: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
    .subarray(0, 16)
  bytes[6] = (bytes.readUInt8(6) & 0x0f) | 0x50
  bytes[8] = (bytes.readUInt8(8) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

type Body = Pick<Behavior, 'step_type' | 'verb' | 'step_name' | 'input' | 'output' | 'properties' | 'meta'>

/** The start carries the agent, for tools that replay the file alone, and what the transcript says of the run as such. */
function startOf({ run_id, messages, extra }: Transcript, { agent_key, declared_tools }: ImportSettings): Body {
  const system = messages.filter((message) => message.role === 'system' || message.role === 'developer')
  const instructions = system.length > 0 ? { input: { instructions: system.map((message) => message.content) } } : {}
  return {
    step_type: 'task.start',
    ...instructions,
    meta: { agent: { agent_key, declared_tools }, run: { run_id, ...extra } },
  }
}

function bodiesOf({ messages, model }: Transcript, tools: ToolMap): Body[] {
  const calls = new Set<Message>()
  return messages.flatMap((message, index): Body[] => {
    switch (message.role) {
      case 'system':
      case 'developer':
        return []
      case 'user':
        return [userTurn(message)]
      case 'assistant':
        return assistantTurn(message, messages.slice(index + 1), model, tools, calls)
      case 'tool':
      case 'function':
        return calls.has(message) ? [] : [unexpected(message)]
      default:
        return [unexpected(message)]
    }
  })
}

const withUser = { counterpart: { kind: 'user' } }

function userTurn({ content }: Message): Body {
  return { step_type: 'step.message', verb: 'GET', output: { content }, properties: withUser }
}

/** One step for the model's turn, one for each tool call with its answer, one for text that went to the user. */
function assistantTurn(
  message: Message,
  later: readonly Message[],
  model: string | null,
  tools: ToolMap,
  calls: Set<Message>,
): Body[] {
  const { content, tool_calls } = message
  const output = {
    ...(content !== null && { content }),
    ...(tool_calls.length > 0 && { tool_calls: tool_calls.map(callView) }),
  }
  const bodies: Body[] = [{ step_type: 'step.model', verb: 'POST', step_name: model ?? 'model', output }]
  if (hasText(content))
    bodies.push({ step_type: 'step.message', verb: 'POST', input: { content }, properties: withUser })
  for (const call of tool_calls) {
    const answer = later.find((candidate) => answers(candidate, call) && !calls.has(candidate))
    if (answer !== undefined) calls.add(answer)
    bodies.push(toolStep(call, answer ?? null, tools))
  }
  return bodies
}

function hasText(content: unknown): boolean {
  return Array.isArray(content) ? content.length > 0 : typeof content === 'string' && content.trim() !== ''
}

/** By the call's id; recorders without ids are matched by the tool's name. */
function answers({ role, tool_call_id, name }: Message, call: ToolCall): boolean {
  if (role !== 'tool' && role !== 'function') return false
  return call.id !== null && tool_call_id !== null ? tool_call_id === call.id : name === call.name
}

function callView(call: ToolCall): JsonMap {
  return { id: call.id, name: call.name, arguments: argumentsOf(call) }
}

function toolStep(call: ToolCall, answer: Message | null, tools: ToolMap): Body {
  const { step_type, verb, properties } = meaningOf(call.name, tools)
  return {
    step_type,
    ...(verb !== undefined && { verb }),
    step_name: call.name,
    input: argumentsOf(call),
    ...(answer !== null && { output: { content: readable(answer.content) } }),
    properties: { ...properties, ...(call.id !== null && { tool: { call_id: call.id } }) },
  }
}

/** Arguments as an object; whatever cannot be read exactly is kept as the text it was. */
function argumentsOf({ arguments: given }: ToolCall): JsonMap {
  const value = readable(given)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonMap
  return value === null || value === '' ? {} : { arguments: value }
}

/** JSON text as its value, when every reader would understand it the same; else as it is. */
function readable(given: unknown): unknown {
  if (typeof given !== 'string' || !/^\s*[[{]/.test(given)) return given
  const reading = parseStrictJson(given)
  return reading.problem === null ? reading.value : given
}

/** An answer to no call, or a role nobody knows: kept, and not taken for anything. */
function unexpected({ role, content, name, tool_call_id }: Message): Body {
  const known = { ...(name !== null && { name }), ...(tool_call_id !== null && { tool_call_id }) }
  return { step_type: 'step.unknown', input: { content }, meta: { transcript: { role, ...known } } }
}
