// The text of a field, the same for every rule that reads text.
import type { JsonMap } from '@svc/schemas'

/**
 * The value as one text: a string itself, numbers and booleans as JSON writes them, a list of these joined by single
 * spaces, as in a command line. Null for every other value.
 */
export function textOf(value: unknown): string | null {
  if (!Array.isArray(value)) return isScalar(value) ? String(value) : null
  return value.every(isScalar) ? value.join(' ') : null
}

/**
 * True when `visit` returns true for a text inside the value, in no particular order: strings, numbers and booleans, lists
 * of them joined, and keys when `keys` is set. It is not recursive, because the depth of a value is unlimited.
 */
export function someText(value: unknown, keys: boolean, visit: (text: string) => boolean): boolean {
  const pending: object[] = []
  const isVisited = (item: unknown) => {
    if (typeof item === 'string') return visit(item)
    if (typeof item !== 'object') return isScalar(item) && visit(String(item))
    if (item !== null) pending.push(item)
    return false
  }
  if (isVisited(value)) return true
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    if (Array.isArray(item)) {
      if (item.length > 1 && item.every(isScalar) && visit(item.join(' '))) return true
      for (let index = 0; index < item.length; index++) if (isVisited(item[index])) return true
    } else {
      for (const key of Object.keys(item)) if ((keys && visit(key)) || isVisited((item as JsonMap)[key])) return true
    }
  }
  return false
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** True when `visit` returns true for a string inside the value, in no particular order. */
export function someString(value: unknown, visit: (text: string) => boolean): boolean {
  if (typeof value === 'string') return visit(value)
  if (typeof value !== 'object' || value === null) return false
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const item = pending.pop()
    if (typeof item === 'string') {
      if (visit(item)) return true
    } else if (typeof item === 'object' && item !== null) {
      for (const member of Object.values(item)) pending.push(member)
    }
  }
  return false
}
