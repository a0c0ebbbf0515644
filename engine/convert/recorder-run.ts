// Runs as recorders of agent tests write them: the name of a called tool is text with `args` beside it, and content comes
// in blocks. Members that a run can do without may be absent.
import { isMap } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import { lazyCheck, type SchemaProblem } from '../check/schema-check.js'
import { readable } from './exact.js'
import { idOf, type Message, present, runOf, type ToolCall, type Transcript, type WrittenRun } from './transcript.js'

const call = {
  type: 'object',
  properties: { function: { type: 'string', minLength: 1 }, name: { type: 'string', minLength: 1 } },
  anyOf: [{ required: ['function'] }, { required: ['name'] }],
}

const check = lazyCheck({
  type: 'object',
  required: ['run_id', 'messages'],
  properties: {
    run_id: { type: ['string', 'integer'], minLength: 1 },
    messages: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        // Dumps of frameworks name the role `type`.
        anyOf: [{ required: ['role'] }, { required: ['type'] }],
        properties: {
          role: { type: 'string' },
          type: { type: 'string' },
          tool_calls: { type: ['array', 'null'], items: call },
          tool_call: { ...call, type: ['object', 'null'] },
        },
      },
    },
  },
})

/** The problems of a value that is not a run. */
export function recorderRunProblems(value: unknown): readonly SchemaProblem[] {
  const problems = check(value)
  return problems.length > 0 ? problems : blockProblems((value as WrittenRun).messages)
}

/** Blocks that hold calls belong to other formats; reading them as content would hide the calls. */
function blockProblems(messages: readonly JsonMap[]): SchemaProblem[] {
  return messages.flatMap(({ content }, index) => {
    const types = Array.isArray(content) ? content.map((block: unknown) => (isMap(block) ? block.type : null)) : []
    const found = types.find((type) => type === 'tool_use' || type === 'tool_result')
    if (found === undefined) return []
    const message = `has a block of type \`${String(found)}\`: a call must be in \`tool_calls\`, its answer in a message of the role \`tool\``
    return [{ path: ['messages', String(index), 'content'], at_key: false, message }]
  })
}

/** The run of a value without problems. */
export function recorderRun(value: unknown): Transcript {
  return runOf(value, (messages) => withCalls(messages.map(readMessage)))
}

const roles: ReadonlyMap<string, string> = new Map([
  ['ai', 'assistant'],
  ['function', 'tool'],
  ['human', 'user'],
])

function readMessage({ role: given, content, name, ...members }: JsonMap): Message {
  const { type, ...untyped } = members
  const others = given === undefined ? untyped : members
  const named = String(given ?? type)
  const role = roles.get(named) ?? named
  const message = {
    role,
    content: textOf(content) ?? content ?? null,
    tool_calls: [],
    tool_call_id: null,
    name: typeof name === 'string' && name !== '' ? name : null,
    extra: present({ ...others, ...(typeof name !== 'string' && { name }) }),
  }
  if (role === 'assistant') return assistantMessage(message)
  return role === 'tool' ? toolMessage(message) : message
}

/** The text of blocks that hold nothing else; null for other content. A block keeps its text in `text` or `content`. */
function textOf(content: unknown): string | null {
  if (!Array.isArray(content) || content.length === 0) return null
  const texts = content.map(blockText)
  return texts.every((text) => text !== null) ? texts.join('\n') : null
}

function blockText(block: unknown): string | null {
  if (typeof block === 'string') return block
  if (!isMap(block)) return null
  const { type = 'text', text, content, ...others } = present(block)
  const found = text ?? content
  const isText = type === 'text' && typeof found === 'string' && (text === undefined || content === undefined)
  return isText && Object.keys(others).length === 0 ? found : null
}

/** Blocks beside the text, such as the thinking of the model, are no message to the user. */
function assistantMessage(message: Message): Message {
  const { tool_calls, ...extra } = message.extra
  const calls = Array.isArray(tool_calls) ? (tool_calls as JsonMap[]) : []
  const blocks: unknown[] = Array.isArray(message.content) ? message.content : []
  const others = blocks.filter((block) => blockText(block) === null)
  const notes = calls.map(({ id, type, function: named, name, args, arguments: given, ...rest }) => present(rest))
  return {
    ...message,
    content: Array.isArray(message.content)
      ? textOf(blocks.filter((block) => blockText(block) !== null))
      : message.content,
    tool_calls: calls.map(readCall),
    extra: {
      ...extra,
      ...(others.length > 0 && { blocks: others }),
      ...(notes.some((note) => Object.keys(note).length > 0) && { tool_calls: notes }),
    },
  }
}

function toolMessage(message: Message): Message {
  const { tool_call_id, tool_call, error, ...extra } = message.extra
  const repeated = isMap(tool_call) ? readCall(tool_call) : null
  return {
    ...message,
    content: Array.isArray(message.content) && message.content.length === 0 ? null : message.content,
    tool_call_id: filled(idOf(tool_call_id)) ?? repeated?.id ?? null,
    name: message.name ?? repeated?.name ?? null,
    ...(repeated !== null && { repeated_call: repeated }),
    ...(error !== undefined && { error }),
    extra,
  }
}

function readCall({ id, function: named, name, args, arguments: given }: JsonMap): ToolCall {
  return { id: filled(idOf(id)), name: String(named ?? name), arguments: args ?? given ?? null }
}

/** An answer that names neither its call nor its tool answers the first open call. */
function withCalls(messages: readonly Message[]): Message[] {
  const open = createOpenCalls()
  return messages.map((message) => {
    for (const call of message.tool_calls) open.add(call)
    if (message.role !== 'tool') return message
    const { tool_call_id, name } = message
    if (tool_call_id !== null || name !== null)
      return keepingOther(message, open.take(`id ${tool_call_id}`) ?? open.take(`name ${name}`))
    const answered = open.take('any')
    return answered === null ? message : { ...message, tool_call_id: answered.id, name: answered.name }
  })
}

/** Calls without an answer so far. The cost of a lookup does not depend on the length of the run. */
function createOpenCalls() {
  const queues = new Map<string, { readonly calls: ToolCall[]; next: number }>()
  const answered = new Set<ToolCall>()
  const push = (key: string, call: ToolCall) => {
    const queue = queues.get(key)
    if (queue === undefined) queues.set(key, { calls: [call], next: 0 })
    else queue.calls.push(call)
  }
  return {
    add: (call: ToolCall) => {
      push('any', call)
      push(`name ${call.name}`, call)
      if (call.id !== null) push(`id ${call.id}`, call)
    },
    /** The first open call of a key, which is closed; null without an open call. */
    take: (key: string): ToolCall | null => {
      const queue = queues.get(key)
      for (
        let call = queue?.calls[queue.next];
        queue !== undefined && call !== undefined;
        call = queue.calls[queue.next]
      ) {
        queue.next++
        if (answered.has(call)) continue
        answered.add(call)
        return call
      }
      return null
    },
  }
}

/** A repeated call that differs from the call is evidence. */
function keepingOther(message: Message, call: ToolCall | null): Message {
  const { repeated_call, extra } = message
  if (call === null || repeated_call === undefined) return message
  const isSame = call.name === repeated_call.name && sameArguments(call, repeated_call)
  return isSame ? message : { ...message, extra: { ...extra, tool_call: { ...repeated_call } } }
}

function sameArguments(one: ToolCall, other: ToolCall): boolean {
  return JSON.stringify(readable(one.arguments)) === JSON.stringify(readable(other.arguments))
}

/** Recorders write an empty id where a model gave none. */
function filled(id: string | null): string | null {
  return id === '' ? null : id
}
