// Answers of the platform: headers, pages, bodies, and the log line of a request.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BatchAnswer, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, type TestPlatform } from '../../support/server/platform.js'
import { freePort } from '../../support/server/postgres.js'
import { newClock, startWithAgent, stepOf } from './booker.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startWithAgent(newClock())
})
afterAll(() => discard(platform))

describe('every answer', () => {
  it('to a request for another protocol ends the connection', async () => {
    const asked = request(`${platform.url}/livez`, { headers: { connection: 'upgrade', upgrade: 'websocket' } }).end()
    const [{ statusCode, headers }] = (await once(asked, 'response')) as [IncomingMessage]
    asked.destroy()
    expect([statusCode, headers.connection]).toEqual([200, 'close'])
  })

  it.each([
    ['an answer', '/api/v1/agents', 200],
    ['a problem', '/api/v1/nothing', 404],
    ['the page', '/docs', 200],
    ['the health', '/health', 200],
  ])('has strict headers: %s', async (_, path, status) => {
    const { headers, status: answered } = await platform.call('GET', path)
    expect(answered).toBe(status)
    const policy = Object.fromEntries(
      (headers.get('content-security-policy') ?? '').split(';').map((part) => {
        const [name = '', ...sources] = part.trim().split(' ')
        return [name, sources.join(' ')]
      }),
    )
    expect(policy).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self' data:",
      'connect-src': "'self'",
      'font-src': "'self'",
      'form-action': "'self'",
      'frame-ancestors': "'none'",
      'base-uri': "'none'",
    })
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-powered-by')).toBeNull()
    expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-f-]{36}$/)
  })

  it('has its own request id, whatever the request contains', async () => {
    const headers = { 'x-request-id': 'mine' }
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await platform.call('GET', '/livez', { headers })).headers.get('x-request-id')),
    )
    expect(new Set(ids).size).toBe(3)
    expect(ids).not.toContain('mine')
  })

  it('to HEAD equals that to GET without the body', async () => {
    const answer = await platform.call('HEAD', '/api/v1/agents')
    expect([answer.status, answer.body]).toEqual([200, ''])
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(100)
  })

  it('of the API page loads only what its policy allows', async () => {
    const home = await platform.call('GET', '/')
    expect([home.status, home.headers.get('location')]).toEqual([302, '/docs'])
    const page = String((await platform.call<string>('GET', '/docs')).body)
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i)
    expect([...page.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)].map(([, tag, code]) => [tag, code])).toEqual([
      [' src="/docs/swagger-ui-bundle.js"', ''],
      [' src="/docs/start.js"', ''],
    ])
    for (const [path, type] of [
      ['/docs/start.js', 'text/javascript'],
      ['/docs/swagger-ui-bundle.js', 'text/javascript'],
      ['/docs/swagger-ui.css', 'text/css'],
    ] as const)
      expect((await platform.call('GET', path)).headers.get('content-type')).toContain(type)
  })

  it('of the API page refers to no other origin', async () => {
    expect(await (await fetch(`${platform.url}/docs`)).text()).not.toMatch(/https?:\/\//)
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

describe('a body', () => {
  it('of JSON lines has a result per line, which names the number of an invalid one', async () => {
    const lines = [JSON.stringify(stepOf('lines', 1, 'START_NODE')), '', '{"task_id":', JSON.stringify({ task_id: 1 })]
    const { status, body } = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', {
      as: 'key',
      raw: [...lines, JSON.stringify(stepOf('lines', 2, 'END_NODE'))].join('\r\n'),
      headers: { 'content-type': 'application/x-ndjson; charset=utf-8' },
    })
    expect([status, body.results.map((result) => result.status)]).toEqual([200, [201, 400, 422, 201]])
    expect(body.results[1]?.problem).toMatchObject({ code: 'MALFORMED', detail: expect.stringContaining('line 3') })
  })

  it('of JSON lines is accepted by the batch only', async () => {
    const { status } = await platform.call('POST', '/api/v1/logs', {
      as: 'key',
      raw: JSON.stringify(stepOf('x', 1, 'START_NODE')),
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(status).toBe(415)
  })

  it('may contain a textual escape of the character NUL, but not the character', async () => {
    const register = (purpose: unknown) =>
      platform.call<Problem>('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'nul', note: purpose } })
    expect((await register('the text \\u0000, spelt out')).status).toBe(201)
    for (const held of ['a\0b', { list: [{ deep: '\0' }] }, { 'a\0b': 1 }]) {
      const { status, body } = await register(held)
      expect([status, body.errors.map((error) => error.path)]).toEqual([422, ['note']])
    }
  })
})

describe('the log of requests', () => {
  it('has one line per request, without credential, body, query or control characters', async () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'svc-log-'))
    const program = fileURLToPath(new URL('../../../app/bin/svc-platform.js', import.meta.url))
    const port = await freePort()
    const child = spawn(process.execPath, [program, 'start'], {
      env: { PATH: process.env.PATH, SVC_DATA_DIR: data_dir, SVC_PORT: String(port), SVC_LOG_LEVEL: 'info' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    let printed = ''
    const started = new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString()
        if (printed.includes('API description')) resolve()
      })
      ended.then(() => reject(new Error(`the platform ended: ${printed}`)))
    })
    try {
      await started
      const greeting = printed.length
      const url = `http://127.0.0.1:${port}`
      const secret = `SvcKey-${'s'.repeat(43)}`
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', cookie: 'c=crumbs' }
      await fetch(`${url}/api/v1/logs?q=searched`, { headers })
      await fetch(`${url}/api/v1/agents`, { method: 'POST', headers, body: '{"agent_key":"embodied"}' })
      await fetch(`${url}/api/v1/a%0A{"level":60}%1b[31m`, { headers })
      child.kill('SIGTERM')
      await ended
      const logged = printed.slice(greeting)
      const lines = logged.split('\n').filter((line) => line.startsWith('{'))
      const requests = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      expect(requests.map(({ method, path, status }) => [method, path, status])).toEqual([
        ['GET', '/api/v1/logs', 401],
        ['POST', '/api/v1/agents', 401],
        ['GET', expect.stringContaining('/api/v1/a%0A'), 404],
      ])
      for (const { request_id, ms } of requests)
        expect([request_id, ms]).toEqual([expect.any(String), expect.any(Number)])
      expect(logged).not.toMatch(/sssss|searched|embodied|crumbs|\p{Cc}(?<!\n)/u)
    } finally {
      child.kill('SIGKILL')
      rmSync(data_dir, { recursive: true, force: true })
    }
  })
})
