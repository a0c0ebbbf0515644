// Steps from the Behavior schema and around it, under every rule at once: no check throws or returns another value than the
// three answers, and no prototype changes (docs/design/engine.md §3).
import { compile, type PolicyInput, rules, Task } from '@svc/engine'
import type { Step } from '@svc/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { policiesFor, ruleCases } from '../../support/engine/cases.js'
import { policyDefaults } from '../../support/engine/policy.js'
import { runs } from '../../support/random.js'

const times = Number(process.env.SVC_FUZZ_STEPS ?? runs(40_000, 100))

/** Each rule with its example and with the parameters of some of its cases, and the negation of each. */
function everyRule() {
  const examples: { rule: string; one: Parameters<typeof policiesFor>[1] }[] = rules.map(
    ({ name, scopes, example }) => ({
      rule: name,
      one: { params: example, scope: scopes.find((scope) => scope !== 'agent_registration') ?? 'agent_registration' },
    }),
  )
  const written = ruleCases()
    .filter((_, index) => index % 9 === 0)
    .map(({ rule, case: one }) => ({ rule, one }))
  const policies = [...examples, ...written]
    .filter(({ one }) => one.scope !== 'agent_registration')
    .flatMap(({ rule, one }) => policiesFor(rule, one))
    .map((policy, index): PolicyInput => ({ ...policyDefaults, ...policy, params: policy.params ?? {}, id: index + 1 }))
  return compile(policies)
}

const types = ['task.start', 'task.end', 'task.error', 'step.resource', 'step.message', 'step.self', 'step.model']
const type = fc.constantFrom(
  ...types,
  'step.exec',
  'step.gate',
  'step.credential',
  'LLM_CALL',
  'END_NODE',
  '__proto__',
  '',
)
const paths = ['target.host', 'target.trust', 'guard.result', 'guard.check_type', 'usage.cost_usd', 'exec.command']
const key = fc.oneof(
  fc.constantFrom(...paths, 'target', 'guard', 'usage', 'exec', 'status', 'path', 'action_digest', '__proto__'),
  fc.constantFrom('constructor', 'prototype', 'toString', 'length', '0', ''),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const leaf = fc.oneof(
  fc.constantFrom('external', 'internal', 'passed', 'failed', 'blocked', '//evil.com', '../../etc', 'C:\\x', '\ud800'),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
)
const value = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: 4, withCrossShrink: true }, leaf, tie('map'), fc.array(tie('any'), { maxLength: 4 })),
  // As JSON.parse creates them: a member may have the name __proto__.
  map: fc
    .array(fc.tuple(key, tie('any')), { maxLength: 5 })
    .map((entries) => entries.reduce((map, [name, item]) => Object.defineProperty(map, name, own(item)), {})),
}))
const own = (item: unknown) => ({ value: item, enumerable: true, writable: true, configurable: true })
const map = fc.oneof({ weight: 9, arbitrary: value.map }, { weight: 1, arbitrary: value.any })
const step = fc.record(
  {
    step_type: type,
    verb: fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE', 'get', ''),
    step_name: leaf,
    input: map,
    output: map,
    properties: map,
    meta: map,
    step: fc.integer(),
    timestamp: fc.string(),
    is_external_call: fc.boolean(),
    agent_id: leaf,
    task_id: leaf,
  },
  { requiredKeys: ['step_type'] },
) as unknown as fc.Arbitrary<Step>

describe('hostile steps', () => {
  it(`get an answer from every rule, ${times} times`, () => {
    const set = everyRule()
    expect(set.dropped).toEqual([])
    const before = Object.getOwnPropertyNames(Object.prototype)
    let task = new Task(set)
    let now = Date.UTC(2026, 0, 5, 9)
    const facts = { declared_tools: ['a'], risk_classification: 'limited', project_root: '/work' }
    fc.assert(
      fc.property(step, (hostile) => {
        now += 1000
        if (task.length > 200) task = new Task(set)
        const { policies } = task.evaluate(hostile, facts, { now })
        for (const { violated, violation_details } of policies) {
          if (violated !== (violation_details !== null)) throw new Error('only violations have details')
          if (violation_details?.code === 'RULE_ERROR' && isSendable(hostile))
            throw new Error(JSON.stringify(violation_details))
        }
        task.add(hostile, now)
      }),
      { numRuns: times, seed: 20_260 },
    )
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

/** Whether the step can come over a wire: any other step has no digest, and a rule that needs one fails closed. */
function isSendable(hostile: Step): boolean {
  const { input, output, properties, meta } = hostile
  const maps = [input, output, properties, meta].filter((part) => part !== undefined)
  if (!maps.every((part) => typeof part === 'object' && part !== null && !Array.isArray(part))) return false
  const text = JSON.stringify(hostile)
  return (
    text.isWellFormed() && !/\\ud[89a-f]/i.test(text) && JSON.stringify(JSON.parse(text)) === text && finite(hostile)
  )
}

function finite(item: unknown): boolean {
  if (typeof item === 'number') return Number.isFinite(item)
  return typeof item !== 'object' || item === null || Object.values(item).every(finite)
}
