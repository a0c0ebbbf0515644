// The strings inside a value, at any depth.
import type { JsonMap } from '../steps.js'

/**
 * True as soon as `visit` is, which sees each string inside the value in no particular order; keys too when asked.
 * Nothing recursive: a value can be nested as deep as it likes.
 */
export function someString(value: unknown, keys: boolean, visit: (text: string) => boolean): boolean {
  if (typeof value === 'string') return visit(value)
  if (typeof value !== 'object' || value === null) return false
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const item = pending.pop()
    if (typeof item === 'string') {
      if (visit(item)) return true
    } else if (Array.isArray(item)) {
      for (let index = 0; index < item.length; index++) pending.push(item[index])
    } else if (typeof item === 'object' && item !== null) {
      for (const key of Object.keys(item)) {
        if (keys && visit(key)) return true
        pending.push((item as JsonMap)[key])
      }
    }
  }
  return false
}
