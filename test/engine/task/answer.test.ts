// The answer of /evaluate: its order, and its short form.

import { createHash } from 'node:crypto'
import type { Evaluation, MinimalEvaluation } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compile } from '../../../engine/policy/compile.js'
import { plansOf } from '../../../engine/policy/plan.js'
import type { PolicyInput } from '../../../engine/policy/policy-input.js'
import type { Violation } from '../../../engine/rules/form/rule.js'
import { evaluationWriter } from '../../../engine/serve/answer.js'
import { Task } from '../../../engine/task/task.js'
import { policyDefaults } from '../../support/engine/policy.js'
import { type Serve, startServe } from '../../support/engine/serve.js'

const rule = (name: string, severity: string, more = '') =>
  `  - {name: ${name}, rule_type: field_not_empty, params: {field: step_name}, severity: ${severity}, scope: step_execution${more}}\n`
const desk = `name: Desk
version: "1"
policies:
${rule('low', 'low')}${rule('observed', 'critical', ', mode: observe')}${rule('high', 'high')}${rule('first block', 'critical')}
  - {name: passes, rule_type: field_not_empty, params: {field: step_type}, severity: critical, scope: step_execution}
${rule('second block', 'critical')}${rule('for agents', 'critical').replace('step_name', 'owner_id').replace('step_execution', 'agent_registration')}`

let serve: Serve
beforeAll(async () => {
  serve = await startServe(['--policy-file', 'p.yaml'], { 'p.yaml': desk })
})
afterAll(() => serve.discard())

const context = { agent_id: 'a', task_id: 't', environment: 'test' }
const ask = async <T = Evaluation>(intended: object, headers: Record<string, string> = {}) => {
  const answer = await serve.call<T>('POST', '/evaluate', { body: { intended, context }, headers })
  expect(answer.status).toBe(200)
  return answer
}
const worst = ['first block', 'second block', 'observed', 'high', 'low']

describe('the answer of /evaluate', () => {
  it('begins with the decision, its reason and the violations, worst first', async () => {
    const { body } = await ask({ step_type: 'step.self' })
    const first = ['action', 'blocked', 'outcome', 'reason', 'message', 'violations']
    expect(Object.keys(body).slice(0, 6)).toEqual(first)
    expect(Object.keys(body).at(-1)).toBe('policies')
    expect(body.violations.map(({ name }) => name)).toEqual(worst)
    const [own] = body.violations
    expect(body.reason).toBe(`\`first block\` blocks: ${own?.violation_details?.reason} (and 1 more policy blocks)`)
    for (const violation of body.violations)
      expect(body.policies.find(({ policy_id }) => policy_id === violation.policy_id)).toEqual(violation)
    expect(body.policies.map(({ policy_id }) => policy_id)).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('names the versions of the manifests that were evaluated, also at a registration', async () => {
    const bytes = Buffer.from(desk)
    const sha = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
    const { body } = await ask({ step_type: 'step.self' })
    expect(body.manifests).toEqual([{ manifest_id: body.policies[0]?.manifest_id, sha }])
    const registered = await serve.post<Evaluation>('/register_agent', { agent_key: 'a' })
    expect(registered.body.manifests).toEqual(body.manifests)
    const minimal = await ask<MinimalEvaluation>({ step_type: 'step.self' }, { prefer: 'return=minimal' })
    expect(minimal.body).not.toHaveProperty('manifests')
  })

  it('has no reason when the step is allowed', async () => {
    const { body } = await ask({ step_type: 'step.self', step_name: 'x' })
    expect(body).toMatchObject({ action: 'allow', reason: null, violations: [] })
    expect(body.policies).toHaveLength(6)
  })

  it('is the same for a registration', async () => {
    const { body } = await serve.post<Evaluation>('/register_agent', { agent_key: 'a' })
    expect(body).toMatchObject({ blocked: true, violations: [{ name: 'for agents' }] })
    expect(body.reason).toMatch(/^`for agents` blocks: /)
  })

  it.each(['return=minimal', 'respond-async, Return="minimal"; x=1, return=representation'])(
    'leaves out policies that passed with Prefer: %s',
    async (prefer) => {
      const { body, headers } = await ask<MinimalEvaluation>({ step_type: 'step.self' }, { prefer })
      expect(headers['preference-applied']).toBe('return=minimal')
      expect(body).not.toHaveProperty('policies')
      expect(body.policies_evaluated).toBe(6)
      expect(body.violations.map(({ name }) => name)).toEqual(worst)
      const whole = await ask({ step_type: 'step.self' })
      expect(whole.headers).not.toHaveProperty('preference-applied')
      expect(body.violations).toEqual(whole.body.violations)
    },
  )

  it.each(['return=representation', 'return=representation, return=minimal', 'wait=1', 'x="return=minimal"'])(
    'is whole with Prefer: %s',
    async (prefer) => {
      const { body, headers } = await ask({ step_type: 'step.self' }, { prefer })
      expect(headers).not.toHaveProperty('preference-applied')
      expect(body.policies).toHaveLength(6)
    },
  )
})

describe('the steps that a rule names as remedy', () => {
  const policy: PolicyInput = {
    ...policyDefaults,
    id: 1,
    name: 'P',
    rule_type: 'field_not_empty',
    params: { field: 'verb' },
    severity: 'critical',
  }
  const answer: Violation = {
    code: 'C',
    message: 'no',
    evidence: [],
    remedy: 'a gate',
    remedy_steps: [{ step_type: 'step.gate', properties: { guard: { result: 'passed' } } }],
  }
  const compiled = compile([policy])
  const set = {
    ...compiled,
    plans: plansOf(compiled.policies.map((one) => ({ ...one, checkFor: () => () => answer }))),
  }
  const decisionOn = (task_id: string | undefined) => {
    const step = { step_type: 'step.exec', ...(task_id !== undefined && { task_id }) }
    return new Task(set).evaluate(step, {}, { occasion: 'step', now: 0 })
  }

  it('are bodies for /record in the task of the step', () => {
    const [violation] = decisionOn('t-1').violations
    const body = { step: { task_id: 't-1', ...answer.remedy_steps?.[0] } }
    expect(violation?.violation_details?.remedy_steps).toEqual([body])
    expect(decisionOn(undefined).violations[0]?.violation_details?.remedy_steps).toEqual([
      { step: answer.remedy_steps?.[0] },
    ])
  })

  it('are written as they are, in both forms of the answer', () => {
    const write = evaluationWriter()
    for (const task_id of ['t-1', 't-2']) {
      const { passed: _, ...decision } = decisionOn(task_id)
      const evaluation = { ...decisionOn(task_id), evaluation_id: 'e', action_digest: 'd' }
      const { policies, manifests, ...others } = { ...decision, evaluation_id: 'e', action_digest: 'd' }
      const parsed = [write.whole(evaluation), write.minimal(evaluation)].map((text) => JSON.parse(text) as unknown)
      expect(parsed).toEqual([
        { ...others, manifests, policies },
        { ...others, policies_evaluated: 1 },
      ])
    }
  })
})
