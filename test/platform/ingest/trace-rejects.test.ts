// POST /api/v1/traces: who may send, for which agents and tasks, and what is rejected as a whole.
import type { MadeApiKey, Problem, TraceAnswer } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CallOptions, discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
let reading_key: string
let second_key: string
let deactivated: string
beforeAll(async () => {
  platform = await startPlatform()
  const key = async (scopes: readonly string[]) =>
    (await platform.call<MadeApiKey>('POST', '/auth/api-keys', { body: { name: 'k', scopes } })).body.key
  reading_key = await key(['read'])
  second_key = await key(['ingest'])
  const register = async (agent_key: string, as = 'key') =>
    (await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', { as, body: { agent_key } })).body.agent_id
  await register('a')
  await register('b')
  await register('theirs', second_key)
  deactivated = await register('off')
  await platform.call('DELETE', `/api/v1/agents/${deactivated}`)
  await post({ agent_key: 'b', steps: [{ ...step, task_id: 'of-b' }] })
  await post({ agent_key: 'theirs', steps: [{ ...step, task_id: 'of-theirs' }] }, { as: second_key })
})
afterAll(() => discard(platform))

const step = { task_id: 't', step: 1, step_type: 'step.model', timestamp: '2026-01-05T09:00:00Z' }
const times = { from: '2026-01-05T09:00:00Z', to: '2026-01-05T09:00:00Z' }
const decision = { evaluation_id: 'e', decided_at: times.from, outcome: 'allow', intended: { step_type: 'step.exec' } }
const post = (body: unknown, more: CallOptions = {}) =>
  platform.call<TraceAnswer & Problem>('POST', '/api/v1/traces', { as: 'key', body, ...more })
const steps = async () => (await platform.call<{ logs: unknown[] }>('GET', '/api/v1/logs?limit=200')).body.logs.length

describe('the caller', () => {
  it.each([
    ['no credential', () => null, 401],
    ['an unknown key', () => `SvcKey-${'x'.repeat(43)}`, 401],
    ['a key that only reads', () => reading_key, 403],
    ['an operator', () => platform.operator_token, 403],
  ])('is rejected with %s', async (_, as, status) => {
    const before = await steps()
    expect((await post({ agent_key: 'a', steps: [step] }, { as: as() })).status).toBe(status)
    expect(await steps()).toBe(before)
  })

  it.each([
    ['of another key', 'theirs', 404, 'NOT_FOUND', 'register it first with POST /api/v1/agents'],
    ['that is unknown', 'unknown', 404, 'NOT_FOUND', 'register it first'],
  ])('is rejected for an agent %s', async (_, agent_key, status, code, says) => {
    const answer = await post({ agent_key, steps: [step], gaps: [{ gap_id: 'g', steps: 1, ...times }] })
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(answer.body.detail).toContain(says)
  })

  it('reaches no task of another key or agent, in any list', async () => {
    const body = {
      agent_key: 'a',
      steps: ['of-theirs', 'of-b', 'of-a'].map((task_id) => ({ ...step, task_id })),
      incidents: [{ policy_id: 1, task_id: 'of-theirs', step: 1 }],
      unrecorded: ['of-theirs', 'of-b'].map((task_id) => ({ ...decision, task_id })),
      gaps: ['of-theirs', 'of-b'].map((task_id) => ({ gap_id: task_id, task_id, steps: 1, ...times })),
    }
    const { body: answer } = await post(body)
    const statuses = Object.values(answer).map((list: { status: number }[]) => list.map(({ status }) => status))
    expect(statuses).toEqual([[404, 409, 201], [404], [404, 409], [404, 409]])
    expect(answer.results[0]?.problem?.detail).toBe(answer.unrecorded[0]?.problem?.detail)
  })

  it('of a key with agents of its own cannot name those of others by their id', async () => {
    expect((await post({ agent_key: deactivated, steps: [step] }, { as: second_key })).status).toBe(404)
  })
})

const many = (length: number) => Array.from({ length }, () => ({}))
const text = (body: unknown) => JSON.stringify(body)

describe('a request', () => {
  const whole = { agent_key: 'a', steps: [step] }
  const cases: readonly (readonly [string, CallOptions, number, string, RegExp?])[] = [
    ['that is empty', { raw: '' }, 400, 'MALFORMED', /empty/],
    ['that is not JSON', { raw: '{' }, 400, 'MALFORMED'],
    ['that is not UTF-8', { raw: new Uint8Array([0x7b, 0xff, 0x7d]) }, 400, 'MALFORMED', /UTF-8/],
    [
      'with a member twice',
      { raw: '{"agent_key":"a","agent_key":"b","steps":[]}' },
      400,
      'MALFORMED',
      /twice|duplicate/,
    ],
    [
      '10,000 levels deep',
      { raw: `{"agent_key":"a","steps":${'['.repeat(10_000)}${']'.repeat(10_000)}}` },
      400,
      'MALFORMED',
      /deeper than 66/,
    ],
    ['with a huge number', { raw: text(whole).replace('"step":1', '"step":1e400') }, 400, 'MALFORMED'],
    ['with a long number', { raw: text(whole).replace('"step":1', '"step":9007199254740993') }, 400, 'MALFORMED'],
    ['that is a text', { body: 'x' }, 422, 'INVALID'],
    ['that is null', { raw: 'null' }, 422, 'INVALID'],
    ['without an agent', { body: { steps: [step] } }, 422, 'INVALID', /agent_key/],
    ['with an agent of another kind', { body: { ...whole, agent_key: ['a'] } }, 422, 'INVALID', /agent_key/],
    ['with an unknown key', { body: { ...whole, step: [] } }, 422, 'INVALID', /did you mean `steps`/],
    [
      'with a key of prototypes',
      { raw: '{"agent_key":"a","steps":[{}],"__proto__":{"x":1}}' },
      422,
      'INVALID',
      /__proto__/,
    ],
    ['without an item', { body: { agent_key: 'a', steps: [], gaps: null } }, 422, 'INVALID', /at least one item/],
    ['with text as a list', { body: { agent_key: 'a', steps: 'x' } }, 422, 'INVALID', /steps/],
    ...['steps', 'incidents', 'unrecorded', 'gaps'].map(
      (name) =>
        [`with 1,001 ${name}`, { body: { agent_key: 'a', [name]: many(1001) } }, 422, 'INVALID', /1000|1,000/] as const,
    ),
    ['over 8 MiB', { body: { ...whole, agent_key: 'x'.repeat(8 * 1024 * 1024) } }, 413, 'TOO_LARGE'],
    ['of another type', { body: whole, headers: { 'content-type': 'text/plain' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['with a bad Idempotency-Key', { body: whole, headers: { 'idempotency-key': 'a b' } }, 422, 'INVALID'],
  ]
  it.each(cases.map((row) => ({ name: row[0], row })))('$name is rejected', async ({ row }) => {
    const [, more, status, code, says = /./] = row
    const before = await steps()
    const answer = await post(undefined, more)
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(JSON.stringify(answer.body)).toMatch(says)
    expect(JSON.stringify(answer.body)).not.toMatch(/node_modules|\.ts:|at Object/)
    expect(await steps()).toBe(before)
  })

  it('with hostile items is answered item by item', async () => {
    const odd = ['{"__proto__":{"task_id":"t"}}', '{"constructor":1}', '{"task_id":"a\\u0000"}', '[[]]', '"x"', 'null']
    const raw = (name: string) => `{"agent_key":"a","${name}":[${odd.join()}]}`
    for (const name of ['steps', 'incidents', 'unrecorded', 'gaps']) {
      const { status, body } = await post(undefined, { raw: raw(name) })
      const results = (Object.values(body) as { status: number }[][]).flat()
      expect([name, status, results.map((result) => result.status)]).toEqual([name, 200, odd.map(() => 422)])
    }
  })

  it('of a thousand steps of 2 KiB is one request', async () => {
    const all = many(1000).map((_, index) => ({
      ...step,
      task_id: 'large',
      step: index + 1,
      input: { x: 'x'.repeat(2048) },
    }))
    const { body } = await post({ agent_key: 'a', steps: all })
    expect(body.results.map(({ status }) => status)).toEqual(all.map(() => 201))
    expect(body.results.at(-1)?.entry).toMatchObject({ step: 1000, seq: 1000 })
  })
})
