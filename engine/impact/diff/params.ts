// The parameters of a rule that differ, each with its direction.
import type { JsonMap } from '@svc/schemas'
import type { StepKind } from '../../rules/form/params.js'
import type { RuleDescription } from '../../rules/form/rule.js'
import type { Absent, Direction, Order, Ordered } from '../../rules/form/stricter.js'
import { directionsOf, paramsSchema } from '../../rules/registry.js'
import { sameJson } from '../../rules/values/members.js'
import { type Effect, inverted, type MemberChange } from './result.js'
import { type Comparison, compareFilters, compareKinds, compareLists } from './selection.js'

/** A parameter that differs; `alone`: its direction holds outside `any_of` and `not` only. */
export interface ParamChange extends MemberChange {
  readonly alone: boolean
}

/** The parameters of one rule that differ in more than their spelling. Paths are the names of the parameters. */
export function diffParams(rule: RuleDescription, old: JsonMap, next: JsonMap): ParamChange[] {
  const isKind = (name: string) => paramsSchema(rule).properties[name]?.properties !== undefined
  const [before, after] = rule.targets === false ? [old, next] : [withOneVerbList(old), withOneVerbList(next)]
  const directions = directionsOf(rule)
  const together = rule.together?.(before, after) ?? 'changed'
  return diffMembers(directions, before, after, isKind).flatMap((change) => {
    if (directions[change.path] !== 'together') return [change]
    return together === 'same' ? [] : [{ ...change, effect: together }]
  })
}

/** The members that differ; `isKind`: the member selects steps by a step type or a selector, not by a filter. */
export function diffMembers(
  directions: Readonly<Record<string, Direction>>,
  old: JsonMap,
  next: JsonMap,
  isKind: (name: string) => boolean = () => false,
): ParamChange[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])]
  return names.flatMap((path) => {
    const direction = Object.hasOwn(directions, path) ? directions[path] : undefined
    const ordered = orderedOf(direction ?? 'none')
    const [before, after] = [given(ordered, old, path), given(ordered, next, path)]
    if (isSame(before, after)) return []
    const effect = effectOf(ordered.stricter, before, after, isKind(path))
    return effect === 'none' ? [] : [{ path, ...valuesOf(old, next, path), effect, alone: ordered.alone === true }]
  })
}

/** Both verbs of a target filter are one list: a step with any of them is a target. */
function withOneVerbList({ target_verb, ...params }: JsonMap): JsonMap {
  if (target_verb === undefined) return params
  return { ...params, target_verbs: [...((params.target_verbs as readonly unknown[] | undefined) ?? []), target_verb] }
}

/** The old and the new value; a missing one is left out. */
export function valuesOf(old: JsonMap, next: JsonMap, name: string): Pick<MemberChange, 'old' | 'new'> {
  return {
    ...(Object.hasOwn(old, name) && { old: old[name] }),
    ...(Object.hasOwn(next, name) && { new: next[name] }),
  }
}

function orderedOf(direction: Direction): Ordered {
  if (typeof direction === 'object') return direction
  return { stricter: direction === 'conditions' || direction === 'together' ? 'none' : direction }
}

/** The meaning of a parameter: its value, or the meaning of its absence. */
function given({ absent = 'all' }: Ordered, params: JsonMap, name: string): Absent {
  if (Object.hasOwn(params, name)) return { value: params[name] }
  return typeof absent === 'function' ? absent(params) : absent
}

function isSame(old: Absent, next: Absent): boolean {
  return typeof old === 'object' && typeof next === 'object' ? sameJson(old.value, next.value) : old === next
}

function effectOf(order: Order | 'none', old: Absent, next: Absent, is_kind: boolean): Effect {
  if (order === 'none' || old === 'other' || next === 'other') return 'changed'
  const [before, after] = [meaningOf(old), meaningOf(next)]
  switch (order) {
    case 'lower':
      return fromNumbers(Number(before ?? Number.POSITIVE_INFINITY), Number(after ?? Number.POSITIVE_INFINITY))
    case 'higher':
      return inverted(
        fromNumbers(Number(before ?? Number.NEGATIVE_INFINITY), Number(after ?? Number.NEGATIVE_INFINITY)),
      )
    case 'true':
      return after === true ? 'stricter' : 'looser'
    case 'more':
      return effectOfMore(compareLists(elementsOf(before), elementsOf(after)))
    case 'fewer':
      return inverted(effectOfMore(compareLists(elementsOf(before), elementsOf(after))))
    case 'wider':
      return effectOfMore(compareSelected(before, after, is_kind, true))
    case 'narrower':
      return inverted(effectOfMore(compareSelected(before, after, is_kind, false)))
  }
}

/** Undefined for everything. */
function meaningOf(absent: Absent): unknown {
  return typeof absent === 'object' ? absent.value : undefined
}

function fromNumbers(old: number, next: number): Effect {
  return next < old ? 'stricter' : 'looser'
}

function elementsOf(value: unknown): readonly unknown[] | undefined {
  return value === undefined || Array.isArray(value) ? value : [value]
}

function compareSelected(old: unknown, next: unknown, is_kind: boolean, ambiguous_counts: boolean): Comparison {
  // A selector without members still needs a step that it selects.
  if (is_kind && (old === undefined || next === undefined)) return old === undefined ? 'fewer' : 'more'
  if (is_kind) return compareKinds(old as StepKind, next as StepKind, ambiguous_counts)
  return compareFilters(old as JsonMap | undefined, next as JsonMap | undefined, ambiguous_counts)
}

function effectOfMore(comparison: Comparison): Effect {
  if (comparison === 'same') return 'none'
  if (comparison === 'other') return 'changed'
  return comparison === 'more' ? 'stricter' : 'looser'
}
