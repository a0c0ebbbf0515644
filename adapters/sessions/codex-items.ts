// The items of a conversation of Codex: messages, reasoning, calls and their outputs.

import { idOf } from '@svc/engine/parts'
import { isMap } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import { type Act, type CallAct, otherLine, type ResultAct } from './act.js'
import { type CodexAnswers, createCodexAnswers } from './codex-answers.js'
import { codexResult } from './codex-results.js'
import { createUserMessages, type ItemReading, type UserMessages } from './codex-user.js'
import { contentOf, nameOf } from './content.js'

const types: ReadonlySet<unknown> = new Set([
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'web_search_call',
  'tool_search_call',
  'tool_search_output',
  'image_generation_call',
])

/** True for an item, which older files have as a line. */
export function isItem({ type, role, content, call_id, id, encrypted_content }: JsonMap): boolean {
  if (!types.has(type)) return false
  return type === 'message'
    ? typeof role === 'string' && content !== undefined
    : call_id !== undefined || id !== undefined || type !== 'reasoning' || encrypted_content !== undefined
}

export interface CodexItems {
  readonly read: (item: JsonMap) => ItemReading
  readonly answers: CodexAnswers
  readonly messages: UserMessages
  /** The acts after the messages of the user that came before them. */
  readonly after: (...acts: readonly Act[]) => ItemReading
  /** The time of the line, which its message may be held back from. */
  readonly setTime: (time: number | null) => void
  readonly hasCall: (id: string) => boolean
}

export function createCodexItems(): CodexItems {
  const answers = createCodexAnswers()
  const messages = createUserMessages()
  const calls = createRecent()
  let time: number | null = null

  /** The act of the model, after the messages before it. */
  const done = (...acts: readonly Act[]): ItemReading => {
    const { acts: before, others } = messages.release()
    return { acts: [...before, ...acts], others }
  }
  const message = ({ role, content }: JsonMap): ItemReading => {
    if (role === 'assistant') {
      const text = contentOf(content)
      return done(answers.part(typeof text === 'string' ? { texts: [text] } : { blocks: [text] }))
    }
    if (role !== 'user') return { acts: [], others: [otherLine(`message ${nameOf(role)}`, true)] }
    answers.end()
    return messages.hold(content, time)
  }

  return {
    answers,
    messages,
    after: done,
    hasCall: calls.has,
    setTime: (at) => {
      time = at
    },
    read: (item) => {
      const { type } = item
      if (type === 'message') return message(item)
      if (type === 'reasoning') return done(answers.part({ reasoning: reasoningIn(item) }))
      const call = callOf(item)
      if (call !== null) {
        if (call.id !== null) calls.add(call.id)
        return done(answers.part({}), call, ...endOf(item, call.id))
      }
      if (typeof type === 'string' && /_(?:output|result)$/.test(type)) {
        answers.end()
        return done(codexResult(item))
      }
      return { acts: [], others: [otherLine(`response_item ${nameOf(type)}`, types.has(type))] }
    },
  }
}

/** Calls that the service of the model carries out have no output of their own. */
function endOf({ type, status }: JsonMap, id: string | null): ResultAct[] {
  if (type !== 'web_search_call' && type !== 'image_generation_call') return []
  return [codexResult({ call_id: id, output: status ?? null })]
}

function callOf(item: JsonMap): CallAct | null {
  const id = idOf(item.call_id) ?? idOf(item.id)
  switch (item.type) {
    case 'function_call':
      return { kind: 'call', id, name: toolNameOf(item), input: item.arguments ?? null }
    case 'custom_tool_call':
      return { kind: 'call', id, name: toolNameOf(item), input: item.input ?? null }
    case 'local_shell_call':
      return { kind: 'call', id, name: 'local_shell', input: item.action ?? null }
    case 'tool_search_call':
      return { kind: 'call', id, name: 'tool_search', input: item.arguments ?? null }
    case 'image_generation_call':
      return { kind: 'call', id, name: 'image_generation', input: { prompt: item.revised_prompt ?? null } }
    case 'web_search_call':
      return { kind: 'call', id, name: 'web_search', input: item.action ?? null }
    default:
      return null
  }
}

const maxNamespace = 200

/** Tools of a server have its name in front. */
function toolNameOf({ name, namespace }: JsonMap): string {
  const own = nameOf(name)
  if (typeof namespace !== 'string' || !namespace.startsWith('mcp__')) return own
  return nameOf(`${namespace.slice(0, maxNamespace).replace(/_+$/, '')}__${own}`)
}

function reasoningIn({ summary, content }: JsonMap): string[] {
  const blocks = [...(Array.isArray(summary) ? summary : []), ...(Array.isArray(content) ? content : [])]
  return blocks.flatMap((block) => (isMap(block) && typeof block.text === 'string' ? [block.text] : []))
}

const maxRecent = 10_000

/** Ids of calls in memory, to know which events repeat them. */
function createRecent() {
  const ids = new Set<string>()
  return {
    has: (id: string) => ids.has(id),
    add: (id: string) => {
      ids.add(id)
      const [oldest] = ids
      if (ids.size > maxRecent && oldest !== undefined) ids.delete(oldest)
    },
  }
}
