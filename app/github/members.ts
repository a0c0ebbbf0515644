// Reads members of what GitHub sends, in answers and in payloads: every value is checked where it is used.

export type Members = Readonly<Record<string, unknown>>

/** The members of an object; none of other values. */
export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
}

/** The members of a member that is an object. */
export function objectIn(members: Members, name: string): Members {
  return membersOf(Object.hasOwn(members, name) ? members[name] : undefined)
}

/** An id or a number of GitHub; null for other values. */
export function idIn(members: Members, name = 'id'): number | null {
  const value = members[name]
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null
}

/** Text; null for other values. */
export function textIn(members: Members, name: string): string | null {
  const value = members[name]
  return typeof value === 'string' ? value : null
}

/** The SHA of a commit; null for other values. */
export function shaIn(members: Members, name: string): string | null {
  const value = textIn(members, name)
  return value !== null && /^[0-9a-f]{40}$/.test(value) ? value : null
}
