// Everything that must not get in, and what its sender is told (docs/design/platform.md §2, §6; docs/design/log.md §1).

import { canonical } from '@svc/proof'
import type { BatchAnswer, LoggedStep, Problem, RegisteredAgent } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CallOptions, discard, startPlatform, type TestPlatform } from '../../support/platform.js'

let platform: TestPlatform
const other_key = `SvcKey-${'o'.repeat(43)}`
beforeAll(async () => {
  platform = await startPlatform({ env: { SVC_SEED_API_KEY: other_key } })
  await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a' } })
  await platform.call('POST', '/api/v1/agents', { as: other_key, body: { agent_key: 'theirs' } })
  await platform.call('POST', '/api/v1/logs', { as: 'key', body: { ...sound, task_id: 'mine' } })
})
afterAll(() => discard(platform))

const sound = { task_id: 't', step: 1, step_type: 'START_NODE', timestamp: '2026-01-05T09:00:00Z' }
const count = async () => (await platform.call<{ logs: unknown[] }>('GET', '/api/v1/logs?limit=200')).body.logs.length

interface Case {
  readonly what: string
  readonly send: CallOptions
  readonly status: number
  readonly code: string
  /** The field that is named, when one is. */
  readonly path?: string
  readonly says?: RegExp
}

const json = (change: Record<string, unknown>) => ({ body: { ...sound, ...change } })
const deep = (depth: number) =>
  `{"task_id":"t","step":1,"step_type":"START_NODE","timestamp":"2026-01-05T09:00:00Z","input":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`

const cases: readonly Case[] = [
  { what: 'malformed JSON', send: { raw: '{"task_id": "t",}' }, status: 400, code: 'MALFORMED' },
  { what: 'an empty body', send: { raw: '' }, status: 400, code: 'MALFORMED', says: /empty/ },
  {
    what: 'bytes that are not UTF-8',
    send: { raw: new Uint8Array([0x7b, 0xff, 0x7d]) },
    status: 400,
    code: 'MALFORMED',
    says: /UTF-8/,
  },
  {
    what: 'duplicate keys',
    send: { raw: '{"task_id":"t",\n"task_id":"u"}' },
    status: 400,
    code: 'MALFORMED',
    says: /duplicate member name `task_id` at line 2, column 1/,
  },
  {
    what: 'a lone surrogate',
    send: { raw: '{"task_id":"\\ud800"}' },
    status: 400,
    code: 'MALFORMED',
    says: /lone surrogate/,
  },
  {
    what: 'an integer beyond 2^53-1',
    send: { raw: '{"step": 9007199254740993}' },
    status: 400,
    code: 'MALFORMED',
    says: /2\^53-1/,
  },
  { what: 'nesting deeper than 64', send: { raw: deep(64) }, status: 400, code: 'MALFORMED', says: /deeper than 64/ },
  { what: 'a body over 1 MiB', send: json({ input: { x: 'x'.repeat(1024 * 1024) } }), status: 413, code: 'TOO_LARGE' },
  {
    what: 'another content type',
    send: { ...json({}), headers: { 'content-type': 'text/plain' } },
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  {
    what: 'a compressed body',
    send: { ...json({}), headers: { 'content-encoding': 'gzip' } },
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  {
    what: 'an unknown key',
    send: json({ stepname: 'x' }),
    status: 422,
    code: 'INVALID',
    path: 'stepname',
    says: /did you mean `step_name`/,
  },
  {
    what: 'a key that would reach the prototype',
    send: { raw: JSON.stringify(sound).replace('{', '{"__proto__":{"a":1},') },
    status: 422,
    code: 'INVALID',
    path: '__proto__',
  },
  {
    what: 'no task',
    send: { body: { step: 1, step_type: 'START_NODE', timestamp: sound.timestamp } },
    status: 422,
    code: 'INVALID',
    says: /`task_id` is missing/,
  },
  {
    what: 'a task that is not printable',
    send: json({ task_id: 'a\u0000b' }),
    status: 422,
    code: 'INVALID',
    path: 'task_id',
  },
  {
    what: 'a previous hash that no text column can hold',
    send: json({ prev_hash: 'a\u0000b' }),
    status: 422,
    code: 'INVALID',
    path: 'prev_hash',
    says: /without the character NUL/,
  },
  {
    what: 'a number that is infinite',
    send: { raw: deep(1).replace(':1}', ':1E400}') },
    status: 400,
    code: 'MALFORMED',
    says: /too large/,
  },
  {
    what: 'a task name that is too long',
    send: json({ task_id: 'x'.repeat(201) }),
    status: 422,
    code: 'INVALID',
    path: 'task_id',
  },
  {
    what: 'a step that is a string',
    send: json({ step: '1' }),
    status: 422,
    code: 'INVALID',
    path: 'step',
    says: /integer/,
  },
  { what: 'step zero', send: json({ step: 0 }), status: 422, code: 'INVALID', path: 'step' },
  {
    what: 'two step numbers that differ',
    send: json({ step_number: 2 }),
    status: 422,
    code: 'INVALID',
    path: 'step_number',
  },
  {
    what: 'a step type with spaces',
    send: json({ step_type: 'START NODE' }),
    status: 422,
    code: 'INVALID',
    path: 'step_type',
  },
  {
    what: 'a time of another form',
    send: json({ timestamp: '2026-01-05' }),
    status: 422,
    code: 'INVALID',
    path: 'timestamp',
    says: /RFC 3339/,
  },
  {
    what: 'a day that does not exist',
    send: json({ timestamp: '2026-02-30T09:00:00Z' }),
    status: 422,
    code: 'INVALID',
    path: 'timestamp',
  },
  { what: 'an input that is a list', send: json({ input: [] }), status: 422, code: 'INVALID', path: 'input' },
  { what: 'a body that is a list', send: { body: [sound] }, status: 422, code: 'INVALID', says: /must be an object/ },
  { what: 'no credential', send: { ...json({}), as: null }, status: 401, code: 'UNAUTHENTICATED' },
  {
    what: 'a key that does not exist',
    send: { ...json({}), as: `SvcKey-${'x'.repeat(43)}` },
    status: 401,
    code: 'UNAUTHENTICATED',
  },
  {
    what: 'an operator who logs',
    send: { ...json({}), as: 'operator' },
    status: 403,
    code: 'FORBIDDEN',
    says: /API key/,
  },
  {
    what: 'an agent that does not exist',
    send: json({ agent_id: `ag_${'0'.repeat(32)}` }),
    status: 404,
    code: 'NOT_FOUND',
  },
  { what: "another key's agent", send: json({ agent_key: 'theirs' }), status: 404, code: 'NOT_FOUND' },
  {
    what: "another key's task",
    send: { ...json({ task_id: 'mine', step: 2 }), as: other_key },
    status: 404,
    code: 'NOT_FOUND',
  },
]

describe('a step that must not get in', () => {
  it.each(cases)('$what: $status $code', async ({ send, status, code, path, says }) => {
    const before = await count()
    const answer = await platform.call<Problem>('POST', '/api/v1/logs', { as: 'key', ...send })
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code })
    if (path !== undefined) expect(answer.body.errors.map((error) => error.path)).toContain(path)
    if (says !== undefined) expect(JSON.stringify(answer.body)).toMatch(says)
    if (status === 401) expect(answer.headers.get('www-authenticate')).toContain('Bearer')
    expect(answer.headers.get('content-type')).toContain('application/problem+json')
    expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'))
    expect(JSON.stringify(answer.body)).not.toMatch(/node_modules|\.ts:|at Object/)
    expect(await count()).toBe(before)
  })

  it('names everything that is wrong at once', async () => {
    const { body } = await platform.call<Problem>('POST', '/api/v1/logs', {
      as: 'key',
      body: { task_id: 't', step: 0, step_type: '?', timestamp: 'now', verb: 'PUT' },
    })
    expect(body.errors.map((error) => error.path).sort()).toEqual(['step', 'step_type', 'timestamp', 'verb'])
  })

  it('needs to say which agent made it when a key serves several', async () => {
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'b' } })
    const unnamed = await platform.call<Problem>('POST', '/api/v1/logs', {
      as: 'key',
      body: { ...sound, task_id: 'whose' },
    })
    expect([unnamed.status, unnamed.body.errors[0]?.path]).toEqual([422, 'agent_id'])
    const named = await platform.call<LoggedStep>('POST', '/api/v1/logs', {
      as: 'key',
      body: { ...sound, task_id: 'whose', agent_key: 'b' },
    })
    const next = await platform.call<LoggedStep>('POST', '/api/v1/logs', {
      as: 'key',
      body: { ...sound, task_id: 'whose', step: 2 },
    })
    expect([named.status, next.status]).toEqual([201, 201])
    const wrong = await platform.call<Problem>('POST', '/api/v1/logs', {
      as: 'key',
      body: { ...sound, task_id: 'whose', step: 3, agent_key: 'a' },
    })
    expect([wrong.status, wrong.body.code]).toEqual([409, 'CONFLICT'])
  })
})

describe('hostile payloads that are valid', () => {
  it('are kept as they are and reach nothing', async () => {
    const input = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"nul":"\\u0000","n":1e300}',
    )
    const { status, body } = await platform.call<LoggedStep>('POST', '/api/v1/logs', {
      as: 'key',
      body: { ...sound, task_id: 'hostile', agent_key: 'a', input, step_name: "'; drop table log_entries; --" },
    })
    expect(status).toBe(201)
    const stored = await platform.call<{ input: unknown }>('GET', `/api/v1/logs/${body.log_id}`)
    expect(canonical(stored.body.input)).toBe(canonical(input))
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect((await platform.call<{ valid: boolean }>('GET', '/api/v1/tasks/hostile/verify')).body.valid).toBe(true)
  })
})

describe('a violating step', () => {
  it('cannot escape being recorded by the characters in its name', async () => {
    const step_name = 'a\u0000b'
    const body = { ...sound, task_id: 'nul', agent_key: 'a', step_type: 'step.exec', step_name }
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

describe('an agent', () => {
  const register = (body: unknown, as = 'key') =>
    platform.call<RegisteredAgent & Problem>('POST', '/api/v1/agents', { as, body })

  it.each([
    ['no key', {}, 422],
    ['an empty key', { agent_key: '' }, 422],
    ['a level that does not exist', { agent_key: 'x', risk_classification: 'extreme' }, 422],
    ['an environment that does not exist', { agent_key: 'x', environment: 'moon' }, 422],
    ['tools that are numbers', { agent_key: 'x', declared_tools: [1] }, 422],
    ['a NUL in an unknown key', { agent_key: 'x', note: 'a\u0000' }, 422],
  ])('with %s is refused', async (_, body, status) => expect((await register(body)).status).toBe(status))

  it('of unacceptable risk is registered, and makes an incident', async () => {
    const { status, body } = await register({
      agent_key: 'scorer',
      risk_classification: 'unacceptable',
      owner_id: 'x',
      purpose: 'y',
    })
    expect([status, body.violations.map((violation) => violation.name)]).toEqual([201, ['No prohibited system']])
    const incidents = await platform.call('GET', `/api/v1/incidents?agent_id=${body.agent_id}`)
    expect(incidents.body).toMatchObject({
      total: 1,
      incidents: [{ scope: 'agent_registration', task_id: null, severity: 'critical' }],
    })
  })

  it('under another key is another agent', async () => {
    expect((await register({ agent_key: 'twin' })).body.agent_id).not.toBe(
      (await register({ agent_key: 'twin' }, other_key)).body.agent_id,
    )
  })

  it('keeps its level until an operator confirms a lower one', async () => {
    await register({ agent_key: 'level', risk_classification: 'high' })
    const { body } = await register({ agent_key: 'level', risk_classification: 'minimal' })
    expect((await platform.call('GET', `/api/v1/agents/${body.agent_id}`)).body).toMatchObject({
      risk_classification: 'minimal',
      effective_risk_classification: 'high',
    })
    await register({ agent_key: 'level', risk_classification: 'unacceptable' })
    expect((await platform.call('GET', `/api/v1/agents/${body.agent_id}`)).body).toMatchObject({
      risk_classification: 'unacceptable',
      effective_risk_classification: 'unacceptable',
    })
  })
})

describe('a batch', () => {
  it.each([
    ['none', { entries: [] }, 422],
    ['too many', { entries: Array.from({ length: 1001 }, () => sound) }, 422],
    ['a list instead of an object', [sound], 422],
  ])('with %s entries is refused', async (_, body, status) => {
    expect((await platform.call('POST', '/api/v1/logs/batch', { as: 'key', body })).status).toBe(status)
  })

  it('may be larger than a single body, to 8 MiB', async () => {
    const entries = (size: number) =>
      Array.from({ length: 6 }, (_, index) => ({
        ...sound,
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

describe('a question', () => {
  it.each([
    ['/api/v1/logs/tasks?limit=101', 422],
    ['/api/v1/logs/tasks?limit=0', 422],
    ['/api/v1/logs/tasks?skip=-1', 422],
    ['/api/v1/logs?task=x', 422],
    ['/api/v1/logs?task_id=a&task_id=b', 422],
    ['/api/v1/logs?cursor=%00', 422],
    ['/api/v1/logs?from=yesterday', 422],
    ['/api/v1/logs?from=0000-01-01T00:00:00Z', 422],
    ['/api/v1/logs?q=%00', 422],
    ['/api/v1/logs/%00', 404],
    ['/api/v1/tasks/a%00/verify', 404],
    ['/api/v1/logs/%E0%A4', 400],
    ['/api/v1/logs/log_nothing', 404],
    ['/api/v1/tasks/nothing/verify', 404],
    ['/api/v1/tasks/nothing/chain', 404],
    ['/api/v1/agents/ag_nothing', 404],
    ['/api/v1/policy-templates', 404],
    ['/api/v1/%2e%2e/%2e%2e/etc/passwd', 404],
    ["/api/v1/logs/tasks?q=' or 1=1 --", 200],
  ])('GET %s: %i', async (path, status) => expect((await platform.call('GET', path)).status).toBe(status))

  it('with the wrong method names the right one', async () => {
    const answer = await platform.call('GET', '/api/v1/logs/batch', {})
    expect([answer.status, answer.headers.get('allow')]).toEqual([404, null])
    const put = await platform.call('PUT', '/api/v1/logs', { body: {} })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'POST, GET'])
  })

  it('of a key is answered for its own tasks only', async () => {
    expect((await platform.call('GET', '/api/v1/tasks/mine/verify', { as: 'key' })).status).toBe(200)
    expect((await platform.call('GET', '/api/v1/tasks/mine/verify', { as: other_key })).status).toBe(404)
    expect((await platform.call('GET', '/api/v1/tasks/mine/chain', { as: other_key })).status).toBe(404)
    expect((await platform.call('GET', '/api/v1/logs', { as: 'key' })).status).toBe(403)
    const theirs = { intended: { step_type: 'step.exec' }, context: { agent_id: 'a', task_id: 'mine' } }
    expect((await platform.call('POST', '/api/v1/engine/evaluate', { as: other_key, body: theirs })).status).toBe(404)
  })
})

describe('the pages', () => {
  it('are served from here, under a strict policy', async () => {
    const page = await fetch(`${platform.url}/docs`)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await page.text()).not.toMatch(/https?:\/\//)
    for (const path of [
      '/docs/swagger-ui.css',
      '/docs/swagger-ui-bundle.js',
      '/docs/start.js',
      '/openapi.json',
      '/livez',
      '/readyz',
      '/health',
    ]) {
      expect((await fetch(platform.url + path)).status).toBe(200)
    }
  })
})
