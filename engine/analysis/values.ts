// Tells if a value can meet several conditions, tried with one example of each kind of value that the conditions tell apart.
// "Impossible" is a proof; everything else counts as possible.
import { numberIn } from '../rules/values/spelled.js'
import { areDisjoint } from './pattern-facts.js'
import type { Universe, ValueKind } from './universe.js'
import { type Condition, couldMeet, meets } from './value-test.js'

/** True when no value meets all conditions. */
export function isImpossible(conditions: readonly Condition[], universe: Universe): boolean {
  if (conditions.length === 0) return false
  const closed = universe.values ?? choicesOf(conditions, universe)
  if (closed !== null) return !closed.some((value) => conditions.every((one) => meets(one, value)))
  if (patternsConflict(conditions, universe)) return true
  return !examplesFor(conditions, universe, couldMeet).some((value) => conditions.every((one) => couldMeet(one, value)))
}

/** A value that meets all conditions; undefined when none was found. */
export function sampleOf(conditions: readonly Condition[], universe: Universe): unknown {
  const known = universe.values ?? examplesFor(conditions, universe, meets)
  return known.find((value) => conditions.every((one) => meets(one, value)))
}

/** The values among which a condition requires one; null where lists of them are possible, or none does. */
function choicesOf(conditions: readonly Condition[], universe: Universe): readonly unknown[] | null {
  const has_lists = universe.kinds.includes('list')
  const { test } =
    conditions.find(({ test, negated }) => test.choices && !negated && (test.lists === 'whole' || !has_lists)) ?? {}
  return test?.choices?.flatMap(spellingsOf).filter((value) => universe.kinds.includes(kindOf(value))) ?? null
}

/** The value, and the other types in which conditions of filters accept it. */
function spellingsOf(value: unknown): unknown[] {
  if (typeof value === 'number' || typeof value === 'boolean') return [value, String(value)]
  const number = numberIn(value)
  const flag = typeof value === 'string' && /^(?:true|false)$/i.test(value) ? [/t/i.test(value)] : []
  return [value, ...(number === undefined ? [] : [number]), ...flag]
}

type Meets = (condition: Condition, value: unknown) => boolean

function examplesFor(conditions: readonly Condition[], { kinds }: Universe, isMet: Meets): unknown[] {
  const named = conditions.flatMap(({ test }) => test.choices ?? test.examples ?? [])
  const elements = named.flatMap((value) => (Array.isArray(value) ? [value, ...value] : [value])).flatMap(spellingsOf)
  const bounds = [...elements, ...conditions.flatMap(({ test }) => test.bounds ?? [])]
  const numbers = numbersAround(bounds.filter((one): one is number => Number.isFinite(one))).flatMap(spellingsOf)
  const scalars = [...elements, ...numbers, null, freshText(elements), 1, true, false, { member: 'example' }]
  return [...scalars, ...listsOf(scalars, conditions, isMet)].filter((value) => kinds.includes(kindOf(value)))
}

function kindOf(value: unknown): ValueKind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  const type = typeof value
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'object'
}

/** The points, one number between each two, and one on either side. */
function numbersAround(points: readonly number[]): number[] {
  const sorted = [...new Set(points)].sort((a, b) => a - b)
  const [first, last] = [sorted[0], sorted.at(-1)]
  if (first === undefined || last === undefined) return []
  const between = sorted.slice(1).map((point, index) => (point + (sorted[index] ?? point)) / 2)
  const step = (point: number) => Math.max(1, Math.abs(point))
  return [...sorted, Math.ceil(first) + 1, last + step(last), first - step(first), ...between]
}

function freshText(listed: readonly unknown[]): string {
  let text = 'example'
  while (listed.includes(text)) text += 'x'
  return text
}

/**
 * The longest lists that meet the conditions on every element: another element can only help the conditions that one element
 * meets.
 */
function listsOf(elements: readonly unknown[], conditions: readonly Condition[], isMet: Meets): unknown[] {
  const on_every = conditions.filter(({ test, negated }) => test.lists === (negated ? 'some' : 'every'))
  const usable = elements.filter((one) => on_every.every((condition) => isMet(condition, [one])))
  const scalars = usable.filter((one) => one !== null && typeof one !== 'object')
  return [...scalars.map((one) => [one]), usable, scalars, [...scalars, ...scalars], []]
}

/** Patterns that exclude each other, where neither is impossible alone. */
function patternsConflict(conditions: readonly Condition[], { kinds }: Universe): boolean {
  const is_text = (lists: string) => lists === 'whole' || !kinds.includes('list')
  const patterns = conditions.flatMap(({ test: { pattern, lists }, negated }) =>
    pattern === undefined ? [] : [{ pattern, lists, negated }],
  )
  const [positive, negative] = [patterns.filter((one) => !one.negated), patterns.filter((one) => one.negated)]
  return positive.some(
    (a, index) =>
      negative.some((b) => a.pattern === b.pattern && (a.lists === b.lists || b.lists === 'some')) ||
      positive.slice(index + 1).some((b) => is_text(a.lists) && is_text(b.lists) && areDisjoint(a.pattern, b.pattern)),
  )
}
