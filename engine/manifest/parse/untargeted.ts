// Policies on the input or the output of a step that name no steps: every step without the field violates them, also a task.end.
import type { JsonMap, Manifest, Step } from '@svc/schemas'
import { quote } from '../../check/quote.js'
import type { PolicySet } from '../../policy/compile.js'
import { isCombinator, postOrder } from '../../rules/compound/compound.js'
import { targetKeys } from '../../rules/form/params.js'
import { nested } from '../../rules/values/members.js'
import { Task } from '../../task/task.js'
import { onAgent } from '../agent/on-agent.js'

export interface Untargeted {
  /** Below the policy. */
  readonly path: readonly string[]
  readonly predicate: string
}

type Policy = Pick<Manifest['policies'][number], 'name' | 'rule_type' | 'params' | 'scope'>
type Test = NonNullable<Manifest['tests']>[number]

/** Steps of several types without content: a policy that all of them violate has no target. */
const bareSteps: readonly Step[] = ['task.end', 'step.exec', 'step.message', 'step.resource'].map((step_type) => ({
  step_type,
}))

/**
 * The first rule without a target in a policy that reads inputs or outputs, if every bare step violates the policy; null otherwise.
 * The policy must be valid.
 */
export function untargetedIn(policy: Policy, tests: readonly Test[]): Untargeted | null {
  if (policy.scope !== 'step_execution') return null
  const culprit = culpritIn(policy)
  if (culprit === null) return null
  const set = setOf(policy)
  if (!bareSteps.every((step) => violates(set, step))) return null
  const { field, path } = culprit
  const hit = (step: Step) => (field === null || nested(step, field.split('.')) === null) && violates(set, step)
  const without = field === null ? 'the gate' : quote(field)
  const predicate = `has no target, so that every step without ${without} violates the rule, ${hitWords(hit, tests)}: name its tools in \`target_step_names\``
  return { path: field === null ? path : [...path, 'field'], predicate }
}

interface Culprit {
  /** Null for a gate. */
  readonly field: string | null
  /** Of its parameters. */
  readonly path: readonly string[]
}

/** A rule on an input or output without a target, or a gate without one beside a rule on an input or output. */
function culpritIn({ rule_type, params = {} }: Policy): Culprit | null {
  const leaves = postOrder({ rule_type, params }).flatMap(({ node, path }) => {
    if (isCombinator(node.rule_type)) return []
    const own: JsonMap = node.params ?? {}
    const { field } = own
    return {
      field: typeof field === 'string' && /^(input|output)(\.|$)/.test(field) ? field : null,
      is_gate: node.rule_type === 'step_requires_gate',
      has_target: targetKeys.some((key) => key in own),
      path: path === '' ? ['params'] : ['params', ...path.split('.'), 'params'],
    }
  })
  if (leaves.every(({ field }) => field === null)) return null
  const open = leaves.filter(({ has_target }) => !has_target)
  return open.find(({ field }) => field !== null) ?? open.find(({ is_gate }) => is_gate) ?? null
}

function setOf({ name, rule_type, params = {}, scope }: Policy): PolicySet {
  const policy = { name, rule_type, params, scope, severity: 'critical' } as const
  return onAgent({ name, version: '', policies: [policy] }, {}).set
}

function violates(set: PolicySet, step: Step): boolean {
  return new Task(set).evaluate(step, {}, { occasion: 'step' }).policies.some(({ violated }) => violated)
}

function hitWords(hit: (step: Step) => boolean, tests: readonly Test[]): string {
  const steps = tests.flatMap(({ step, history = [] }): readonly Step[] => [
    ...history,
    ...(step === undefined ? [] : [step]),
  ])
  const names = [...new Set(steps.filter(hit).map(({ step_type, step_name }) => quote(step_name ?? step_type)))]
  const shown = names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '')
  return names.length === 0 ? 'also `task.end`' : `in the tests ${shown}`
}
