// Requests that the local engine must reject, and its answers.
import { connect } from 'node:net'
import type { EngineHealth, Evaluation, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Serve, type ServeCall, startServe } from '../../support/engine/serve.js'

let serve: Serve
beforeAll(async () => {
  serve = await startServe(['--baseline'])
})
afterAll(async () => {
  // After all these requests there is no internal error, and the engine still answers.
  expect(serve.printed().err.replaceAll(/^blocked: .*\n/gm, '')).toBe('')
  expect((await serve.call<EngineHealth>('GET', '/health')).body.load_state).toBe('enforcing')
  await serve.discard()
})

const context = { agent_id: 'a', task_id: 't', environment: 'development', risk_classification: 'limited' }
const intended = { step_type: 'step.model', verb: 'POST' }
const asking = (more: object, inContext: object = {}) => ({
  intended: { ...intended, ...more },
  context: { ...context, ...inContext },
})
const paths = ({ errors }: Problem) => errors.map(({ path }) => path)

describe('a body that does not fit', () => {
  const { environment: _, ...incomplete } = context
  const cases: readonly { name: string; path?: string; body: unknown; at: string; message?: RegExp }[] = [
    {
      name: 'an unknown key',
      body: asking({ step_nmae: 'x' }),
      at: 'intended.step_nmae',
      message: /`step_nmae`.*`step_name`/,
    },
    {
      name: 'a key without a similar name',
      body: asking({ zzzzzz: 1 }),
      at: 'intended.zzzzzz',
      message: /allowed: agent_id/,
    },
    { name: 'an unknown key of the context', body: asking({}, { tools: [] }), at: 'context.tools' },
    { name: 'an unknown key beside both', body: { ...asking({}), now: 1 }, at: 'now' },
    {
      name: 'a context without a required key',
      body: { intended, context: incomplete },
      at: 'context.environment',
      message: /`environment` is missing/,
    },
    { name: 'no context', body: { intended }, at: 'context', message: /`context` is missing/ },
    {
      name: 'an unknown verb',
      body: asking({ verb: 'PUT' }),
      at: 'intended.verb',
      message: /GET, POST, PATCH, DELETE/,
    },
    { name: 'an unknown step type', body: asking({ step_type: 'step.begin' }), at: 'intended.step_type' },
    {
      name: 'no step type',
      body: { intended: {}, context },
      at: 'intended.step_type',
      message: /`step_type` is missing/,
    },
    {
      name: 'an input that is not an object',
      body: asking({ input: 'text' }),
      at: 'intended.input',
      message: /must be an object/,
    },
    { name: 'an invalid time', body: asking({ timestamp: '2026-02-30T00:00:00' }), at: 'intended.timestamp' },
    { name: 'a required key that is null', body: asking({}, { environment: null }), at: 'context.environment' },
    {
      name: 'no task id',
      body: asking({}, { task_id: null }),
      at: 'context.task_id',
      message: /is missing, and so is `intended.task_id`/,
    },
    {
      name: 'a task other than that of the context',
      body: asking({ task_id: 'other' }),
      at: 'intended.task_id',
      message: /differs/,
    },
    {
      name: 'an agent other than that of the context',
      body: asking({ agent_id: 'other' }),
      at: 'intended.agent_id',
      message: /differs/,
    },
    {
      name: 'tools under both names',
      body: asking({}, { declared_tools: ['x'], agent_allowed_tools: ['y'] }),
      at: 'context.agent_allowed_tools',
    },
    { name: 'a list', body: [], at: '', message: /must be an object/ },
    {
      name: 'a step number of zero',
      path: '/record',
      body: { step: { task_id: 't', step_type: 'step.gate', step: 0 } },
      at: 'step.step',
    },
    {
      name: 'a step number that is not an integer',
      path: '/record',
      body: { step: { task_id: 't', step_type: 'step.gate', step: 1.5 } },
      at: 'step.step',
    },
    {
      name: 'a step without a task',
      path: '/record',
      body: { step: { step_type: 'step.gate' } },
      at: 'step.task_id',
      message: /missing/,
    },
    {
      name: 'an unknown recorded verb',
      path: '/record',
      body: { step: { task_id: 't', step_type: 'step.gate', verb: 'get' } },
      at: 'step.verb',
    },
    { name: 'an end without a task', path: '/end_task', body: {}, at: 'task_id' },
    { name: 'an agent without a key', path: '/register_agent', body: { name: 'x' }, at: 'agent_key' },
    {
      name: 'tools that are not a list',
      path: '/register_agent',
      body: { agent_key: 'x', declared_tools: 'all' },
      at: 'declared_tools',
    },
  ]
  it.each(cases)('$name: 422 that names the field', async ({ path = '/evaluate', body, at, message }) => {
    const answer = await serve.post<Problem>(path, body)
    expect(answer.status).toBe(422)
    expect(answer.headers['content-type']).toBe('application/problem+json')
    expect(answer.body).toMatchObject({ code: 'INVALID', status: 422, title: 'Unprocessable Entity' })
    expect(paths(answer.body)).toContain(at)
    const problem = answer.body.errors.find((error) => error.path === at)
    expect(problem?.message).toMatch(message ?? /./)
    if (at !== '') expect(answer.body.detail).toContain(answer.body.errors[0]?.path)
  })

  it('prototype keys are unknown keys, but are kept as data inside payloads', async () => {
    const raw = (step: string) => `{"intended": ${step}, "context": ${JSON.stringify(context)}}`
    for (const key of ['__proto__', 'constructor', 'prototype', 'toString']) {
      const answer = await serve.call('POST', '/evaluate', { raw: raw(`{"step_type": "step.gate", "${key}": {}}`) })
      expect([key, answer.status, paths(answer.body)]).toEqual([key, 422, [`intended.${key}`]])
    }
    const inside = raw('{"step_type": "step.gate", "properties": {"__proto__": {"target": {"trust": "external"}}}}')
    expect((await serve.call<Evaluation>('POST', '/evaluate', { raw: inside })).body.blocked).toBe(false)
    const agent = '{"agent_key": "__proto__", "__proto__": {"owner_id": "x"}}'
    const registered = await serve.call<Evaluation>('POST', '/register_agent', { raw: agent })
    const missing = registered.body.policies.filter(({ violated }) => violated)
    expect([registered.status, missing.length > 0]).toEqual([200, true])
  })
})

describe('a request that cannot be read', () => {
  const nested = (depth: number) => `{"step": ${'{"input": '.repeat(depth)}{}${'}'.repeat(depth)}}`
  const post = (raw: string | Uint8Array, headers: ServeCall['headers'] = {}): [string, string, ServeCall] => [
    'POST',
    '/record',
    { raw, headers },
  ]
  const cases: readonly {
    name: string
    call: [string, string, ServeCall?]
    status: number
    code: string
    message?: RegExp
  }[] = [
    { name: 'no body', call: post(''), status: 400, code: 'MALFORMED' },
    {
      name: 'half a body',
      call: post('{"step": '),
      status: 400,
      code: 'MALFORMED',
      message: /expected value, found the end at line 1, column 10/,
    },
    { name: 'text', call: post('hello'), status: 400, code: 'MALFORMED' },
    {
      name: 'a duplicate key',
      call: post('{"step":\n {"a": 1, "a": 2}}'),
      status: 400,
      code: 'MALFORMED',
      message: /`a` at line 2, column 11/,
    },
    {
      name: 'a key that is a duplicate after unescaping',
      call: post('{"a": 1, "\\u0061": 2}'),
      status: 400,
      code: 'MALFORMED',
      message: /duplicate/,
    },
    {
      name: 'a lone surrogate',
      call: post('{"step": "\\ud800"}'),
      status: 400,
      code: 'MALFORMED',
      message: /surrogate at line 1, column 10/,
    },
    {
      name: 'an integer beyond 2^53-1',
      call: post('{"step": 9007199254740993}'),
      status: 400,
      code: 'MALFORMED',
      message: /2\^53-1/,
    },
    { name: 'a number that is infinite', call: post('{"step": 1e999}'), status: 400, code: 'MALFORMED' },
    { name: 'nesting beyond 64', call: post(nested(64)), status: 400, code: 'MALFORMED', message: /deeper than 64/ },
    {
      name: 'nesting far beyond',
      call: post('['.repeat(500_000)),
      status: 400,
      code: 'MALFORMED',
      message: /deeper than 64/,
    },
    {
      name: 'bytes that are not UTF-8',
      call: post(Buffer.from([0x22, 0xff, 0x22])),
      status: 400,
      code: 'MALFORMED',
      message: /UTF-8/,
    },
    {
      name: 'a form',
      call: post('a=1', { 'content-type': 'application/x-www-form-urlencoded' }),
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
    },
    {
      name: 'plain text',
      call: post('{}', { 'content-type': 'text/plain' }),
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
    },
    {
      name: 'a compressed body',
      call: post('{}', { 'content-encoding': 'gzip' }),
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
    },
    { name: 'an unknown path', call: ['GET', '/nowhere'], status: 404, code: 'NOT_FOUND', message: /\/evaluate/ },
    { name: 'a path from the prototype', call: ['GET', '/__proto__'], status: 404, code: 'NOT_FOUND' },
    { name: 'the wrong method', call: ['GET', '/evaluate'], status: 405, code: 'METHOD_NOT_ALLOWED' },
  ]
  it.each(cases)('$name: $status', async ({ call, status, code, message = /./ }) => {
    const answer = await serve.call(...call)
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ code, status, errors: [] })
    expect(answer.body.detail).toMatch(message)
    expect(answer.headers.allow).toBe(status === 405 ? 'POST' : undefined)
  })

  it('takes JSON without a content type, or with a charset', async () => {
    for (const type of [null, 'application/json; charset=utf-8', 'Application/JSON']) {
      const headers = { 'content-type': type }
      const answer = await serve.call('POST', '/evaluate', { raw: JSON.stringify(asking({})), headers })
      expect([type, answer.status]).toEqual([type, 200])
    }
  })
})

describe('a large body', () => {
  const stepOf = (bytes: number) => {
    const empty = JSON.stringify({ step: { task_id: 'large', step_type: 'step.model', input: { text: '' } } })
    return empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`)
  }
  it('of exactly 1 MiB is taken', async () => {
    expect((await serve.call('POST', '/record', { raw: stepOf(1024 * 1024) })).status).toBe(200)
  })

  it.each([{ chunked: false }, { chunked: true }])(
    'beyond that is rejected with a readable answer: %o',
    async ({ chunked }) => {
      const headers: Record<string, string> = chunked ? { 'transfer-encoding': 'chunked' } : {}
      for (const bytes of [1024 * 1024 + 1, 8 * 1024 * 1024]) {
        const answer = await serve.call('POST', '/record', { raw: stepOf(bytes), headers })
        expect([answer.status, answer.body.code, answer.headers.connection]).toEqual([413, 'TOO_LARGE', 'close'])
      }
    },
  )

  it('is rejected at once when its declared length is enormous', async () => {
    const head = 'POST /record HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 99999999999\r\n\r\n'
    expect(await raw(head)).toMatch(/^HTTP\/1\.1 413 /)
  })
})

describe('a foreign caller', () => {
  const evil = 'evil.example'
  it.each([
    { name: 'a name that was bound to this address', host: `${evil}:PORT` },
    { name: 'another port', host: '127.0.0.1:1' },
    { name: 'no port', host: '127.0.0.1' },
    { name: 'a name that begins like a local one', host: `localhost.${evil}:PORT` },
  ])('with $name in the Host header gets 421', async ({ host }) => {
    const headers = { host: host.replace('PORT', String(serve.port)) }
    const answer = await serve.call('GET', '/health', { headers })
    expect([answer.status, answer.body.code]).toEqual([421, 'MISDIRECTED'])
  })

  it('is distinguished from a local one', async () => {
    for (const name of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]']) {
      const answer = await serve.call('GET', '/health', { headers: { host: `${name}:${serve.port}` } })
      expect([name, answer.status]).toEqual([name, 200])
    }
  })

  it('on a page of another origin gets 403 and changes nothing', async () => {
    const body = { step: { task_id: 'page', step_type: 'step.gate' } }
    for (const origin of [
      `http://${evil}`,
      'null',
      `http://${evil}:${serve.port}`,
      `https://127.0.0.1:${serve.port}`,
    ]) {
      // A page can send this without a preflight request: no content type.
      const answer = await serve.call('POST', '/record', { body, headers: { origin, 'content-type': null } })
      expect([origin, answer.status, answer.body.code]).toEqual([origin, 403, 'FOREIGN_ORIGIN'])
    }
    const own = await serve.call<{ step: number }>('POST', '/record', { body, headers: { origin: serve.url } })
    expect(own.body.step).toBe(1)
  })
})

describe('a caller that stops sending', () => {
  const half = 'POST /record HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 100\r\n\r\n{"step"'

  it('is dropped when it closes the connection', async () => {
    await new Promise<void>((resolve, reject) => {
      const socket = connect(serve.port, '127.0.0.1', () => socket.write(half.replace('PORT', String(serve.port))))
      socket.once('error', reject)
      socket.write('', () => socket.destroy())
      socket.once('close', () => resolve())
    })
    expect((await serve.call<EngineHealth>('GET', '/health')).status).toBe(200)
  })
})

/** Sends bytes as they are and waits until the server closes the connection. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(serve.port, '127.0.0.1', () => socket.write(text.replace('PORT', String(serve.port))))
    socket.on('data', (chunk) => {
      answer += chunk.toString()
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(answer))
  })
}
