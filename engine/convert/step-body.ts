// The parts of steps that all formats have in common.
import type { Behavior, JsonMap } from '@svc/schemas'
import { readable, shallow } from './exact.js'
import type { ToolCall } from './transcript.js'

/** A step without the members that place it in its task. */
export type Body = Pick<Behavior, 'step_type' | 'verb' | 'step_name' | 'input' | 'output' | 'properties' | 'meta'>

export const withUser = { counterpart: { kind: 'user' } }

/** True for content that is a message. */
export function hasText(content: unknown): boolean {
  return Array.isArray(content) ? content.length > 0 : typeof content === 'string' && content.trim() !== ''
}

/** A call as the output of the model's step shows it. */
export function callView(call: ToolCall): JsonMap {
  return { id: call.id, name: call.name, arguments: argumentsOf(call) }
}

/** The `tool` of the map wins over the id, which the model's turn has as well. */
export function callId(call_id: string, tool: unknown): JsonMap {
  if (tool === undefined) return { tool: { call_id } }
  const isMap = typeof tool === 'object' && tool !== null && !Array.isArray(tool)
  return isMap ? { tool: { call_id, ...tool } } : {}
}

/** Arguments as an object; arguments that cannot be read exactly stay text. */
export function argumentsOf({ arguments: given }: ToolCall): JsonMap {
  const value = readable(given)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonMap
  return value === null || value === '' ? {} : { arguments: value }
}

/** The members, each nested no deeper than a step may have it. */
export function eachShallow(members: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [key, shallow(value)]))
}
