// The baseline: fifteen policies, each with a description, controls and tests.
import { createHash } from 'node:crypto'
import { parseManifest, runTests } from '@svc/engine'
import { baseline } from '@svc/library'
import { describe, expect, it } from 'vitest'

const file = baseline()
const { value, errors, warnings } = parseManifest(file.text, file.path)
if (value === null) throw new Error('the baseline cannot be read')
const { policies, tests = [] } = value
const results = runTests(value)

it('is a valid manifest of fifteen policies', () => {
  expect([errors, warnings]).toEqual([[], []])
  expect(policies).toHaveLength(15)
})

it('is pinned by its Git blob id', () => {
  const bytes = Buffer.from(file.text)
  expect(file.blob_sha).toBe(createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex'))
})

it('has one policy for each of the ten risks, and five for the AI Act', () => {
  const controls = policies.map((policy) => policy.controls?.[0] ?? '')
  const risks = Array.from({ length: 10 }, (_, index) => `ASI${String(index + 1).padStart(2, '0')}`)
  expect(controls.slice(0, 10)).toEqual(risks)
  expect(controls.slice(10).every((control) => control.startsWith('EU-AI-Act:'))).toBe(true)
  expect(policies.flatMap((policy) => policy.controls ?? []).filter((control) => control.startsWith('EU'))).toEqual([
    'EU-AI-Act:5',
    'EU-AI-Act:50(1)',
    'EU-AI-Act:50(2)',
    'EU-AI-Act:50(4)',
    'EU-AI-Act:12',
    'EU-AI-Act:19',
    'EU-AI-Act:14',
    'EU-AI-Act:26(2)',
  ])
})

describe.each(policies)('$name', (policy) => {
  it('has a description, and is in effect for every agent', () => {
    expect(policy.description?.length).toBeGreaterThan(80)
    expect([policy.enabled ?? true, policy.mode ?? 'enforce', policy.risk_classification ?? null]).toEqual([
      true,
      'enforce',
      null,
    ])
  })

  it('has a test that violates it and one that does not', () => {
    const violating = results.filter((result) => result.violated.includes(policy.name))
    const about = tests.filter(({ step }) => (step === undefined) === (policy.scope === 'agent_registration'))
    expect(violating.length).toBeGreaterThan(0)
    expect(about.length).toBeGreaterThan(violating.length)
    const blocks = policy.severity === 'critical' && policy.scope !== 'task_execution'
    expect(violating.every((result) => result.action === (blocks ? 'block' : 'allow'))).toBe(true)
  })
})

it.each(results)('test: $name', ({ failures }) => {
  expect(failures).toEqual([])
})

describe('an ordinary run', () => {
  const user = { counterpart: { kind: 'user' } }
  const run = [
    { step_type: 'task.start' },
    { step_type: 'step.message', verb: 'GET' as const, properties: user },
    { step_type: 'step.model', verb: 'POST' as const },
    { step_type: 'step.resource', verb: 'GET' as const, step_name: 'search' },
    { step_type: 'step.model', verb: 'POST' as const },
    { step_type: 'step.resource', verb: 'POST' as const, step_name: 'book', input: { seat: '12A' } },
    { step_type: 'step.resource', verb: 'DELETE' as const, step_name: 'cancel' },
    { step_type: 'step.message', verb: 'POST' as const, properties: { ...user, disclosure: { ai: true } } },
    { step_type: 'task.end' },
  ]
  const agent = { declared_tools: ['search', 'book', 'cancel'] }

  it('violates nothing at any of its steps', () => {
    const each = run.map((step, index) => {
      const history = run.slice(0, index)
      return { name: `step ${index + 1}`, agent, history, step, expect: { action: 'allow' as const, violated: [] } }
    })
    expect(runTests(value, each).filter((result) => !result.passed)).toEqual([])
  })
})
