// The values of a changed policy: from the leaf of its event, and from a comparison of two versions.
import { type PolicyChange, valuesInWords } from '@svc/engine/parts'
import { isMap } from '@svc/proof'
import type { PolicyChangeResult, PolicyValues } from '../../content/report-data.js'
import { textOf } from '../leaves.js'

/** Characters of an old and a new value. */
const maxWords = 300
/** Values of one policy. */
const maxValues = 50

const effects = ['stricter', 'looser', 'changed', 'none'] as const
const isEffect = (value: unknown): value is PolicyChangeResult['effect'] => effects.some((one) => one === value)

/** A change as an event of an assignment holds it; none for another value. */
export function loggedChange(value: unknown): PolicyValues[] {
  if (!isMap(value) || typeof value.name !== 'string' || !Array.isArray(value.values)) return []
  const { name, old_name, change } = value
  if (change !== 'added' && change !== 'removed' && !isEffect(change)) return []
  const values = (value.values as unknown[]).flatMap((one) => {
    if (!isMap(one) || typeof one.path !== 'string' || typeof one.what !== 'string' || !isEffect(one.effect)) return []
    return [{ path: one.path, what: one.what, effect: one.effect }]
  })
  return [{ name, old_name: textOf(old_name), change, values }]
}

/** A change that a comparison found. */
export function wordsOf({ name, old_name, change, members }: PolicyChange): PolicyValues {
  const values = members.slice(0, maxValues).map(({ path, old, new: next, effect }) => {
    const characters = [...valuesInWords(old, next)]
    const what = characters.length > maxWords ? `${characters.slice(0, maxWords).join('')}…` : characters.join('')
    return { path, what, effect }
  })
  return { name, old_name: old_name ?? null, change, values }
}
