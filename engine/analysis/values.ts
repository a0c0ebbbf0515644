// Whether a value can meet several conditions. "Impossible" is a proof; everything else counts as possible.
import { numberIn } from '../rules/spelled.js'
import { areDisjoint, samplesOf } from './pattern-facts.js'
import type { Universe, ValueKind } from './universe.js'
import { type Condition, meets, type ValueTest } from './value-test.js'

/** A value, or one that stands for all values of its kind that no condition names. */
interface Candidate {
  readonly value: unknown
  readonly kind: ValueKind
  readonly general: boolean
}

/** True when no value meets all conditions. */
export function isImpossible(conditions: readonly Condition[], universe: Universe): boolean {
  if (conditions.length === 0) return false
  const closed = universe.values ?? choicesOf(conditions, universe)
  if (closed !== null) return !closed.some((value) => conditions.every((one) => meets(one, value)))
  if (universe.kinds.includes('string') && conditions.every(isOpen)) return false
  return !isPossible(conditions, universe)
}

/** The values among which a condition requires one; null where lists of them are possible, or none does. */
function choicesOf(conditions: readonly Condition[], universe: Universe): readonly unknown[] | null {
  for (const { test, negated } of conditions)
    if (test.op === 'one_of' && !negated && (test.lists === 'whole' || !universe.kinds.includes('list')))
      return test.values.flatMap(spellingsOf).filter((value) => isOfUniverse(value, universe))
  return null
}

/** The value, and the other types in which conditions of filters accept it. */
function spellingsOf(value: unknown): unknown[] {
  if (typeof value === 'number' || typeof value === 'boolean') return [value, String(value)]
  if (typeof value !== 'string') return [value]
  const number = numberIn(value)
  return [
    value,
    ...(number === undefined ? [] : [number]),
    ...(/^(?:true|false)$/i.test(value) ? [/t/i.test(value)] : []),
  ]
}

/** Met by every text that no condition names. */
function isOpen({ test, negated }: Condition): boolean {
  return test.op === 'present' ? !negated : negated && test.op !== 'matches'
}

function isOfUniverse(value: unknown, { kinds }: Universe): boolean {
  return kinds.includes(kindOf(value))
}

function isPossible(conditions: readonly Condition[], universe: Universe): boolean {
  const listed = named(conditions)
  const points = numberPoints(conditions, listed)
  const texts_conflict = patternsConflict(conditions)
  const candidates = [...scalarCandidates(listed, points), ...wholeCandidates(listed)]
  const is_text = ({ general, kind }: Candidate) => general && (kind === 'string' || kind === 'number')
  const fits = (candidate: Candidate) =>
    universe.kinds.includes(candidate.kind) &&
    (candidate.general || isOfUniverse(candidate.value, universe)) &&
    // Two patterns may exclude each other where neither is false alone.
    !(is_text(candidate) && texts_conflict) &&
    conditions.every((one) => couldMeet(one, candidate))
  return candidates.some(fits) || (universe.kinds.includes('list') && listIsPossible(conditions, candidates))
}

/** A value that meets all conditions; undefined when none was found. */
export function sampleOf(conditions: readonly Condition[], universe: Universe): unknown {
  const listed = named(conditions)
  const elements = [...listed, ...textSamples(conditions), ...numberPoints(conditions, listed).flatMap(around)]
  const known = universe.values ?? [...elements, null, 'example', 1, true, false, { member: 'example' }]
  const lists = universe.values === undefined ? [[...elements], ...elements.map((one) => [one])] : []
  const fits = (value: unknown) =>
    (universe.values !== undefined || isOfUniverse(value, universe)) && conditions.every((one) => meets(one, value))
  return [...known, ...lists].find(fits)
}

function kindOf(value: unknown): ValueKind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  const type = typeof value
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'object'
}

/** The values that the conditions name, elements of lists included. */
function named(conditions: readonly Condition[]): unknown[] {
  return conditions.flatMap(({ test }) =>
    test.op === 'one_of' ? test.values.flatMap((value) => (Array.isArray(value) ? [value, ...value] : [value])) : [],
  )
}

function numberPoints(conditions: readonly Condition[], listed: readonly unknown[]): number[] {
  const bounds = conditions.flatMap(({ test }) => (test.op === 'within' ? [test.min, test.max] : []))
  const numbers = listed.filter((value) => typeof value === 'number')
  return [...new Set([...bounds, ...numbers])].filter(Number.isFinite).sort((a, b) => a - b)
}

function around(point: number): number[] {
  return [point, Math.ceil(point) + 1, Math.floor(point) - 1, point + 0.5]
}

function textSamples(conditions: readonly Condition[]): string[] {
  return conditions.flatMap(({ test }) => (test.op === 'matches' ? samplesOf(test.pattern) : []))
}

function scalarCandidates(listed: readonly unknown[], points: readonly number[]): Candidate[] {
  const scalars = listed.filter((value) => typeof value !== 'object').flatMap(spellingsOf)
  const exact = [null, true, false, ...scalars, ...points]
  return [
    ...exact.map((value) => ({ value, kind: kindOf(value), general: false })),
    ...gaps(points).map((value) => ({ value, kind: 'number' as const, general: true })),
    { value: freshText(scalars), kind: 'string', general: true },
  ]
}

/** A number between each two points, and one on either side. */
function gaps(points: readonly number[]): number[] {
  const [first] = points
  const last = points.at(-1)
  if (first === undefined || last === undefined) return [0.123456]
  const between = points.slice(1).map((point, index) => (point + (points[index] ?? point)) / 2)
  return [below(first), ...between, above(last)].filter((one) => Number.isFinite(one) && !points.includes(one))
}

function below(point: number): number {
  return point - Math.max(1, Math.abs(point))
}

function above(point: number): number {
  return point + Math.max(1, Math.abs(point))
}

function freshText(listed: readonly unknown[]): string {
  let text = 'x'
  while (listed.includes(text)) text += 'x'
  return text
}

/** Maps and lists as whole values. */
function wholeCandidates(listed: readonly unknown[]): Candidate[] {
  const whole = listed.filter((value) => typeof value === 'object' && value !== null)
  return [
    ...whole.map((value) => ({ value, kind: kindOf(value), general: false })),
    { value: { x: 'x' }, kind: 'object', general: true },
  ]
}

/** False only when the candidate, or all that it stands for, fails the condition. */
function couldMeet({ test, negated }: Condition, { value, kind, general }: Candidate): boolean {
  if (!general || test.op !== 'matches' || kind === 'object') return meets({ test, negated }, value)
  const { always, never } = test.facts
  return negated ? !always : !never
}

function patternsConflict(conditions: readonly Condition[]): boolean {
  const patterns = conditions.flatMap(({ test, negated }) =>
    test.op === 'matches' ? [{ pattern: test.pattern, negated }] : [],
  )
  return patterns.some((a, index) =>
    patterns
      .slice(index + 1)
      .some((b) =>
        a.negated === b.negated ? !a.negated && areDisjoint(a.pattern, b.pattern) : a.pattern === b.pattern,
      ),
  )
}

/** Whether a list can meet the conditions, by the elements that it can have. */
function listIsPossible(conditions: readonly Condition[], elements: readonly Candidate[]): boolean {
  const usable = elements.filter((element) => conditions.every((one) => elementIsAllowed(one, element)))
  if (patternsConflict(conditions.filter(({ test }) => test.op === 'matches' && test.lists === 'whole'))) return false
  const has_elements = conditions.some(({ test, negated }) => !negated && test.op !== 'present')
  return conditions.every(({ test, negated }) => {
    if (test.op === 'present') return !negated
    if (negated && test.op === 'one_of' && test.lists === 'every')
      return !has_elements || usable.some((element) => couldMeet({ test, negated: true }, element))
    if (negated) return !(test.op === 'matches' && isNegatedBeside(test, conditions))
    if (test.op === 'matches') return !test.facts.never
    if (test.lists === 'whole') return false
    return usable.some((element) => couldMeet({ test, negated: false }, element))
  })
}

function isNegatedBeside(test: Extract<ValueTest, { op: 'matches' }>, conditions: readonly Condition[]): boolean {
  return conditions.some(
    (other) =>
      !other.negated &&
      other.test.op === 'matches' &&
      other.test.pattern === test.pattern &&
      (other.test.lists === test.lists || test.lists === 'some'),
  )
}

/** Whether a list that meets the condition can have the element. */
function elementIsAllowed({ test, negated }: Condition, element: Candidate): boolean {
  if (test.op === 'present') return true
  if (test.lists === 'some' && negated) return couldMeet({ test, negated: true }, element)
  if (test.op === 'one_of' && test.lists === 'every' && !negated) return couldMeet({ test, negated: false }, element)
  return true
}
