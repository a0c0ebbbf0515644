// Matches tool calls with their answers.
import type { Message, ToolCall } from './transcript.js'

export interface Answers {
  /** The answer to a call in the message at index `at`, returned only once; null if there is no answer. */
  readonly take: (call: ToolCall, at: number) => Message | null
  /** True for a message that was taken. */
  readonly taken: (message: Message) => boolean
}

/**
 * Finds answers by the id of the call, or by the name of the tool when the call or the answer has no id. Calls must be
 * taken in the order of the transcript. The cost of a lookup does not depend on the length of the transcript.
 */
export function answersIn(messages: readonly Message[]): Answers {
  const waiting = new Map<string, number[]>()
  for (const [index, message] of messages.entries()) {
    for (const key of keysOf(message)) {
      const queue = waiting.get(key)
      if (queue === undefined) waiting.set(key, [index])
      else queue.push(index)
    }
  }
  // Queues are read from their end, where removal is cheap.
  for (const queue of waiting.values()) queue.reverse()
  const taken = new Set<Message>()

  const firstAfter = (at: number, key: string): Message | null => {
    const queue = waiting.get(key) ?? []
    for (let index = queue.pop(); index !== undefined; index = queue.pop()) {
      const message = messages[index]
      if (index > at && message !== undefined && !taken.has(message)) return message
    }
    return null
  }

  return {
    take: ({ id, name }, at) => {
      const message = id === null ? firstAfter(at, `name ${name}`) : byId(firstAfter, at, id, name)
      if (message !== null) taken.add(message)
      return message
    },
    taken: (message) => taken.has(message),
  }
}

function byId(firstAfter: (at: number, key: string) => Message | null, at: number, id: string, name: string) {
  return firstAfter(at, `id ${id}`) ?? firstAfter(at, `bare ${name}`)
}

function keysOf({ role, tool_call_id, name }: Message): string[] {
  if (role !== 'tool' && role !== 'function') return []
  const keys = tool_call_id === null ? [] : [`id ${tool_call_id}`]
  if (name !== null) keys.push(`name ${name}`)
  if (name !== null && tool_call_id === null) keys.push(`bare ${name}`)
  return keys
}
