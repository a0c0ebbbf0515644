// Reads members of payloads, whose values are checked where they are used.

export type Payload = Readonly<Record<string, unknown>>

/** The member of a payload that is an object; an empty one for other values. */
export function objectIn(payload: Payload, name: string): Payload {
  const value = Object.hasOwn(payload, name) ? payload[name] : undefined
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Payload) : {}
}

/** An id or a number of GitHub; null for other values. */
export function idIn(payload: Payload, name = 'id'): number | null {
  const value = payload[name]
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null
}

/** Text; null for other values. */
export function textIn(payload: Payload, name: string): string | null {
  const value = payload[name]
  return typeof value === 'string' ? value : null
}

/** The SHA of a commit; null for other values. */
export function shaIn(payload: Payload, name: string): string | null {
  const value = textIn(payload, name)
  return value !== null && /^[0-9a-f]{40}$/.test(value) ? value : null
}
