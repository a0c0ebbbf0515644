// The conditions of a request, in the spellings that clients use, and the configuration as events hold it.
import type { Action } from '@svc/schemas'

/** A single value as a list. */
export function listOf<T extends string | number>(given: T | readonly T[]): T[] {
  return [...new Set(typeof given === 'object' ? given : [given])]
}

/** A list, or null for all. */
export function listOrAll<T extends string | number>(given: T | readonly T[] | null | undefined): T[] | null {
  return given == null ? null : listOf(given)
}

/** The configuration in an event, which is kept for ever: of an address only where it leads. */
export function configInEvent(config: Action['config']): Action['config'] {
  return config.url === undefined ? config : { url: new URL(config.url).origin }
}
