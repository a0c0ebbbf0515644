// Limits of size, and rules on long texts, which must not hang.
import { compile, type PolicyInput, Task } from '@svc/engine'
import type { Step } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { hangMs } from '../../support/server/hang.js'

function evaluated(rule_type: string, params: object, steps: readonly Step[], step: Step, facts = {}) {
  const policy = { id: 1, name: 'p', rule_type, params, scope: 'step_execution', severity: 'low', enabled: true }
  const set = compile([{ ...policy, mode: 'enforce' } as unknown as PolicyInput])
  expect(set.dropped).toEqual([])
  const task = new Task(set)
  for (const past of steps) task.add(past, 0)
  return () => task.evaluate(step, facts, { occasion: 'step', now: 0 }).policies[0]
}

describe('value_flow_forbidden', () => {
  const params = { source: { step_types: ['step.credential'] }, sink: { step_types: ['step.message'] } }
  const reading = (count: number): Step => ({
    step_type: 'step.credential',
    output: { values: Array.from({ length: count }, (_, index) => `value-${index}-of-many`) },
  })
  const sink: Step = { step_type: 'step.message', input: { text: 'nothing of the kind' } }

  it('follows 50,000 values, and violates with more', () => {
    expect(evaluated('value_flow_forbidden', params, [reading(50_000)], sink)()?.violated).toBe(false)
    const result = evaluated('value_flow_forbidden', params, [reading(50_001)], sink)()
    expect(result?.violation_details?.code).toBe('FLOW_LIMIT')
  })

  it('finds the last of them as well', () => {
    const leaking = { ...sink, input: { text: 'it is value-49999-of-many.' } }
    expect(evaluated('value_flow_forbidden', params, [reading(50_000)], leaking)()?.violation_details?.code).toBe(
      'VALUE_FLOW',
    )
  })
})

describe('value_from', () => {
  const params = { fields: ['input.id'], from: { step_names: ['list'] } }
  const listing = (count: number): Step => ({
    step_type: 'step.resource',
    step_name: 'list',
    output: { ids: Array.from({ length: count }, (_, index) => `n${index}`) },
  })
  const using = (id: string): Step => ({ step_type: 'step.resource', verb: 'POST', input: { id } })
  const codeOf = (count: number, id: string) =>
    evaluated('value_from', params, [listing(count)], using(id))()?.violation_details?.code

  // A key is a word as well.
  it('follows 50,000 words, and reports a limit for an unknown value of a longer task', () => {
    expect(codeOf(49_999, 'n49998')).toBeUndefined()
    expect(codeOf(49_999, 'n50000')).toBe('VALUE_NOT_GIVEN')
    expect(codeOf(60_000, 'other')).toBe('FLOW_LIMIT')
  })
})

describe('a host', () => {
  it('of more than 8,192 characters is unreadable', () => {
    const to = (host: string) =>
      evaluated('domain_allowlist', { allowed_domains: ['a.example'] }, [], {
        step_type: 'step.resource',
        properties: { target: { host } },
      })()
    expect(to('A.example')?.violated).toBe(false)
    expect(to(`${'A'.repeat(9000)}.a.example`)?.violation_details?.code).toBe('HOST_UNREADABLE')
  })
})

describe('a rule does not hang on a long text', () => {
  const marks = (count: number) => `e${'\u0301\u0327'.repeat(count)}`
  const texts: Readonly<Record<string, (count: number) => string>> = {
    'combining marks': marks,
    spaces: (count) => `${' '.repeat(count)}x`,
    'spaces inside': (count) => `x${' '.repeat(count)}x`,
    dots: (count) => 'a.'.repeat(count),
    slashes: (count) => '../'.repeat(count),
    backslashes: (count) => '\\'.repeat(count),
    'percent signs': (count) => '%2e%2e/'.repeat(count),
    'labels of a domain in capitals': (count) => 'XN--A.'.repeat(count),
  }
  const rules: Readonly<Record<string, readonly [params: object, step: (text: string) => Step]>> = {
    domain_allowlist: [
      { allowed_domains: ['a.example'] },
      (host) => ({ step_type: 'step.resource', properties: { target: { host } } }),
    ],
    path_within_root: [{ field: 'input.path' }, (path) => ({ step_type: 'step.exec', input: { path } })],
    argument_matches: [
      { field: 'input', pattern: '(?:a+)+x$', found: false },
      (text) => ({ step_type: 'step.exec', input: { text } }),
    ],
    value_from: [
      { fields: ['input'], from: { step_types: ['step.credential'] }, pattern: 'x' },
      (text) => ({ step_type: 'step.message', input: { text } }),
    ],
    value_flow_forbidden: [
      { source: { step_types: ['step.credential'] }, sink: { step_types: ['step.message'] } },
      (text) => ({ step_type: 'step.message', input: { text } }),
    ],
  }
  const cases = Object.keys(rules).flatMap((rule) => Object.keys(texts).map((kind) => [rule, kind] as const))

  it.each(cases)('in %s, of %s', (rule, kind) => {
    const [params, step] = rules[rule] ?? [{}, () => ({ step_type: 'step.exec' })]
    const make = texts[kind] ?? String
    const past: Step = { step_type: 'step.credential', output: { token: make(50) } }
    const run = evaluated(rule, params, [past], step(make(200_000)), { project_root: '/srv' })
    const before = performance.now()
    run()
    // A rule that took quadratic time would take minutes.
    expect(performance.now() - before).toBeLessThan(hangMs)
  })
})
