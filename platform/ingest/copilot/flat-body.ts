// A flat body with members in many spellings: what is asked for is taken, and the rest stays.
import { readable } from '@svc/engine/parts'
import { isMap } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'

/** The members of a body that are not taken yet. */
export interface FlatBody {
  /** The first of the values under these names that `read` accepts; each is written in lower case without separators. */
  readonly take: <T>(names: readonly string[], read: (value: unknown) => T | null) => T | null
  /** The value that `take` found under these names and could not use; null where there is none. */
  readonly unusable: (names: readonly string[]) => unknown
  readonly rest: () => JsonMap
}

/** A member whose value is null counts as absent. */
export function flatBody(body: JsonMap): FlatBody {
  const left = new Map(Object.entries(body).filter(([, value]) => value !== null))
  return {
    take: (names, read) => {
      for (const name of names)
        for (const [key, given] of left) {
          const value = plain(key) === name ? read(given) : null
          if (value === null) continue
          left.delete(key)
          return value
        }
      return null
    },
    unusable: (names) => [...left].find(([key]) => names.includes(plain(key)))?.[1] ?? null,
    rest: () => Object.fromEntries(left),
  }
}

/** A name in lower case without separators. */
export function plain(key: string): string {
  return key.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** Text that is not empty, or a number as text; also alone in a list. */
export function textIn(value: unknown): string | null {
  if (Array.isArray(value) && value.length === 1 && !Array.isArray(value[0])) return textIn(value[0])
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

/** An id, or the id of an object. */
export function idIn(value: unknown): string | null {
  return textIn(isMap(value) ? value.id : value)?.trim() ?? null
}

/** A message, or the text of one. */
export function messageIn(value: unknown): string | null {
  return textIn(isMap(value) ? (value.text ?? value.content) : value)
}

/** An object, also as JSON text that all readers understand alike; null for another value. */
export function mapIn(value: unknown): JsonMap | null {
  const given = typeof value === 'string' ? readable(value) : value
  return isMap(given) ? given : null
}

/** An object for any value. */
export function payloadIn(value: unknown): JsonMap {
  return mapIn(value) ?? (Array.isArray(value) ? { items: value } : { text: value })
}

/** A whole number from 1, also as text. */
export function numberIn(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value.trim()) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 1 ? number : null
}

export function booleanIn(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  const word = String(value).toLowerCase()
  return word === 'true' ? true : word === 'false' ? false : null
}
