// The order of the conditions of a filter decides nothing, also where a field is ambiguous.
import { compile, onAgent, parseManifest, Task } from '@svc/engine'
import { expect, it } from 'vitest'

const manifest = (filter: string) =>
  `name: A\nversion: "1"\npolicies:\n  - { name: P, rule_type: execution_max_steps, scope: step_execution, severity: critical, params: { step_type: step.resource, max_steps: 0, target_property_filter: { ${filter} } } }\n`
const step = {
  step_type: 'step.resource' as const,
  properties: { target: { host: 'abroad' }, 'target.host': 'home', meta: { purpose: 'q' } },
}
const outcomeOf = (filter: string) => {
  const { value } = parseManifest(manifest(filter), 'a.yaml')
  const set = value === null ? compile([]) : onAgent(value, {}).set
  return new Task(set).evaluate(step, {}, { now: 0 }).outcome
}

it('a filter with an ambiguous field gives one outcome in every order of its conditions', () => {
  const conditions = ['target.host: abroad', 'meta.purpose: x', 'step_name: null']
  const orders = conditions.flatMap((a) =>
    conditions.flatMap((b) => conditions.map((c) => [...new Set([a, b, c])].join(', '))),
  )
  const whole = orders.filter((order) => order.split(', ').length === 3)
  expect(whole).toHaveLength(6)
  expect(new Set(whole.map(outcomeOf)).size).toBe(1)
})
