import type { JsonMap } from '@svc/schemas'

/** True for an object that is not a list. */
export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
