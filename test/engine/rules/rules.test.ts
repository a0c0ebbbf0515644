// Every rule case through compile, history and evaluate.
import { compile, materialise, type PolicyInput, rules, Task } from '@svc/engine'
import { parseTimestamp } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { answerOf, policiesFor, type RuleCase, ruleCases } from '../../support/engine/cases.js'

const cases = ruleCases()
const occasions = { agent_registration: 'registration', step_execution: 'step', task_execution: 'end' } as const

describe.each(rules)('$name', (rule) => {
  const own = cases.filter((entry) => entry.rule === rule.name)

  it('has cases for a pass and for a violation', () => {
    expect(own.map((entry) => entry.case.expect)).toEqual(expect.arrayContaining(['pass', 'violation']))
    expect(new Set(own.map((entry) => entry.case.name)).size).toBe(own.length)
  })

  it('has an example that compiles', () => {
    const scope = rule.scopes.find((candidate) => candidate !== 'agent_registration') ?? 'agent_registration'
    expect(policySet(rule.name, { scope, params: rule.example }).dropped).toEqual([])
  })

  it.each(own.map((entry) => ({ name: entry.case.name, one: entry.case })))('$name', ({ one }) => {
    const { answer, details } = evaluated(rule.name, one)
    expect(answer).toBe(one.expect)
    if (one.code !== undefined) expect(details?.code).toBe(one.code)
    if (one.evidence !== undefined) expect(details?.evidence.map(({ step }) => step)).toEqual(one.evidence)
    if (one.reason !== undefined) expect(details?.reason).toBe(one.reason)
    if (one.remedy !== undefined) expect(details?.remedy).toBe(one.remedy)
    if (one.remedy_steps !== undefined) expect(details?.remedy_steps).toEqual(one.remedy_steps)
    if (answer === 'violation') expect(details?.reason).toMatch(/^[^A-Z].*[^.]$/)
  })
})

it('has no cases for rules that do not exist', () => {
  const names = new Set(rules.map((rule) => rule.name))
  expect(cases.map((entry) => entry.rule).filter((name) => !names.has(name))).toEqual([])
})

/** A rule inside this many compound rules, with an even number of negations. */
function nestedIn(levels: number) {
  const leaf = { rule_type: 'field_not_empty', params: { field: 'step_name' } }
  return Array.from({ length: levels }).reduce<object>(
    (condition, _, index) =>
      index % 2 === 0
        ? { rule_type: 'not', params: { condition } }
        : { rule_type: 'all_of', params: { conditions: [condition] } },
    leaf,
  ) as typeof leaf
}

describe('a deep condition tree', () => {
  const deepest = nestedIn(1000)

  it.each([
    { step_name: 'refund', expected: 'pass' },
    { step_name: '', expected: 'violation' },
  ])('of 1,000 levels is compiled and answers $expected', ({ step_name, expected }) => {
    const policy = { scope: 'step_execution', severity: 'low', mode: 'enforce', enabled: true, name: 'deep', id: 1 }
    const set = compile([{ ...policy, ...deepest } as unknown as PolicyInput])
    expect(set.dropped).toEqual([])
    const step = { step_type: 'step.exec', step_name }
    expect(new Task(set).evaluate(step, {}, { occasion: 'step', now: 0 }).policies[0]?.violated).toBe(
      expected === 'violation',
    )
  })

  it('of more levels is rejected, and no other policy is', () => {
    const set = policySet('not', { scope: 'step_execution', params: { condition: deepest } })
    expect(set.dropped.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('at most 1,000 conditions inside each other'),
      expect.stringContaining('at most 1,000 conditions inside each other'),
    ])
  })
})

function policySet(rule: string, one: Pick<RuleCase, 'scope' | 'params'>) {
  const manifest = { name: rule, version: '1', policies: policiesFor(rule, one) }
  const assignment = { source: 'file', path: '', sha: '', agent: null, assigned_at: null, assigned_by: null }
  const { policies } = materialise(manifest, assignment)
  return compile(policies.map((policy, index) => ({ ...policy, id: index + 1, version: 1 })))
}

function evaluated(rule: string, one: RuleCase) {
  const set = policySet(rule, one)
  expect(set.dropped).toEqual([])
  const task = new Task(set)
  for (const step of one.history) task.add(step, timeOf(step.timestamp))
  const facts = { ...one.agent, ...one.context }
  const { step, happened = false } = one
  const { policies } = task.evaluate(step, facts, { now: timeOf(one.now), happened, occasion: occasions[one.scope] })
  return { answer: answerOf(policies), details: policies.find(({ name }) => name === 'rule')?.violation_details }
}

function timeOf(timestamp: string | undefined): number {
  const time = parseTimestamp(timestamp ?? '')
  if (time === null) throw new Error(`\`${timestamp}\` is not a time`)
  return time
}
