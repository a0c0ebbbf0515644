// The meaning of rules about the history, the time, and the finished task, as facts.
import type { JsonMap } from '@svc/schemas'
import { byFact, type Describe, type LeafFacts, open } from './leaf-fields.js'
import { atLeast, field, opposite, type StepFacts } from './literal.js'
import { factsOfKind, factsOfPattern, gateFacts } from './step-facts.js'
import { hourPath } from './universe.js'
import { within } from './value-test.js'

export const historyDescriptions: Readonly<Record<string, Describe>> = {
  step_directly_preceded_by: ({ required_step_type }) =>
    byFact({ kind: 'last', of: factsOfKind(required_step_type), negated: false }),
  step_requires_predecessor: ({ required_step_type }) => byFact(atLeast(1, factsOfKind(required_step_type), true)),
  step_preceded_by_without_intervening: ({ required_step_type }) => needs(factsOfKind(required_step_type)),
  step_requires_dedicated_predecessor: ({ required_step_type, property_filter }) => ({
    ...needs(factsOfKind(required_step_type, undefined, property_filter)),
    may_skip: true,
  }),
  step_requires_gate: ({ gate_check_type }) => needs(gateFacts(gate_check_type)),
  gate_binds_action: ({ gate_check_type }) => needs(gateFacts(gate_check_type)),
  sequence_forbidden: ({ forbidden_sequence }) => {
    const kinds = (forbidden_sequence as readonly unknown[]).map((kind) => factsOfKind(kind))
    const earlier = kinds.slice(0, -1).map((kind) => atLeast(1, kind))
    const passes = earlier.length === 1 ? [earlier.map(opposite)] : open
    return { applies: kinds.at(-1) ?? [], passes, fails: [earlier], forbids: true }
  },
  step_not_after: ({ predecessor_step_type, predecessor_property_filter }) =>
    forbidsEarlier(factsOfKind(predecessor_step_type, undefined, predecessor_property_filter)),
  tainted_path_block: ({ taint_step_type, taint_verb, taint_property_filter }) =>
    forbidsEarlier(factsOfKind(taint_step_type, taint_verb, taint_property_filter)),
  history_contains: ({ step_type, verb, property_filter }) =>
    byFact(atLeast(1, factsOfKind(step_type, verb, property_filter), true)),
  current_is: ({ step_type, verb, property_filter }) => {
    const such = factsOfKind(step_type, verb, property_filter)
    return { passes: [such], fails: such.map((fact) => [opposite(fact)]) }
  },
  execution_max_steps: ({ step_type, max_steps }) => {
    const of = factsOfKind(step_type)
    return { ...byFact(opposite(atLeast(Number(max_steps), of))), applies: of, forbids: max_steps === 0 }
  },
  max_consecutive_same_type: ({ step_type }) => counts(step_type),
  step_rate_limit: ({ step_type }) => counts(step_type),
  usage_budget: ({ step_type, property_path }) => {
    // A sum begins with a number.
    const added = field(String(property_path), { test: within(undefined, undefined), negated: false })
    return { ...counts(step_type), fails: [[added], [atLeast(1, [added])]] }
  },
  working_hours_only: (params) => byFact(openHours(params)),
  value_flow_forbidden: ({ sink }) => counts(sink),
}

/** The rules of the finished task; where they differ from those of a step. */
export const taskDescriptions: Readonly<Record<string, Describe>> = {
  execution_max_tool_calls: ({ max_calls, node_type }) =>
    byFact(opposite(atLeast(Number(max_calls) + 1, ofTypes([node_type]), false, 'task'))),
  execution_requires_node_sequence: ({ required_sequence }) => {
    const types = required_sequence as readonly string[]
    return { passes: [types.map((type) => atLeast(1, ofTypes([type]), false, 'task'))], fails: open }
  },
}

function ofTypes(types: unknown): StepFacts {
  return factsOfPattern({ step_types: types as readonly string[] | undefined })
}

function needs(kind: StepFacts): LeafFacts {
  return { passes: [[atLeast(1, kind, true)]], fails: open }
}

function forbidsEarlier(kind: StepFacts): LeafFacts {
  return { ...byFact(opposite(atLeast(1, kind))), forbids: true }
}

function counts(kind: unknown): LeafFacts {
  return { applies: factsOfKind(kind), passes: open, fails: open }
}

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

/** The hours of the week in which `working_hours_only` passes (engine/rules/flow.ts). */
function openHours({ start_hour, end_hour, timezone, days }: JsonMap) {
  const [start, end] = [Number(start_hour), Number(end_hour)]
  const chosen = (days as readonly string[] | undefined) ?? weekdays
  const isDay = (day: number) => chosen.includes(weekdays[(day + 7) % 7] ?? '')
  const isOpen = (hour: number, day: number) => {
    if (start === end) return isDay(day)
    if (start < end) return hour >= start && hour < end && isDay(day)
    return hour >= start ? isDay(day) : hour < end && isDay(day - 1)
  }
  const examples = Array.from({ length: 168 }, (_, index) => index).filter((one) =>
    isOpen(one % 24, Math.floor(one / 24)),
  )
  const accepts = (hour: unknown) => examples.includes(hour as number)
  const words = [
    `is one of the ${examples.length} open hours`,
    `is one of the ${168 - examples.length} other hours`,
  ] as const
  return field(hourPath(String(timezone)), { test: { accepts, lists: 'whole', examples, words }, negated: false })
}
