// The platform's HTTP side, where it is not about bad bodies: headers, credentials, pages, filters, what is written down.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BatchAnswer, LogList, Problem, RegisteredAgent, TaskList, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/platform.js'
import { freePort, sharedPostgres } from '../../support/postgres.js'

const postgres = await sharedPostgres()

const at = (second: number) => new Date(Date.UTC(2026, 0, 5, 9, 0, second)).toISOString()
/** The time the platform believes it is; tests move it forward only. */
let now = Date.UTC(2026, 0, 5, 12)
const registration = { agent_key: 'booker', name: 'Travel', owner_id: 'ops', purpose: 'bookings' }

const start = async (database_url?: string) => {
  const started = await startPlatform({ ...(database_url !== undefined && { database_url }), clock: () => now })
  await started.call('POST', '/api/v1/agents', { as: 'key', body: registration })
  return started
}
const step = (task_id: string, number: number, step_type: string) => ({
  ...{ task_id, step: number, step_type, timestamp: at(number), agent_key: 'booker' },
})

/** For whatever does not count rows. */
let platform: TestPlatform
beforeAll(async () => {
  platform = await start()
})
afterAll(() => discard(platform))

describe('every answer', () => {
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
      ...{ 'default-src': "'none'", 'script-src': "'self'", 'style-src': "'self'", 'img-src': "'self' data:" },
      ...{ 'connect-src': "'self'", 'font-src': "'self'", 'form-action': "'self'", 'frame-ancestors': "'none'" },
      'base-uri': "'none'",
    })
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-powered-by')).toBeNull()
    expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-f-]{36}$/)
  })

  it('has a request id of its own, whatever was sent', async () => {
    const headers = { 'x-request-id': 'mine' }
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await platform.call('GET', '/livez', { headers })).headers.get('x-request-id')),
    )
    expect(new Set(ids).size).toBe(3)
    expect(ids).not.toContain('mine')
  })

  it('to HEAD is that to GET, without the body', async () => {
    const answer = await platform.call('HEAD', '/api/v1/agents')
    expect([answer.status, answer.body]).toEqual([200, ''])
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(100)
  })

  it('of the pages loads nothing that the policy forbids', async () => {
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
})

describe('lists', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await start()
    for (const name of ['b', 'c', 'd', 'e'])
      await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: name, environment: 'test' } })
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { ...registration, environment: 'production' } })
    const log = (body: unknown) => platform.call('POST', '/api/v1/logs', { as: 'key', body })
    for (const [task_id, ...types] of [
      ['done', 'START_NODE', 'END_NODE'],
      ['failed', 'START_NODE', 'task.error'],
      ['open', 'START_NODE', 'step.exec', 'step.exec'],
      ['other', 'START_NODE', 'step.exec'],
    ] as const) {
      for (const [index, type] of types.entries()) await log(step(task_id, index + 1, type))
      now += 1000
    }
  })
  afterAll(() => discard(platform))

  const tasks = async (query: string) => {
    const { body } = await platform.call<TaskList>('GET', `/api/v1/logs/tasks?${query}`)
    expect(body.total).toBeGreaterThanOrEqual(body.tasks.length)
    return body.tasks.map((task) => task.task_id)
  }

  it.each([
    ['', ['other', 'open', 'failed', 'done']],
    ['status=error', ['failed']],
    ['status=completed', ['done']],
    ['status=running', ['other', 'open']],
    ['environment=production', ['other', 'open', 'failed', 'done']],
    ['environment=test', []],
    ['q=op', ['open']],
    ['q=pe', []],
    ['q=o&status=running', ['other', 'open']],
    ['q=o&skip=1&environment=production', ['open']],
    ['q=%25', []],
    ['unfinished=true', []],
    ['skip=1&limit=2', ['open', 'failed']],
    // The same moment in three zones: the first task ended before it, and the third began after it.
    ['from=2026-01-05T12:00:01Z', ['other', 'open', 'failed']],
    ['from=2026-01-06T11:59:01%2B23:59', ['other', 'open', 'failed']],
    ['to=2026-01-05T12:00:00Z', ['done']],
  ])('of tasks are filtered: %s', async (query, expected) => expect(await tasks(query)).toEqual(expected))

  it('of tasks tell which never ended, once the timeout is over', async () => {
    now += 3600 * 1000
    expect(await tasks('unfinished=true')).toEqual(['other', 'open', 'failed'])
    expect(await tasks('unfinished=true&status=running')).toEqual(['other', 'open'])
    expect(await tasks('unfinished=false')).toEqual(['done'])
  })

  const pages = async (path: string, name: string, key: string) => {
    const seen: unknown[] = []
    let cursor: string | null = null
    let total = -1
    do {
      type List = { total: number; next_cursor: string | null } & Record<string, Record<string, unknown>[]>
      const more: string = cursor === null ? '' : `&cursor=${cursor}`
      const { body }: { body: List } = await platform.call<List>('GET', `${path}?limit=2${more}`)
      seen.push(...(body[name] ?? []).map((row) => row[key]))
      total = body.total
      cursor = body.next_cursor
    } while (cursor !== null)
    return { seen, total }
  }

  it.each([
    ['/api/v1/agents', 'agents', 'agent_id'],
    ['/api/v1/policies', 'policies', 'id'],
    ['/api/v1/incidents', 'incidents', 'id'],
  ])('in pages neither repeat nor skip: %s', async (path, name, key) => {
    const { seen, total } = await pages(path, name, key)
    expect(seen.length).toBeGreaterThan(2)
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.length).toBe(total)
  })

  it.each([
    ['agents?q=TRAVEL', 1],
    ['agents?q=book', 1],
    // The name is `Travel` and the key `booker`: what spans both is in neither.
    ['agents?q=velboo', 0],
    ['agents?environment=test', 4],
    ['agents?active=false', 0],
    ['agents?risk_classification=high', 0],
    ['policies?enabled=false', 0],
    ['policies?scope=nonsense', null],
    ['policies?limit=201', null],
    ['incidents?task_id=open', 1],
    ['incidents?task_id=open&severity=low', 0],
    ['incidents?state=resolved', 0],
    ['incidents?policy_id=0', null],
    ['incidents?policy_id=999999999999999', 0],
  ])('are filtered: %s', async (query, expected) => {
    const { status, body } = await platform.call<{ total?: number }>('GET', `/api/v1/${query}`)
    expect([status, body.total]).toEqual(expected === null ? [422, undefined] : [200, expected])
  })

  it.each([
    ['task_id=open', [1, 2, 3]],
    ['task_id=open&limit=2', [1, 2]],
    ['task_id=open&step_type=step.exec', [2, 3]],
    ['q=ope&limit=1', [3]],
    ['from=9999-12-31T23:59:59Z', []],
    ['to=0001-01-01T00:00:00Z', []],
  ])('of the log are filtered: %s', async (query, expected) => {
    const { body } = await platform.call<LogList>('GET', `/api/v1/logs?${query}`)
    expect(body.logs.map((entry) => entry.step)).toEqual(expected)
  })

  it('suggest the parameter that was meant', async () => {
    const { status, body } = await platform.call<Problem>('GET', '/api/v1/logs?stepp_type=x&limit=x')
    expect(status).toBe(422)
    expect(body.errors.map((error) => error.path).sort()).toEqual(['limit', 'stepp_type'])
    expect(JSON.stringify(body.errors)).toContain('did you mean `step_type`')
  })
})

describe('what may be cached', () => {
  const fetchPolicies = (headers = {}) =>
    platform.call('GET', '/api/v1/policies/effective?agent_key=booker', { as: 'key', headers })

  it('is not sent again while it is the same, however the tag is written', async () => {
    const tag = (await fetchPolicies()).headers.get('etag') ?? ''
    expect(tag).toMatch(/^"[^"]+"$/)
    for (const known of [tag, `W/${tag}`, `"old", ${tag}`, '*'])
      expect((await fetchPolicies({ 'if-none-match': known })).status).toBe(304)
    for (const unknown of ['"old"', tag.slice(1, -1), ''])
      expect((await fetchPolicies({ 'if-none-match': unknown })).status).toBe(200)
  })

  it('is sent again once the agent has changed', async () => {
    const tag = (await fetchPolicies()).headers.get('etag') ?? ''
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { ...registration, purpose: 'other' } })
    expect((await fetchPolicies({ 'if-none-match': tag })).status).toBe(200)
  })

  it('is refused without naming the agent', async () => {
    const { status, body } = await platform.call<Problem>('GET', '/api/v1/policies/effective', { as: 'key' })
    expect([status, body.errors[0]?.path]).toEqual([422, 'agent_key'])
  })
})

describe('bodies', () => {
  it('of lines: one that is not JSON fails alone, and is named by its number', async () => {
    const lines = [JSON.stringify(step('lines', 1, 'START_NODE')), '', '{"task_id":', JSON.stringify({ task_id: 1 })]
    const { status, body } = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', {
      ...{ as: 'key', raw: [...lines, JSON.stringify(step('lines', 2, 'END_NODE'))].join('\r\n') },
      headers: { 'content-type': 'application/x-ndjson; charset=utf-8' },
    })
    expect([status, body.results.map((result) => result.status)]).toEqual([200, [201, 400, 422, 201]])
    expect(body.results[1]?.problem).toMatchObject({ code: 'MALFORMED', detail: expect.stringContaining('line 3') })
  })

  it('of lines are taken by the batch only', async () => {
    const { status } = await platform.call('POST', '/api/v1/logs', {
      ...{ as: 'key', raw: JSON.stringify(step('x', 1, 'START_NODE')) },
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(status).toBe(415)
  })

  it('may speak of the character NUL, and may not hold it', async () => {
    const register = (purpose: unknown) =>
      platform.call<Problem>('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'nul', note: purpose } })
    expect((await register('the text \\u0000, spelt out')).status).toBe(201)
    for (const held of ['a\0b', { list: [{ deep: '\0' }] }, { 'a\0b': 1 }]) {
      const { status, body } = await register(held)
      expect([status, body.errors.map((error) => error.path)]).toEqual([422, ['note']])
    }
  })
})

describe.skipIf(postgres === null)('a credential', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await start(url)
    await platform.call('POST', '/api/v1/logs', { as: 'key', body: step('mine', 1, 'START_NODE') })
    await platform.call('POST', '/api/v1/logs', { as: 'key', body: step('mine', 2, 'END_NODE') })
  })
  afterAll(() => discard(platform))

  let keys = 0
  const org = () => postgres.psql(url, 'select org_id from organizations order by created_at limit 1')
  /** A key that is stored as keys are: by its hash only. */
  const newKey = (scopes = 'ingest,read', org_id = org()) => {
    const key = `SvcKey-${String(keys++).padStart(43, 'k')}`
    const hash = `'\\x${createHash('sha256').update(key).digest('hex')}'::bytea`
    postgres.psql(
      url,
      `insert into api_keys (org_id, key_id, key_hash, first_key_hash, name, scopes, created_at)
       values ('${org_id}', 'key_${keys}', ${hash}, ${hash}, 'test', '{${scopes}}', now())`,
    )
    return {
      key,
      change: (set: string) => postgres.psql(url, `update api_keys set ${set} where key_id = 'key_${keys}'`),
    }
  }
  const register = (as: string) =>
    platform.call<RegisteredAgent & Problem>('POST', '/api/v1/agents', { as, body: { agent_key: 'x' } })

  it('may be spelt with any case of its scheme', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const headers = { authorization: `${scheme} ${platform.operator_token}` }
      expect((await platform.call('GET', '/api/v1/agents', { as: null, headers })).status).toBe(200)
    }
    for (const authorization of [`Basic ${platform.operator_token}`, `Bearer  ${platform.operator_token}`, 'Bearer'])
      expect((await platform.call('GET', '/api/v1/agents', { as: null, headers: { authorization } })).status).toBe(401)
  })

  it('that is revoked ends within five seconds', async () => {
    const { key, change } = newKey()
    expect((await register(key)).status).toBe(201)
    change('revoked_at = now()')
    now += 5001
    const { status, headers } = await register(key)
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="svc"'])
  })

  it('that expires ends at that moment, also when it is remembered', async () => {
    const { key, change } = newKey()
    change(`expires_at = '${new Date(now + 1000).toISOString()}'`)
    expect((await register(key)).status).toBe(201)
    now += 999
    expect((await register(key)).status).toBe(200)
    now += 1
    expect((await register(key)).status).toBe(401)
  })

  it('does what its scopes allow and nothing else', async () => {
    const reading = newKey('read').key
    const refused = await register(reading)
    expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
      ...[403, 'FORBIDDEN', 'this key may not do this: it lacks the scope `ingest`'],
    ])
    const writing = newKey('ingest').key
    expect((await register(writing)).status).toBe(201)
    const asked = await platform.call<Problem>('GET', '/api/v1/tasks/mine/verify', { as: writing })
    expect([asked.status, asked.body.detail]).toEqual([403, 'this key may not do this: it lacks the scope `read`'])
  })

  it('of another organization opens nothing here', async () => {
    postgres.psql(
      url,
      `insert into organizations (org_id, name, kind, created_at) values ('org_bb', 'b', 'shared', now());
       insert into org_log (org_id) values ('org_bb')`,
    )
    const { key } = newKey('ingest,read', 'org_bb')
    const agents = async () => (await platform.call<{ total: number }>('GET', '/api/v1/agents')).body.total
    const before = await agents()
    expect((await register(key)).status).toBe(201)
    for (const path of ['/api/v1/tasks/mine/verify', '/api/v1/tasks/mine/chain'])
      expect((await platform.call('GET', path, { as: key })).status).toBe(404)
    // The name of a task belongs to its organization: theirs is another one, and begins at its first entry.
    const theirs = await platform.call('POST', '/api/v1/logs', {
      ...{ as: key, body: { ...step('mine', 1, 'START_NODE'), agent_key: 'x' } },
    })
    expect([theirs.status, theirs.body.seq, theirs.body.log_index]).toEqual([201, 1, 4])
    const { body } = await platform.call<Verification>('GET', '/api/v1/tasks/mine/verify', { as: 'key' })
    expect(body).toMatchObject({ valid: true, entries: 2 })
    expect(await agents()).toBe(before)
  })

  it.each([
    ['the head of its task is gone', "delete from task_heads where task_id = 'mine'"],
    ['the head says it is of another agent', "update task_heads set agent_id = 'ag_else' where task_id = 'mine'"],
    ['the first entry says so', "update log_entries set agent_id = 'ag_else' where task_id = 'mine' and seq = 1"],
    ['all entries are gone', "delete from log_entries where task_id = 'mine'"],
  ])('is told of tampering when %s', async (_, change) => {
    const { key } = newKey()
    await register(key)
    postgres.psql(url, 'create table kept_heads as table task_heads; create table kept_entries as table log_entries')
    postgres.psql(url, change)
    const own = await platform.call<Verification>('GET', '/api/v1/tasks/mine/verify', { as: 'key' })
    const other = await platform.call('GET', '/api/v1/tasks/mine/verify', { as: key })
    postgres.psql(
      url,
      `begin; delete from task_heads; insert into task_heads table kept_heads; drop table kept_heads;
       delete from log_entries; insert into log_entries table kept_entries; drop table kept_entries; commit`,
    )
    expect([own.status, own.body.valid, own.body.integrity.ok, other.status]).toEqual([200, false, false, 404])
  })
})

describe('what is written down of a request', () => {
  it('is one line: no credential, no body, no query, and no line of the caller', async () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'svc-log-'))
    const program = fileURLToPath(new URL('../../../platform/bin/svc-platform.js', import.meta.url))
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
      ended.then(() => reject(new Error(`it ended: ${printed}`)))
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
      const said = printed.slice(greeting)
      const lines = said.split('\n').filter((line) => line.startsWith('{'))
      const requests = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      expect(requests.map(({ method, path, status }) => [method, path, status])).toEqual([
        ['GET', '/api/v1/logs', 401],
        ['POST', '/api/v1/agents', 401],
        ['GET', expect.stringContaining('/api/v1/a%0A'), 404],
      ])
      for (const { request_id, ms } of requests)
        expect([request_id, ms]).toEqual([expect.any(String), expect.any(Number)])
      expect(said).not.toMatch(/sssss|searched|embodied|crumbs|\p{Cc}(?<!\n)/u)
    } finally {
      child.kill('SIGKILL')
      rmSync(data_dir, { recursive: true, force: true })
    }
  })
})
