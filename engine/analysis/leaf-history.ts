// Formulas of the rules about the history, the time, and the flow of values.
import { canonicalType, type JsonMap } from '@svc/schemas'
import { quote } from '../check/quote.js'
import { kindPattern } from '../rules/kind.js'
import type { Selector, StepKind } from '../rules/params.js'
import { negation, together } from './formula.js'
import { byFact, byName, byNameWith, canonicalText, type Describe, type LeafFormulas } from './leaf.js'
import { forbiddenLevels, ownParams } from './leaf-fields.js'
import { atLeast, type CountFact, type HoursFact, type LastFact, named, opposite, type StepFacts } from './literal.js'
import { factsOfFilter, factsOfKind, factsOfPattern, gateFacts } from './step-facts.js'
import { universeOf } from './universe.js'

export const historyDescriptions: Readonly<Record<string, Describe>> = {
  step_directly_preceded_by: ({ required_step_type }) => {
    const last: LastFact = { kind: 'last', of: kindOf(required_step_type), negated: false }
    return byFact(last)
  },
  step_requires_predecessor: ({ required_step_type }) => byFact(atLeast(1, kindOf(required_step_type), true)),
  step_preceded_by_without_intervening: (params) =>
    byNameWith(nameOf('step_preceded_by_without_intervening', params), {
      pass: [atLeast(1, kindOf(params.required_step_type), true)],
    }),
  step_requires_dedicated_predecessor: (params) => {
    const filter = params.property_filter as JsonMap | undefined
    const kind = factsOfPattern(kindPattern(params.required_step_type as StepKind, { filter }))
    // The target is part of the name: it decides which steps use a predecessor up.
    const name = `step_requires_dedicated_predecessor ${canonicalText(params)}`
    return { ...byNameWith(name, { pass: [atLeast(1, kind, true)] }), applies: negation(together(kind)) }
  },
  step_requires_gate: ({ gate_check_type, max_age_steps, max_age_seconds }) =>
    byNameWith(`gate ${canonicalText([gate_check_type ?? null])}`, {
      bounds: [bound(max_age_steps), bound(max_age_seconds)],
      pass: [atLeast(1, gateFacts(gate_check_type as string | undefined))],
    }),
  gate_binds_action: ({ gate_check_type, binds, max_age_seconds, uses }) =>
    byNameWith(`bound gate ${canonicalText([gate_check_type ?? null, binds ?? null])}`, {
      bounds: [bound(max_age_seconds), bound(uses ?? (binds === undefined ? 1 : undefined))],
      pass: [atLeast(1, gateFacts(gate_check_type as string | undefined))],
    }),
  sequence_forbidden: (params) => {
    const kinds = (params.forbidden_sequence as readonly StepKind[]).map(factsOfKind)
    const earlier = kinds.slice(0, -1).map((kind) => atLeast(1, kind))
    const applies = together(kinds.at(-1) ?? [])
    const [only, ...others] = earlier
    if (only !== undefined && others.length === 0) return { ...byFact(opposite(only)), applies, forbids: true }
    const done = named(nameOf('sequence_forbidden', params))
    return { applies, passes: together([opposite(done)]), fails: together([done, ...earlier]), forbids: true }
  },
  step_not_after: ({ predecessor_step_type, predecessor_property_filter }) =>
    forbidsEarlier(predecessor_step_type, undefined, predecessor_property_filter),
  tainted_path_block: ({ taint_step_type, taint_verb, taint_property_filter }) =>
    forbidsEarlier(taint_step_type, taint_verb, taint_property_filter),
  history_contains: (params) =>
    byFact(atLeast(1, narrowed(params.step_type, params.verb, params.property_filter), true)),
  current_is: (params) => {
    const such = together(narrowed(params.step_type, params.verb, params.property_filter))
    return { passes: such, fails: negation(such) }
  },
  execution_max_steps: ({ step_type, max_steps }) => countBelow(step_type, Number(max_steps), 'history'),
  max_consecutive_same_type: ({ step_type, max_consecutive }) => countBelow(step_type, Number(max_consecutive), 'run'),
  usage_budget: ({ step_type, property_path, budget }) => {
    const { kinds, values = [] } = universeOf(String(property_path))
    const adds = kinds.includes('number') || values.some((value) => typeof value === 'number')
    const sum = named(`sum ${canonicalText([keyOf(step_type), property_path])}`, [Number(budget)])
    const has_limit = adds && budget !== Number.POSITIVE_INFINITY
    const applies = together(kindOf(step_type))
    const note = adds
      ? 'no sum exceeds its budget'
      : `${quote(String(property_path))} is never a number, so that nothing adds up`
    return { applies, passes: together([sum]), fails: has_limit ? together([opposite(sum)]) : [], note }
  },
  step_rate_limit: ({ step_type, max_steps, window_seconds }) => ({
    ...byNameWith(`rate ${keyOf(step_type)}`, {
      bounds: [Number(max_steps), -Number(window_seconds)],
      fail: [atLeast(Number(max_steps), kindOf(step_type))],
    }),
    applies: together(kindOf(step_type)),
  }),
  working_hours_only: (params) => byFact(openHours(params)),
  value_flow_forbidden: (params) => {
    const flows = named(nameOf('value_flow_forbidden', params))
    const source = kindOf(params.source as Selector)
    const applies = together(kindOf(params.sink as Selector))
    return { applies, passes: together([opposite(flows)]), fails: together([flows, atLeast(1, source)]), forbids: true }
  },
  value_from: (params) => {
    const given = byName('value_from', ownParams(params))
    // Where it names the tool, a missing value violates it.
    if (params.target_step_names !== undefined) return given
    return { ...given, applies: together([named(`a value in ${canonicalText([params.fields])}`)]) }
  },
  node_directly_preceded_by: (params) => ({
    ...byName('node_directly_preceded_by', params),
    applies: together([...ofTypes(params.target_node_types), named(`checked ${canonicalText(params)}`)]),
  }),
  node_requires_predecessor: ({ required_predecessor_type, target_node_types }) => ({
    ...byFact(atLeast(1, ofTypes([required_predecessor_type]))),
    applies: together(ofTypes(target_node_types)),
  }),
  node_forbidden_for_agent_classification: (params) => {
    const filter = (params.node_attribute_filter ?? {}) as JsonMap
    const applies = together([...ofTypes([params.forbidden_node_type]), ...factsOfFilter(filter)])
    return { ...forbiddenLevels(params.agent_risk_classifications), applies }
  },
}

/** The rules of the finished task; where they differ from those of a step. */
export const taskDescriptions: Readonly<Record<string, Describe>> = {
  execution_contains_node_before_current: ({ required_node_type }) => byFact(atLeast(1, ofTypes([required_node_type]))),
  execution_max_tool_calls: ({ max_calls, node_type }) =>
    byFact(opposite(atLeast(Number(max_calls) + 1, ofTypes([node_type]), false, 'task'))),
  execution_requires_node_sequence: (params) => {
    const types = (params.required_sequence as readonly string[]).map(canonicalType)
    const times = (type: string) => types.filter((other) => other === type).length
    const held = [...new Set(types)].map((type) => atLeast(times(type), ofTypes([type]), false, 'task'))
    return byNameWith(nameOf('execution_requires_node_sequence', params), { pass: held })
  },
}

function bound(value: unknown): number {
  return typeof value === 'number' ? value : Number.POSITIVE_INFINITY
}

function nameOf(rule_type: string, params: JsonMap): string {
  return `${rule_type} ${canonicalText(ownParams(params))}`
}

function kindOf(kind: unknown): StepFacts {
  return factsOfKind(kind as StepKind)
}

function keyOf(kind: unknown): string {
  return typeof kind === 'string' ? canonicalType(kind) : canonicalText(kind)
}

function ofTypes(types: unknown): StepFacts {
  return factsOfPattern({ step_types: (types as readonly string[] | undefined)?.map(canonicalType) })
}

function narrowed(kind: unknown, verb: unknown, filter: unknown): StepFacts {
  return factsOfPattern(
    kindPattern(kind as StepKind, { verb: verb as string | undefined, filter: filter as JsonMap | undefined }),
  )
}

function forbidsEarlier(kind: unknown, verb: unknown, filter: unknown): LeafFormulas {
  return { ...byFact(opposite(atLeast(1, narrowed(kind, verb, filter)))), forbids: true }
}

function countBelow(kind: unknown, most: number, where: CountFact['where']): LeafFormulas {
  const of = kindOf(kind)
  return { ...byFact(opposite(atLeast(most, of, false, where))), applies: together(of), forbids: most === 0 }
}

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

/** The hours of the week in which `working_hours_only` passes (engine/rules/flow.ts). */
export function openHours({ start_hour, end_hour, timezone, days }: JsonMap): HoursFact {
  const [start, end] = [Number(start_hour), Number(end_hour)]
  const chosen = (days as readonly string[] | undefined) ?? weekdays
  const isDay = (day: number) => chosen.includes(weekdays[(day + 7) % 7] ?? '')
  const isOpen = (hour: number, day: number) => {
    if (start === end) return isDay(day)
    if (start < end) return hour >= start && hour < end && isDay(day)
    return hour >= start ? isDay(day) : hour < end && isDay(day - 1)
  }
  const open = Array.from({ length: 168 }, (_, index) => isOpen(index % 24, Math.floor(index / 24)))
  return { kind: 'hours', zone: String(timezone), open }
}
