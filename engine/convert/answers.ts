// Which message answers which tool call.
import type { Message, ToolCall } from './transcript.js'

export interface Answers {
  /** The answer to a call made by the message at an index, which no later call gets again; null when there is none. */
  readonly take: (call: ToolCall, at: number) => Message | null
  /** True for a message that was taken. */
  readonly taken: (message: Message) => boolean
}

/**
 * Answers are found by the call's id; where the call or the answer has none, by the tool's name. Calls must be asked
 * for in the order of the transcript. Looking one up costs the same however long the transcript is.
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
  // Queues are read from their end, where removing costs nothing.
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
