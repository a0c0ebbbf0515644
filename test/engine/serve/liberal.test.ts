// Bodies of clients in other languages: nulls for optional members, times without a zone, a verb on every step.
import type { Evaluation, LocalRegistration, RecordedStep } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNullRemoval } from '../../../engine/check/null-members.js'
import { parseTimestamp } from '../../../schemas/steps.js'
import { type Serve, startServe } from '../../support/engine/serve.js'

const policies = `
name: Levels
version: "1"
policies:
  - {name: for high risk, rule_type: field_not_empty, params: {field: step_name}, severity: low, scope: step_execution, risk_classification: high}
  - {name: not unclassified, rule_type: step_forbidden_for_classification, params: {forbidden_step_type: step.exec, agent_risk_classifications: [unclassified]}, severity: low, scope: step_execution}
  - {name: input kept, rule_type: field_not_empty, params: {field: input.a, target_step_types: [step.self]}, severity: low, scope: step_execution}
  - {name: no verb, rule_type: field_in_list, params: {field: verb, values: [GET], target_step_types: [step.credential]}, severity: low, scope: step_execution}
`
let serve: Serve
beforeAll(async () => {
  serve = await startServe(['--policy-file', 'p.yaml'], { 'p.yaml': policies })
})
afterAll(() => serve.discard())

const nothing = {
  agent_id: null,
  timestamp: null,
  step: null,
  verb: null,
  step_name: null,
  input: null,
  output: null,
  properties: null,
  meta: null,
}
const context = { agent_id: 'a', environment: 'test' }
const times = ['2026-01-05T09:00:00', '2026-01-05 09:00:00.123456', '2026-01-05T09:00:00+02:00']
const stepTypes = ['task.start', 'step.exec', 'step.gate', 'step.model', 'step.unknown', 'task.end']
const requests: readonly { name: string; path: string; body: object }[] = [
  {
    name: 'nulls in /evaluate',
    path: '/evaluate',
    body: {
      intended: { step_type: 'step.exec', task_id: null, ...nothing },
      context: {
        ...context,
        task_id: 't',
        risk_classification: null,
        declared_tools: null,
        agent_allowed_tools: null,
        project_root: null,
      },
      reserve: null,
    },
  },
  {
    name: 'nulls inside declared tools',
    path: '/evaluate',
    body: {
      intended: { step_type: 'step.exec', task_id: 't' },
      context: { ...context, declared_tools: ['a', { name: 'b', version: null, source: null }] },
    },
  },
  { name: 'nulls in /record', path: '/record', body: { step: { step_type: 'step.exec', task_id: 't', ...nothing } } },
  {
    name: 'nulls in /register_agent',
    path: '/register_agent',
    body: {
      agent_key: 'k',
      name: null,
      purpose: null,
      owner_id: null,
      risk_classification: null,
      environment: null,
      declared_tools: null,
      team: null,
    },
  },
  {
    name: 'no level and no task in the context',
    path: '/evaluate',
    body: { intended: { step_type: 'step.exec', task_id: 't' }, context },
  },
  ...times.map((timestamp) => ({
    name: `the time ${timestamp}`,
    path: '/record',
    body: { step: { step_type: 'step.self', task_id: 'times', timestamp } },
  })),
  ...stepTypes.flatMap((step_type) =>
    ['GET', 'POST', 'PATCH', 'DELETE'].map((verb) => ({
      name: `${verb} on ${step_type}`,
      path: '/record',
      body: { step: { step_type, verb, task_id: `verb ${step_type}` } },
    })),
  ),
]

describe('the local engine', () => {
  it.each(requests)('accepts $name', async ({ path, body }) => {
    const answer = await serve.post<object>(path, body)
    expect([answer.status, answer.body]).toEqual([200, expect.anything()])
  })

  const violated = async (intended: object, more: object = {}) => {
    const body = { intended: { task_id: 'levels', ...intended }, context: { ...context, ...more } }
    const answer = await serve.post<Evaluation>('/evaluate', body)
    return answer.body.policies.filter((policy) => policy.violated).map(({ name }) => name)
  }

  it('takes the level of the registered agent, else applies every policy', async () => {
    const exec = { step_type: 'step.exec' }
    expect(await violated(exec)).toEqual(['for high risk', 'not unclassified'])
    expect(await violated(exec, { risk_classification: null })).toEqual(['for high risk', 'not unclassified'])
    expect(await violated(exec, { risk_classification: 'limited' })).toEqual([])
    await serve.post<LocalRegistration>('/register_agent', { agent_key: 'low', risk_classification: 'limited' })
    expect(await violated(exec, { agent_id: 'low' })).toEqual([])
  })

  it('keeps a null that is a value, and reads other nulls as absent members', async () => {
    expect(await violated({ step_type: 'step.self', step_name: 'x', input: { a: null } })).toEqual(['input kept'])
    expect(await violated({ step_type: 'step.credential', step_name: 'x', verb: null })).toEqual(['no verb'])
    const step = { step_type: 'step.self', task_id: 'kept', verb: null, input: { a: null }, meta: { b: [null] } }
    await serve.post<RecordedStep>('/record', { step: { ...step, timestamp: '2026-01-05T09:00:00.5' } })
    const [line] = serve.trace().filter(({ task_id }) => task_id === 'kept')
    expect(line).toMatchObject({ input: { a: null }, meta: { b: [null] }, timestamp: '2026-01-05T09:00:00.5' })
    expect(line).not.toHaveProperty('verb')
  })
})

describe('a time without a zone', () => {
  it.each([
    ['2026-01-05T09:00:00', '2026-01-05T09:00:00.000Z'],
    ['2026-01-05 09:00:00.123456', '2026-01-05T09:00:00.123Z'],
    ['2026-07-05T09:00:00', '2026-07-05T09:00:00.000Z'],
  ])('%s is %s', (text, utc) => {
    expect(new Date(parseTimestamp(text) ?? Number.NaN).toISOString()).toBe(utc)
  })
})

describe('a null member', () => {
  const removal = createNullRemoval([
    {
      $id: 'a',
      required: ['needed'],
      properties: {
        needed: { type: 'string' },
        optional: { type: 'string' },
        nullable: { type: ['string', 'null'] },
        either: { anyOf: [{ $ref: 'b' }, { type: 'null' }] },
        any: {},
        level: { enum: ['x', null] },
        list: { type: 'array', items: { $ref: 'b' } },
        inner: { $ref: 'b' },
      },
    },
    { $id: 'b', type: 'object', properties: { c: { type: 'number' }, free: { type: 'object' } } },
  ])
  it('is removed where it is optional and must not be null, and nowhere else', () => {
    const value = {
      needed: null,
      optional: null,
      nullable: null,
      either: null,
      any: null,
      level: null,
      unknown: null,
      list: [{ c: null }, null],
      inner: { c: null, free: { d: null } },
    }
    removal('a')(value)
    expect(value).toEqual({
      needed: null,
      nullable: null,
      either: null,
      any: null,
      level: null,
      unknown: null,
      list: [{}, null],
      inner: { free: { d: null } },
    })
    for (const other of [null, [null], 'text', 1]) expect(() => removal('a')(other)).not.toThrow()
  })
})
