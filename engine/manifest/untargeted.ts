// Rules on the input or the output of a step that name no steps: every step without the field violates them, also a task.end.
import type { JsonMap, Manifest, Step } from '@svc/schemas'
import { quote } from '../check/quote.js'
import { nested } from '../rules/members.js'
import { targetKeys } from '../rules/params.js'

/** Rules that a missing field violates. */
const needField: ReadonlySet<string> = new Set([
  'field_not_empty',
  'field_in_list',
  'field_matches_regex',
  'field_in_range',
  'length_at_most',
  'argument_matches',
])

export interface Untargeted {
  /** Below the policy. */
  readonly path: readonly string[]
  readonly predicate: string
}

type Policy = Pick<Manifest['policies'][number], 'rule_type' | 'params' | 'scope'>
type Test = NonNullable<Manifest['tests']>[number]

interface Part {
  readonly rule_type: string
  readonly params: JsonMap
  readonly path: readonly string[]
}

/** The first such rule of a policy: the rule itself, or a condition of its `all_of`; null without one. */
export function untargetedIn({ rule_type, params = {}, scope }: Policy, tests: readonly Test[]): Untargeted | null {
  if (scope !== 'step_execution') return null
  const pending: Part[] = [{ rule_type, params, path: ['params'] }]
  for (let rule = pending.shift(); rule !== undefined; rule = pending.shift()) {
    const { path } = rule
    const { field, found = true, conditions } = rule.params
    if (rule.rule_type === 'all_of' && Array.isArray(conditions))
      for (const [index, node] of (conditions as { rule_type: string; params?: JsonMap }[]).entries())
        pending.push({
          rule_type: node.rule_type,
          params: node.params ?? {},
          path: [...path, 'conditions', `${index}`, 'params'],
        })
    const isOnPayload = typeof field === 'string' && /^(input|output)\./.test(field)
    if (!isOnPayload || !needField.has(rule.rule_type) || found !== true) continue
    if (targetKeys.some((key) => key in rule.params)) continue
    return { path: [...path, 'field'], predicate: wordsFor(field, tests) }
  }
  return null
}

function wordsFor(field: string, tests: readonly Test[]): string {
  const steps = tests.flatMap(({ step, history = [] }) => [
    ...history,
    ...(step === undefined ? [] : [step]),
  ]) as readonly Step[]
  const without = steps.filter((step) => nested(step, field.split('.')) === null)
  const names = [...new Set(without.map(({ step_type, step_name }) => quote(step_name ?? step_type)))]
  const shown = names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '')
  const hit = names.length === 0 ? 'also `task.end`' : `in the tests ${shown}`
  return `has no target, so that every step without ${quote(field)} violates the rule, ${hit}: name its tools in \`target_step_names\``
}
