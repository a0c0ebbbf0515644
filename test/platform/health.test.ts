// The public health of a platform, and the fields that a valid credential adds.
import { type PlatformHealth, productVersion } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readExposition } from '../support/http/exposition.js'
import { logSteps, register } from '../support/log/log.js'
import { type MailServer, startMailServer } from '../support/people/mail.js'
import { signedIn } from '../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../support/server/platform.js'
import { sharedPostgres } from '../support/server/postgres.js'
import { soon } from '../support/server/soon.js'

const postgres = await sharedPostgres()

let platform: TestPlatform
let mails: MailServer
beforeAll(async () => {
  mails = await startMailServer()
  platform = await startPlatform({ env: { SVC_SMTP_URL: mails.url, SVC_RATE_LIMIT_ADDRESS: '30' } })
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

const shape = ({ status, uptime_seconds, system, database, ...more }: PlatformHealth) => [
  status,
  typeof uptime_seconds,
  Object.keys(system),
  Object.keys(database),
  Object.keys(more),
]
const bare = ['ok', 'number', ['rss', 'heap', 'load'], ['connected', 'latency_ms'], []]
const full = [
  'ok',
  'number',
  ['rss', 'heap', 'load', 'node'],
  ['connected', 'latency_ms', 'kind', 'migration'],
  ['version', 'commit'],
]

describe('GET /health', () => {
  const made = async (scopes: string[]) =>
    (await platform.call<{ key: string }>('POST', '/auth/api-keys', { body: { name: 'k', scopes } })).body.key
  const rows: readonly [string, () => Promise<string | null>, unknown][] = [
    ['no credential', async () => null, bare],
    ['a wrong key', async () => `SvcKey-${'w'.repeat(43)}`, bare],
    ['a wrong operator token', async () => `SvcLocal-${'w'.repeat(43)}`, bare],
    ['a token with an invalid signature', async () => 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1c3JfMSJ9.AAAA', bare],
    ['an API key with the scope ingest', () => made(['ingest']), full],
    ['an API key with the scope read', () => made(['read']), full],
    ['the operator token', async () => 'operator', full],
    ['the token of a person', async () => (await signedIn(platform, mails, 'mia@example.org')).token, full],
  ]
  it.each(rows)('answers %s', async (_, credential, expected) => {
    const { status, body } = await platform.call<PlatformHealth>('GET', '/health', { as: await credential() })
    expect([status, shape(body)]).toEqual([200, expected])
  })

  it('has the version of the product and the commit of the build', async () => {
    const { body } = await platform.call<PlatformHealth>('GET', '/health')
    expect(body.version).toBe(productVersion)
    expect(body.commit).toMatch(/^[0-9a-f]{40}$/)
  })

  it('answers after too many invalid credentials, without revealing whether the next one is valid', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.1' }
    const behind = await startPlatform({ env: { SVC_RATE_LIMIT_ADDRESS: '2', SVC_TRUSTED_PROXIES: '127.0.0.1' } })
    const ask = async (as: string) => {
      const { status, body } = await behind.call<PlatformHealth>('GET', '/health', { as, headers })
      return [status, shape(body)]
    }
    for (let turn = 0; turn < 4; turn++) expect(await ask('wrong')).toEqual([200, bare])
    expect(await ask('operator')).toEqual([200, bare])
    await discard(behind)
  })
})

describe.skipIf(postgres === null)('concurrent health checks', () => {
  it('query the database once, in a transaction', async () => {
    const url = postgres?.freshDatabase() ?? ''
    const now = Date.parse('2026-03-01T12:00:00Z')
    // The clock does not advance, so that no answer expires.
    const checked = await startPlatform({ database_url: url, clock: () => now })
    const asked = await Promise.all(Array.from({ length: 40 }, () => checked.call('GET', '/health', { as: null })))
    expect(asked.map(({ status }) => status)).toEqual(Array(40).fill(200))
    postgres?.psql(url, 'alter table svc_migrations rename to elsewhere')
    expect((await checked.call('GET', '/health', { as: null })).status).toBe(200)
    const ready = { status: 'ok', not_ready: [], checkpoints: 'ok', jobs: { running: true } }
    expect((await checked.call('GET', '/readyz', { as: null })).body).toEqual(ready)
    postgres?.psql(url, 'alter table elsewhere rename to svc_migrations')
    await discard(checked)
  })
})

describe('GET /metrics', () => {
  const scrape = async (as: string | null = null) => {
    const { status, headers, body } = await platform.call<unknown>('GET', '/metrics', { as })
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
    return { text: String(body), values: readExposition(String(body)) }
  }

  it('counts requests by route, entries, commits, events and evaluations, without names of tenants', async () => {
    const { api_key } = platform
    const before = (await scrape()).values
    const registered = await register(platform)
    await logSteps(platform, 'a-task-of-a-tenant', 3)
    await platform.call('GET', '/api/v1/agents', { as: null })
    await platform.call('GET', '/a-path-that-someone-tries/%22%0a', { as: null })
    const { agent_id } = registered.body as { agent_id: string }
    const intended = { step_type: 'step.model', agent_id }
    expect((await platform.call('POST', '/api/v1/engine/evaluate', { as: 'key', body: { intended } })).status).toBe(200)
    const { text, values } = await scrape()
    const grown = (name: string) => (values.get(name) ?? 0) - (before.get(name) ?? 0)
    const answered = (method: string, route: string, status: string) =>
      grown(`svc_http_requests_total{method="${method}",route="${route}",status="${status}"}`)
    expect(grown('svc_log_entries_total')).toBe(3)
    expect(grown('svc_log_commit_entries_sum')).toBe(3)
    expect(grown('svc_log_commit_entries_count')).toBe(grown('svc_log_commit_entries_bucket{le="+Inf"}'))
    expect(answered('GET', '/api/v1/agents', '4xx')).toBe(1)
    expect(answered('POST', '/api/v1/logs/batch', '2xx')).toBe(1)
    expect(answered('any', 'other', '4xx')).toBe(1)
    expect(grown('svc_http_request_seconds_count{method="POST",route="/api/v1/logs/batch"}')).toBe(1)
    expect(grown('svc_events_total{kind="agent.registered"}')).toBe(1)
    expect(grown('svc_evaluations_total{outcome="allow"}')).toBe(1)
    expect(
      [...values.keys()].filter((name) => name.startsWith('svc_events_total{kind="incident.opened",severity=')),
    ).not.toEqual([])
    expect(values.get('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
    expect(values.get('svc_database_up')).toBe(1)
    expect(values.get('svc_write_queue_steps')).toBe(0)
    for (const secret of ['a-task-of-a-tenant', agent_id, 'org_', 'SvcKey', api_key, 'someone-tries'])
      expect(text).not.toContain(secret)
  })

  it('has the queues, the connections and the lag of checkpoints', async () => {
    await vi.waitFor(async () => {
      const { values } = await scrape()
      expect(values.get('svc_jobs_waiting{queue="prune-log"}')).toBe(0)
      expect(values.get('svc_job_runs_total{queue="prune-log",result="failed"}')).toBe(0)
      expect(values.get('svc_checkpoint_lag_seconds')).toBeGreaterThanOrEqual(0)
      expect(values.get('svc_log_rejected')).toBe(0)
    }, soon)
    expect((await scrape()).values.get('svc_database_waiting_transactions')).toBe(0)
  })

  it('names the versions for callers with a credential only', async () => {
    const builds = async (as: string | null) =>
      [...(await scrape(as)).values.keys()].filter((name) => name.startsWith('svc_build_info'))
    expect([await builds(null), (await builds('operator')).length, await builds('wrong')]).toEqual([[], 1, []])
  })
})

describe('GET /livez', () => {
  it('answers without the database', async () => {
    expect((await platform.call('GET', '/livez', { as: null })).body).toEqual({ status: 'ok' })
  })
})
