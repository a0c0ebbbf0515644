// The messages of spans: in attributes as the conventions write them now, or in events as they did before.
import { isMap } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import { readable, shallow } from '../exact.js'
import { idOf, type ToolCall } from '../transcript.js'
import type { Attributes } from './any-value.js'
import { answerCalls, answerText, indexedInputs, indexedOutputs, inputNames, outputNames } from './conventions.js'
import { indexedMessages } from './indexed.js'
import type { Span } from './span.js'

export interface SpanMessage {
  readonly role: string
  /** Text, or a list of parts when some are not text; null without content. */
  readonly content: unknown
  /** Parts of the model beside its text, such as its reasoning: no message to the user. */
  readonly blocks: readonly unknown[]
  readonly tool_calls: readonly ToolCall[]
  /** Results of calls that the message gives back. */
  readonly answers: readonly { readonly id: string | null; readonly result: unknown }[]
}

/** The messages that the model or the agent received, in order; empty for a span without content. */
export function inputOf(span: Span): SpanMessage[] {
  const given = contentIn(span, inputNames) ?? indexedMessages(span.attributes, indexedInputs)
  const instructions = contentIn(span, ['gen_ai.system_instructions'])
  return [
    ...(instructions === undefined ? [] : [messageOf({ role: 'system', parts: instructions })]),
    ...(given === undefined ? messagesInEvents(span) : messagesOf(given, 'user')),
  ]
}

/** The messages that the model or the agent answered; empty for a span without content. */
export function outputOf(span: Span): SpanMessage[] {
  const given = contentIn(span, outputNames) ?? indexedMessages(span.attributes, indexedOutputs) ?? answerIn(span)
  if (given !== undefined) return messagesOf(given, 'assistant')
  return span.events
    .filter(({ name }) => name === 'gen_ai.choice')
    .map(({ attributes }) => messageOf({ role: 'assistant', ...membersOf(attributes), ...inside(attributes) }))
}

/** The older form keeps the message of a choice in a member. */
function inside(attributes: Attributes): JsonMap {
  const message = readable(attributes.get('message'))
  return isMap(message) ? message : typeof message === 'string' ? { content: message } : {}
}

/** The content in an attribute of the span or of one of its events, which a library may prefer. */
function contentIn({ attributes, events }: Span, names: readonly string[]): unknown {
  const holders = [attributes, ...events.map((event) => event.attributes)]
  for (const name of names) {
    const given = readable(holders.find((each) => each.has(name))?.get(name))
    if (given !== undefined && given !== null) return given
  }
  return undefined
}

function answerIn({ attributes }: Span): unknown {
  const [content, tool_calls] = [attributes.get(answerText), attributes.get(answerCalls)]
  return content === undefined && tool_calls === undefined ? undefined : { content, tool_calls }
}

const roleOfEvent: ReadonlyMap<string, string> = new Map([
  ['gen_ai.system.message', 'system'],
  ['gen_ai.user.message', 'user'],
  ['gen_ai.assistant.message', 'assistant'],
  ['gen_ai.tool.message', 'tool'],
])

function messagesInEvents({ events }: Span): SpanMessage[] {
  return events.flatMap(({ name, attributes }) => {
    const role = roleOfEvent.get(name)
    return role === undefined ? [] : [messageOf({ role, ...membersOf(attributes) })]
  })
}

function membersOf(attributes: Attributes): JsonMap {
  return Object.fromEntries(attributes)
}

/** Longer lists stay text: each of their messages could take a hundred times the memory of its text. */
const maxMessages = 10_000

/** Messages as a list or alone; text is a message of the role, but cut JSON has no known role. */
function messagesOf(given: unknown, role: string): SpanMessage[] {
  if (typeof given === 'string' && /^\s*[[{]/.test(given)) return [messageOf({ role: 'unknown', content: given })]
  const list = Array.isArray(given) ? given : [given]
  if (list.length > maxMessages) return [messageOf({ role: 'unknown', content: JSON.stringify(list) })]
  return list.map((entry: unknown) => messageOf(isMap(entry) ? { role, ...entry } : { role, content: entry }))
}

function messageOf({ role, parts: given, content, tool_calls, ...message }: JsonMap): SpanMessage {
  const parts = partsOf(given ?? content)
  const texts = parts.map(textOf)
  const others = parts.filter((part, index) => texts[index] === null && !isCall(part) && !isAnswer(part))
  const text = texts.filter((each) => each !== null)
  const calls = readable(tool_calls)
  const answers = parts.filter(isAnswer).map(answerOf)
  const isModel = role === 'assistant'
  const isResult = role === 'tool' && answers.length === 0
  return {
    role: idOf(role) ?? 'unknown',
    content:
      others.length > 0 && !isModel ? shallow(parts.filter((part) => !isCall(part) && !isAnswer(part))) : joined(text),
    blocks: isModel ? others.map(shallow) : [],
    tool_calls: [...parts.filter(isCall), ...(Array.isArray(calls) ? calls.filter(isMap) : [])].map(callOf),
    answers: isResult ? [{ id: idOf(message.tool_call_id ?? message.id), result: joined(text) }] : answers,
  }
}

function partsOf(given: unknown): unknown[] {
  const content = readableParts(given)
  if (content === undefined || content === null) return []
  return Array.isArray(content) ? content : [content]
}

/** Text is content as it is, even if it is JSON, except for a list of parts. */
function readableParts(given: unknown): unknown {
  const value = readable(given)
  return Array.isArray(value) && value.every(isMap) && value.some(({ type }) => type !== undefined) ? value : given
}

function joined(texts: readonly string[]): string | null {
  return texts.length === 0 ? null : texts.join('\n')
}

function textOf(part: unknown): string | null {
  if (typeof part === 'string') return part
  if (!isMap(part) || (part.type !== undefined && part.type !== 'text')) return null
  const text = part.content ?? part.text
  return typeof text === 'string' ? text : null
}

const callTypes: ReadonlySet<unknown> = new Set(['tool_call', 'tool_use', 'tool-call'])
const answerTypes: ReadonlySet<unknown> = new Set(['tool_call_response', 'tool_result', 'tool-result'])

function isCall(part: unknown): part is JsonMap {
  return isMap(part) && callTypes.has(part.type)
}

/** Some libraries return results in a message of the role of the user, who did not write them. */
function isAnswer(part: unknown): part is JsonMap {
  return isMap(part) && answerTypes.has(part.type)
}

function answerOf({ id, tool_use_id, toolCallId, result, response, content, output }: JsonMap) {
  return { id: idOf(id ?? tool_use_id ?? toolCallId), result: result ?? response ?? content ?? output ?? null }
}

function callOf({
  id,
  toolCallId,
  name,
  toolName,
  arguments: given,
  input,
  args,
  function: called,
}: JsonMap): ToolCall {
  const inner = isMap(called) ? called : {}
  return {
    id: idOf(id ?? toolCallId),
    name: idOf(name ?? toolName ?? inner.name) ?? 'tool',
    arguments: given ?? input ?? args ?? inner.arguments ?? null,
  }
}
