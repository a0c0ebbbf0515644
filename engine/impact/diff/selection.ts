// Compares what two lists, filters or step kinds select. Every answer other than `other` holds for every step.
import { canonicalType, type JsonMap } from '@svc/schemas'
import type { Selector, StepKind } from '../../rules/form/params.js'
import { canBeAmbiguous } from '../../rules/selection/lookup.js'
import { sameJson } from '../../rules/values/members.js'

/** The selection of the second compared with the first. */
export type Comparison = 'same' | 'more' | 'fewer' | 'other'

/** Undefined selects everything. */
type Elements = readonly unknown[] | undefined

/** Compares lists as sets. */
export function compareLists(old: Elements, next: Elements): Comparison {
  const [before, after] = [old && keysOf(old), next && keysOf(next)]
  return comparison(isSubset(before, after), isSubset(after, before))
}

/** Equal texts for equal JSON values. */
export function keyOf(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/**
 * Compares filters. `ambiguous_counts`: a step with an ambiguous field is selected or violates, so that a condition on such a
 * field can select more steps than no condition.
 */
export function compareFilters(old: JsonMap = {}, next: JsonMap = {}, ambiguous_counts: boolean): Comparison {
  if (sameJson(old, next)) return 'same'
  return comparison(isWiderFilter(old, next, ambiguous_counts), isWiderFilter(next, old, ambiguous_counts))
}

/** Compares step types and selectors. */
export function compareKinds(old: StepKind, next: StepKind, ambiguous_counts: boolean): Comparison {
  const [before, after] = [selectorOf(old), selectorOf(next)]
  const parts = [
    compareLists(before.step_types, after.step_types),
    compareLists(before.verbs, after.verbs),
    compareLists(before.step_names, after.step_names),
    compareFilters(before.property_filter, after.property_filter, ambiguous_counts),
  ].filter((part) => part !== 'same')
  const [first = 'same'] = parts
  return parts.every((part) => part === first) ? first : 'other'
}

function selectorOf(kind: StepKind): Selector {
  const selector: Selector = typeof kind === 'string' ? { step_types: [kind] } : kind
  const { step_types } = selector
  return step_types === undefined ? selector : { ...selector, step_types: step_types.map(canonicalType) }
}

function comparison(is_more: boolean, is_fewer: boolean): Comparison {
  if (is_more && is_fewer) return 'same'
  if (is_more) return 'more'
  return is_fewer ? 'fewer' : 'other'
}

function keysOf(list: readonly unknown[]): ReadonlySet<string> {
  return new Set(list.map(keyOf))
}

function isSubset(part: ReadonlySet<string> | undefined, whole: ReadonlySet<string> | undefined): boolean {
  if (whole === undefined) return true
  return part !== undefined && [...part].every((key) => whole.has(key))
}

/** True if `wide` selects at least the steps that `narrow` selects. */
function isWiderFilter(narrow: JsonMap, wide: JsonMap, ambiguous_counts: boolean): boolean {
  const kept = Object.keys(wide)
  if (!kept.every((path) => Object.hasOwn(narrow, path) && isWiderCondition(narrow[path], wide[path]))) return false
  if (!ambiguous_counts) return true
  // Conditions are tested in their order, and an ambiguous field ends the test.
  const [dropped, shared] = [Object.keys(narrow).filter((path) => !kept.includes(path)), inOrderOf(narrow, kept)]
  return !dropped.some(canBeAmbiguous) && shared.every((path, index) => path === kept[index])
}

function inOrderOf(filter: JsonMap, paths: readonly string[]): string[] {
  return Object.keys(filter).filter((path) => paths.includes(path))
}

const operators = ['present', 'min', 'max', 'matches', 'not']

function isWiderCondition(narrow: unknown, wide: unknown): boolean {
  if (sameJson(narrow, wide)) return true
  const [before, after] = [operatorsIn(narrow), operatorsIn(wide)]
  if (before === null && after === null) return isSubset(keysOf(listOf(narrow)), keysOf(listOf(wide)))
  return before !== null && after !== null && Object.keys(after).every((name) => isWiderOperator(name, before, after))
}

/** The operators of a condition; null for values. */
function operatorsIn(condition: unknown): JsonMap | null {
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition)) return null
  return Object.keys(condition).some((key) => operators.includes(key)) ? (condition as JsonMap) : null
}

function isWiderOperator(name: string, narrow: JsonMap, wide: JsonMap): boolean {
  if (!Object.hasOwn(narrow, name)) return false
  if (name === 'min') return Number(wide.min) <= Number(narrow.min)
  if (name === 'max') return Number(wide.max) >= Number(narrow.max)
  if (name === 'not') return isSubset(keysOf(listOf(wide.not)), keysOf(listOf(narrow.not)))
  return sameJson(narrow[name], wide[name])
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}
