// Steps and batches that the platform rejects (docs/design/log.md §1), and hostile ones that it stores unchanged.
import { readFileSync } from 'node:fs'
import { canonical } from '@svc/proof'
import type { BatchAnswer, LoggedStep, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type CallOptions, discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
const other_key = `SvcKey-${'o'.repeat(43)}`
beforeAll(async () => {
  platform = await startPlatform({ env: { SVC_SEED_API_KEY: other_key } })
  await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a' } })
  await platform.call('POST', '/api/v1/agents', { as: other_key, body: { agent_key: 'theirs' } })
  await platform.call('POST', '/api/v1/logs', { as: 'key', body: { ...valid, task_id: 'mine' } })
})
afterAll(() => discard(platform))

const valid = { task_id: 't', step: 1, step_type: 'START_NODE', timestamp: '2026-01-05T09:00:00Z' }
const count = async () => (await platform.call<{ logs: unknown[] }>('GET', '/api/v1/logs?limit=200')).body.logs.length

interface InvalidStep extends Pick<CallOptions, 'as' | 'headers'> {
  readonly name: string
  readonly change?: object
  readonly text?: string | Uint8Array
  readonly status: number
  readonly code: string
  readonly path?: string
  readonly detail?: string
}

const nested = (depth: number) =>
  JSON.stringify({ ...valid, input: 0 }).replace('0}', `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`)
const cases: readonly InvalidStep[] = [
  ...(parse(readFileSync(new URL('../../cases/http/invalid-steps.yaml', import.meta.url), 'utf8')) as InvalidStep[]),
  { name: 'bytes that are not UTF-8', text: new Uint8Array([0x7b, 0xff, 0x7d]), status: 400, code: 'MALFORMED' },
  { name: 'nesting deeper than 64', text: nested(64), status: 400, code: 'MALFORMED', detail: 'deeper than 64' },
  { name: 'a body over 1 MiB', change: { input: { x: 'x'.repeat(1024 * 1024) } }, status: 413, code: 'TOO_LARGE' },
  {
    name: 'a task id that is too long',
    change: { task_id: 'x'.repeat(201) },
    status: 422,
    code: 'INVALID',
    path: 'task_id',
  },
]

describe('an invalid step', () => {
  it.each(cases)('is rejected and not stored: $name', async ({ as = 'key', headers, change, text, ...expected }) => {
    const before = await count()
    const answer = await platform.call<Problem>('POST', '/api/v1/logs', {
      as: as === 'other' ? other_key : as,
      ...(headers !== undefined && { headers }),
      ...(text === undefined ? { body: { ...valid, ...change } } : { raw: text }),
    })
    const { status, code, path, detail } = expected
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code })
    if (path !== undefined) expect(answer.body.errors.map((error) => error.path)).toContain(path)
    if (detail !== undefined) expect(JSON.stringify(answer.body)).toMatch(new RegExp(detail))
    if (status === 401) expect(answer.headers.get('www-authenticate')).toContain('Bearer')
    expect(answer.headers.get('content-type')).toContain('application/problem+json')
    expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'))
    expect(JSON.stringify(answer.body)).not.toMatch(/node_modules|\.ts:|at Object/)
    expect(await count()).toBe(before)
  })

  it('is answered with every field that is wrong', async () => {
    const { body } = await platform.call<Problem>('POST', '/api/v1/logs', {
      as: 'key',
      body: { task_id: 't', step: 0, step_type: '?', timestamp: 'now', verb: 'PUT' },
    })
    expect(body.errors.map((error) => error.path).sort()).toEqual(['step', 'step_type', 'timestamp', 'verb'])
  })

  it('names its agent when the API key has several', async () => {
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'b' } })
    const unnamed = await platform.call<Problem>('POST', '/api/v1/logs', {
      as: 'key',
      body: { ...valid, task_id: 'unnamed' },
    })
    expect([unnamed.status, unnamed.body.errors[0]?.path]).toEqual([422, 'agent_id'])
    const named = await platform.call<LoggedStep>('POST', '/api/v1/logs', {
      as: 'key',
      body: { ...valid, task_id: 'unnamed', agent_key: 'b' },
    })
    const next = await platform.call<LoggedStep>('POST', '/api/v1/logs', {
      as: 'key',
      body: { ...valid, task_id: 'unnamed', step: 2 },
    })
    expect([named.status, next.status]).toEqual([201, 201])
    const wrong = await platform.call<Problem>('POST', '/api/v1/logs', {
      as: 'key',
      body: { ...valid, task_id: 'unnamed', step: 3, agent_key: 'a' },
    })
    expect([wrong.status, wrong.body.code]).toEqual([409, 'CONFLICT'])
  })
})

describe('a valid step with a hostile payload', () => {
  it('is stored unchanged and has no effect', async () => {
    const input = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"nul":"\\u0000","n":1e300}',
    )
    const { status, body } = await platform.call<LoggedStep>('POST', '/api/v1/logs', {
      as: 'key',
      body: { ...valid, task_id: 'hostile', agent_key: 'a', input, step_name: "'; drop table log_entries; --" },
    })
    expect(status).toBe(201)
    const stored = await platform.call<{ input: unknown }>('GET', `/api/v1/logs/${body.log_id}`)
    expect(canonical(stored.body.input)).toBe(canonical(input))
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect((await platform.call<{ valid: boolean }>('GET', '/api/v1/tasks/hostile/verify')).body.valid).toBe(true)
  })
})

describe('a body with 60,000 members', () => {
  const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`m${index}`, 1]))

  it.each([
    ['a step', '/api/v1/logs', { ...valid, ...many }, 1],
    ['an evaluation', '/api/v1/engine/evaluate', many, 1],
    ['a member of an evaluation', '/api/v1/engine/evaluate', { intended: many }, 50],
  ])('is rejected: %s', async (_, path, body, errors) => {
    const answer = await platform.call<Problem>('POST', path, { as: 'key', body })
    expect([answer.status, answer.body.errors?.length]).toEqual([422, errors])
  })

  it('is rejected in a batch, without the steps beside it', async () => {
    const step = { ...valid, agent_key: 'a', task_id: 'members' }
    const { body } = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', {
      as: 'key',
      body: { entries: [{ ...step, ...many }, step] },
    })
    expect(body.results.map((result) => result.status)).toEqual([422, 201])
    expect(JSON.stringify(body.results[0])).toContain('members: the limit is 1,000')
  })

  it('is kept where the members are the input of a step', async () => {
    const body = { ...valid, agent_key: 'a', task_id: 'input', input: many }
    expect((await platform.call('POST', '/api/v1/logs', { as: 'key', body })).status).toBe(201)
  })
})

describe('a violating step', () => {
  it('is recorded whatever characters its name contains', async () => {
    const step_name = 'a\u0000b'
    const body = { ...valid, task_id: 'nul', agent_key: 'a', step_type: 'step.exec', step_name }
    const send = () =>
      platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body, headers: { 'idempotency-key': 'nul' } })
    const first = await send()
    expect([first.status, first.body.violations[0]?.violation_details.evidence[0]?.step_name]).toEqual([201, step_name])
    expect((await send()).body).toEqual(first.body)
    expect((await platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body })).body).toEqual(first.body)
    expect((await platform.call('GET', '/api/v1/incidents?task_id=nul')).body).toMatchObject({ total: 1 })
    expect((await platform.call('GET', '/api/v1/tasks/nul/verify')).body).toMatchObject({ integrity: { ok: true } })
  })
})

describe('a batch', () => {
  it.each([
    ['no entries', { entries: [] }, 422],
    ['more than 1,000 entries', { entries: Array.from({ length: 1001 }, () => valid) }, 422],
    ['a list instead of an object', [valid], 422],
  ])('with %s is rejected', async (_, body, status) => {
    expect((await platform.call('POST', '/api/v1/logs/batch', { as: 'key', body })).status).toBe(status)
  })

  it.each([
    ['1,000 steps and a final line break', 1000, '\n', 200],
    ['a million empty lines', 1, '\n'.repeat(1_000_000), 422],
    ['1,001 steps', 1001, '', 422],
  ])('of JSON lines has at most 1,001 lines: %s', async (_, steps, end, status) => {
    const line = (step: number) =>
      JSON.stringify({ ...valid, agent_key: 'a', task_id: 'lines', step, step_type: 'step.model' })
    const raw = `${Array.from({ length: steps }, (_, index) => line(index + 1)).join('\n')}${end}`
    const headers = { 'content-type': 'application/x-ndjson' }
    const { status: found, body } = await platform.call('POST', '/api/v1/logs/batch', { as: 'key', raw, headers })
    expect(found).toBe(status)
    if (status === 422) expect(JSON.stringify(body)).toMatch(/1,001 lines|at most 1000 items/)
  })

  it('is limited to 8 MiB', async () => {
    const entries = (size: number) =>
      Array.from({ length: 6 }, (_, index) => ({
        ...valid,
        agent_key: 'a',
        task_id: 'large',
        step: index + 1,
        input: { x: 'x'.repeat(size) },
      }))
    const { body } = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', {
      as: 'key',
      body: { entries: entries(500_000) },
    })
    expect(body.results.map((result) => result.status)).toEqual([201, 201, 201, 201, 201, 201])
    expect(
      (await platform.call('POST', '/api/v1/logs/batch', { as: 'key', body: { entries: entries(1_500_000) } })).status,
    ).toBe(413)
  })
})
