// A platform whose log holds less than its signer signed: it takes no entries until the operator decides.
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventList, PlatformReadiness, Problem, Verification } from '@svc/schemas'
import { expect, it, vi } from 'vitest'
import { begun, checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { dump, restore } from '../../support/server/database.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { runPlatform } from '../../support/server/process.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()
const step = { task_id: 'after', step: 1, step_type: 'task.start', timestamp: '2026-01-05T09:00:00Z' }

/** How a database is backed up and restored; the platform is stopped. */
interface Backup {
  readonly database_url: string | null
  readonly keep: (data_dir: string) => void
  readonly restore: (data_dir: string) => void
}

const embedded: Backup = {
  database_url: null,
  keep: (data_dir) => cpSync(join(data_dir, 'pg'), join(data_dir, 'kept'), { recursive: true }),
  restore: (data_dir) => {
    rmSync(join(data_dir, 'pg'), { recursive: true })
    cpSync(join(data_dir, 'kept'), join(data_dir, 'pg'), { recursive: true })
  },
}

function onServer(): Backup | null {
  if (postgres === null) return null
  const database_url = postgres.freshDatabase()
  const sql = (text: string) => postgres.psql(database_url, text)
  return { database_url, keep: () => dump(sql), restore: () => restore(sql) }
}

const eventsOf = async (platform: TestPlatform) =>
  (await platform.call<EventList>('GET', '/api/v1/events?limit=200')).body.events.map(({ kind }) => kind)

it.each([
  ['the embedded database', () => embedded],
  ['a server', onServer],
])('a log on %s that is behind its signer takes no entries and is continued by a new epoch', async (_, open) => {
  const backup = open()
  if (backup === null) return console.log('skipped: no PostgreSQL on this machine')
  const { database_url } = backup
  let platform = await startPlatform({ database_url, env: fast })
  const { data_dir } = platform
  const start = () => startPlatform({ database_url, data_dir, env: fast })
  await register(platform)
  await logSteps(platform, 'one', 3)
  await checkpointOf(platform, 3)
  await platform.close()
  backup.keep(data_dir)
  platform = await start()
  await logSteps(platform, 'two', 5)
  await checkpointOf(platform, 8)
  const events = await eventsOf(platform)
  await platform.close()
  backup.restore(data_dir)

  // Each start finds the same state, and leaves it as it is.
  for (const _start of ['first', 'second']) {
    platform = await start()
    const ready = await platform.call<PlatformReadiness>('GET', '/readyz', { as: null })
    expect([ready.status, ready.body]).toMatchObject([503, { not_ready: ['log'], checkpoints: 'refused' }])
    const entry = await platform.call<Problem>('POST', '/api/v1/logs', { as: 'key', body: step })
    expect([entry.status, entry.body.code]).toEqual([503, 'UNAVAILABLE'])
    expect(entry.body.detail).toContain(`the log is shorter than the ${begun + 8} signed entries`)
    const agent = await platform.call<Problem>('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'other' } })
    expect(agent.status).toBe(503)
    expect(await eventsOf(platform)).toEqual(events)
    await platform.close()
  }

  const own = { SVC_DATA_DIR: data_dir, ...(database_url !== null && { SVC_DATABASE_URL: database_url }) }
  const { code, stdout, stderr } = await runPlatform(['new-epoch', '--reason', 'the disk failed'], own)
  expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining('5 signed entries are missing')])
  platform = await start()
  expect(await platform.call('GET', '/readyz', { as: null })).toMatchObject({ status: 200, body: { not_ready: [] } })
  expect((await platform.call('POST', '/api/v1/logs', { as: 'key', body: step })).status).toBe(201)
  const { body } = await platform.call<Verification>('GET', '/api/v1/tasks/one/verify')
  expect(body.integrity).toEqual({ ok: true, first_bad: null })
  await discard(platform)
})

it('a process without the signing key takes entries only after one with the key has compared the logs', async () => {
  const backup = onServer()
  if (backup === null) return console.log('skipped: no PostgreSQL on this machine')
  const { database_url } = backup
  let holder = await startPlatform({ database_url, env: fast })
  const { data_dir, api_key } = holder
  const other_dir = mkdtempSync(join(tmpdir(), 'svc-other-'))
  const token = { SVC_OPERATOR_TOKEN: 'operator-token-of-all-processes-01' }
  const startHolder = () => startPlatform({ database_url, data_dir, env: fast })
  const startOther = (env = {}) =>
    startPlatform({ database_url, data_dir: other_dir, env: { ...fast, ...token, ...env } })
  const ready = async (platform: TestPlatform) => {
    const { status, body } = await platform.call<PlatformReadiness>('GET', '/readyz', { as: null })
    return [status, body.not_ready.join()]
  }
  const send = async (platform: TestPlatform, task_id: string) => {
    const body = { ...step, task_id }
    const answer = await platform.call<Problem>('POST', '/api/v1/logs', { as: api_key, body })
    return [answer.status, answer.body.detail ?? '']
  }
  await register(holder)
  await logSteps(holder, 'one', 3)
  await checkpointOf(holder, 3)
  let other = await startOther()
  expect([await ready(other), await send(other, 'confirmed')]).toEqual([
    [200, ''],
    [201, ''],
  ])
  await checkpointOf(holder, 4)
  backup.keep(data_dir)
  await logSteps(holder, 'two', 5)
  await checkpointOf(holder, 9)
  for (const platform of [other, holder]) await platform.close()
  backup.restore(data_dir)

  // The start without the key comes first, and writes nothing.
  other = await startOther()
  expect(await ready(other)).toEqual([503, 'log'])
  expect(await send(other, 'early')).toEqual([503, expect.stringContaining('`SVC_LOG_KEY_DIR` holds that key')])
  expect((await other.call('GET', '/api/v1/log/checkpoint', { as: api_key })).status).toBe(200)
  holder = await startHolder()
  expect(await ready(holder)).toEqual([503, 'log'])
  const behind = expect.stringContaining(`the log is shorter than the ${begun + 9} signed entries`)
  await vi.waitFor(async () => expect(await send(other, 'early')).toEqual([503, behind]), soon)
  const own = { SVC_DATA_DIR: data_dir, SVC_DATABASE_URL: database_url ?? '' }
  const { code, stderr } = await runPlatform(['new-epoch', '--reason', 'the disk failed'], own)
  expect([code, stderr]).toEqual([0, ''])
  await vi.waitFor(async () => expect(await send(other, 'late')).toEqual([201, '']), soon)

  // A running process notices that its confirmation is gone; the operator may declare that the key is lost.
  await holder.close()
  postgres?.psql(database_url ?? '', 'delete from log_confirmations')
  await vi.waitFor(async () => expect(await ready(other)).toEqual([503, 'log']), soon)
  await other.close()
  other = await startOther({ SVC_LOG_KEY_LOST: '1' })
  expect([await ready(other), await send(other, 'unsigned')]).toEqual([
    [200, ''],
    [201, ''],
  ])
  await discard(other)
  rmSync(data_dir, { recursive: true })
})
