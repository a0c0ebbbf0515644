// Readings of one step that rules of a policy set share, computed once for each evaluation. Content rules that read one field
// share one pass over its texts: the union of their patterns finds the few texts that a single pattern can match.
import { type Matcher, type Search, unionOf } from '../../pattern/pattern.js'
import { someText } from '../values/text.js'
import type { Reading, Readings } from './rule.js'

/** The readings of one policy set. A reading that throws is computed again by the next rule, which throws as well. */
export function newReadings(): Readings {
  const known = new Map<string, Reading<unknown>>()
  const searches = new Map<string, Search[]>()
  const once = <T>(key: string, read: Reading<T>): Reading<T> => {
    const reading = known.get(key) ?? stored(known.size, read)
    known.set(key, reading)
    return reading as Reading<T>
  }
  return {
    once,
    search: (path, get, keys, own) => {
      const key = `texts ${keys ? 'and keys ' : ''}${path}`
      const ofField = searches.get(key) ?? []
      searches.set(key, ofField)
      ofField.push(...own)
      let union: Matcher | undefined
      return once(key, (context) => {
        // Compiled for the first step, when all policies have added their searches.
        union ??= unionOf(ofField)
        return textsIn(get(context), keys, union)
      })
    },
  }
}

function stored<T>(index: number, read: Reading<T>): Reading<T> {
  return (context) => {
    const { readings } = context
    if (readings === undefined) return read(context)
    const known = readings[index] as T | undefined
    if (known !== undefined) return known
    const value = read(context)
    readings[index] = value
    return value
  }
}

function textsIn(value: unknown, keys: boolean, isPossible: Matcher): readonly string[] {
  const found: string[] = []
  someText(value, keys, (text) => {
    if (isPossible(text)) found.push(text)
    return false
  })
  return found
}
