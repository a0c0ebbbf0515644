// Hosted evaluation and logs together: remedies that can be logged, and the tools that a task begins with.
import type { BatchAnswer, Evaluation, LoggedStep, RegisteredAgent } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { assign } from '../../support/http/assign.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

const at = (second: number) => new Date(Date.UTC(2026, 0, 5, 9, 0, second)).toISOString()

let platform: TestPlatform
afterAll(() => discard(platform))

const register = async (agent_key: string, more: object) => {
  const body = { agent_key, ...more }
  const answer = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body })
  return answer.body.agent_id
}
const log = async (body: unknown) => (await platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body })).body
const evaluate = async (intended: object, context: object) => {
  const body = { intended, context }
  return (await platform.call<Evaluation>('POST', '/api/v1/engine/evaluate', { as: 'key', body })).body
}

const manifest = `
name: Tools
version: "1"
policies:
  - name: Only declared tools
    rule_type: step_name_in_allowlist
    params: {target_step_types: [step.resource]}
    severity: critical
    scope: step_execution
  - name: A check before each change
    rule_type: step_requires_gate
    params: {target_step_types: [step.exec], gate_check_type: review, max_age_steps: 1}
    severity: critical
    scope: step_execution
  - name: Two people before each change
    rule_type: step_requires_gate
    params: {target_step_types: [step.exec], gate_check_type: second_review, max_age_steps: 2}
    severity: critical
    scope: step_execution
`

let agent_id: string
beforeAll(async () => {
  platform = await startPlatform()
  agent_id = await register('clerk', { declared_tools: ['search', { name: 'book' }, 'pay'] })
  platform = await assign(platform, agent_id, manifest)
})

describe('the steps of a remedy', () => {
  it('are bodies for the log: posted as they are, in order, they allow the step', async () => {
    await log({ agent_id, task_id: 'remedy', step: 1, step_type: 'task.start', timestamp: at(1) })
    const change = { step_type: 'step.exec', timestamp: at(2) }
    const before = await evaluate(change, { agent_id, task_id: 'remedy' })
    expect(before.outcome).toBe('block')
    const bodies = before.violations.flatMap(({ violation_details }) => violation_details?.remedy_steps ?? [])
    const gate = { task_id: 'remedy', agent_id, step_type: 'step.gate', timestamp: at(2) }
    expect(bodies).toEqual([
      { ...gate, step: 2, properties: { guard: { check_type: 'review', result: 'passed' } } },
      { ...gate, step: 3, properties: { guard: { check_type: 'second_review', result: 'passed' } } },
    ])
    expect(before.policies.filter(({ violated }) => violated)).toEqual(before.violations)
    for (const body of bodies.toReversed()) await log({ ...body, step: (await next('remedy')) + 1 })
    expect(await evaluate(change, { agent_id, task_id: 'remedy' })).toMatchObject({ outcome: 'allow', violations: [] })
  })

  it('are sent once when two policies need the same', async () => {
    const twice = manifest.replace('second_review', 'review')
    const other = await register('twin', { declared_tools: [] })
    platform = await assign(platform, other, twice)
    const { violations } = await evaluate({ step_type: 'step.exec' }, { agent_id: other, task_id: 'twice' })
    const numbers = violations.flatMap(({ violation_details }) =>
      violation_details?.remedy_steps?.map(({ step }) => step),
    )
    expect(numbers).toEqual([1, 1])
  })
})

describe('a hosted evaluation', () => {
  it('names the versions of the manifests that it evaluated', async () => {
    const { manifests, policies } = await evaluate({ step_type: 'step.exec' }, { agent_id, task_id: 'named' })
    expect(manifests).toEqual([{ manifest_id: policies[0]?.manifest_id, sha: 'a'.repeat(40) }])
  })
})

async function next(task_id: string): Promise<number> {
  const { body } = await platform.call<{ logs: { step: number }[] }>('GET', `/api/v1/logs?task_id=${task_id}`)
  return Math.max(...body.logs.map(({ step }) => step))
}

type Declared = { properties?: object; meta?: object }
const [few, many] = [['search'], ['search', 'book', 'delete']]
const cases: readonly {
  readonly name: string
  readonly starts: readonly Declared[]
  readonly context?: object
  readonly allowed: readonly string[]
}[] = [
  { name: 'the agent declares, without a list', starts: [{}], allowed: ['search', 'book', 'pay'] },
  { name: 'the start declares', starts: [{ properties: { declared_tools: few } }], allowed: ['search'] },
  {
    name: 'the start declares with a name each',
    starts: [{ properties: { declared_tools: [{ name: 'book' }] } }],
    allowed: ['book'],
  },
  {
    name: 'the start declares in `meta.agent`',
    starts: [{ meta: { agent: { declared_tools: few } } }],
    allowed: ['search'],
  },
  {
    name: 'the start declares and the agent does too',
    starts: [{ properties: { declared_tools: many } }],
    allowed: ['search', 'book'],
  },
  { name: 'no list allows', starts: [{ properties: { declared_tools: [] } }], allowed: [] },
  {
    name: 'the first of two starts declares',
    starts: [{ properties: { declared_tools: few } }, { properties: { declared_tools: many } }],
    allowed: ['search'],
  },
  {
    name: 'both of two starts declare',
    starts: [{ properties: { declared_tools: many } }, { properties: { declared_tools: ['book', 'pay'] } }],
    allowed: ['book'],
  },
  {
    name: 'the start declares, whatever a later context says',
    starts: [{ properties: { declared_tools: few } }],
    context: { declared_tools: ['search', 'book', 'pay'] },
    allowed: ['search'],
  },
  {
    name: 'the start and a context declare',
    starts: [{ properties: { declared_tools: many } }],
    context: { declared_tools: ['book'] },
    allowed: ['book'],
  },
]

describe('the tools of a task are those that', () => {
  const use = (step_name: string) => ({ step_type: 'step.resource', step_name, timestamp: at(9) })
  const tools = ['search', 'book', 'pay', 'delete']
  const logStarts = async (task_id: string, starts: readonly Declared[]) => {
    for (const [index, start] of starts.entries())
      await log({ ...start, agent_id, task_id, step: index + 1, step_type: 'task.start', timestamp: at(index) })
  }

  it.each(cases.map((one, index) => ({ ...one, index })))('$name', async ({ starts, context, allowed, index }) => {
    const task_id = `tools-${index}`
    await logStarts(task_id, starts)
    const evaluated: string[] = []
    for (const tool of tools)
      if (!(await evaluate(use(tool), { agent_id, task_id, ...context })).blocked) evaluated.push(tool)
    expect(evaluated).toEqual(allowed)
    if (context !== undefined) return
    const entries = tools.map((tool, used) => ({ ...use(tool), agent_id, task_id, step: starts.length + 1 + used }))
    const { body } = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', { as: 'key', body: { entries } })
    const clean = tools.filter((_, used) => body.results[used]?.entry?.violations.length === 0)
    expect(clean).toEqual(allowed)
  })

  it('its start declared, also after a restart and when the agent declares more', async () => {
    await logStarts('kept', [{ properties: { declared_tools: ['search', 'delete'] } }])
    platform = await platform.restart()
    await register('clerk', { declared_tools: ['search', 'book', 'pay', 'refund'] })
    const step = async (step_name: string, number: number) => {
      const { blocked } = await evaluate(use(step_name), { agent_id, task_id: 'kept' })
      const { violations } = await log({ ...use(step_name), agent_id, task_id: 'kept', step: number })
      return [blocked, violations.map(({ name }) => name)]
    }
    expect(await step('search', 2)).toEqual([false, []])
    expect(await step('refund', 3)).toEqual([true, ['Only declared tools']])
    expect(await step('delete', 4)).toEqual([true, ['Only declared tools']])
  })
})
