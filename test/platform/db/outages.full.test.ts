// Outages of the database: a start or a command that fails ends with cause and cure, and a running platform logs each outage once.
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort, hasPostgres, type Postgres, startPostgres } from '../../support/server/postgres.js'
import { type PlatformProcess, runPlatform, serverKey, startProcess } from '../../support/server/process.js'
import { fill, smallDisk } from '../../support/server/small-disk.js'
import { soon } from '../../support/server/soon.js'

const root = mkdtempSync(join(tmpdir(), 'svc-outages-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const folder = () => mkdtempSync(join(root, 'data-'))

/** The log lines of a level that names an error or a warning. */
const warnings = ({ printed }: PlatformProcess) =>
  printed
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: number; msg: string })
    .filter(({ level }) => level >= 40)
    .map(({ msg }) => msg)

const send = (platform: PlatformProcess, task_id: string, text: string) =>
  fetch(`${platform.url}/api/v1/logs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      task_id,
      step: 1,
      step_type: 'step.model',
      agent_key: 'a',
      timestamp: '2026-01-05T09:00:00Z',
      input: { text },
    }),
  }).then(({ status }) => status)
const register = (platform: PlatformProcess) =>
  fetch(`${platform.url}/api/v1/agents`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_key: 'a' }),
  })
const notReady = async (platform: PlatformProcess) =>
  ((await (await fetch(`${platform.url}/readyz`)).json()) as { not_ready: string[] }).not_ready

/** Fills the disk, sends 30 steps, and frees the disk. */
async function expectOneLine(platform: PlatformProcess, disk: string): Promise<void> {
  await register(platform)
  const filler = join(disk, 'filler')
  fill(filler, disk, 1_200_000)
  // The database compresses texts.
  const text = randomBytes(75_000).toString('base64')
  const statuses: number[] = []
  for (let task = 0; task < 60; task++) statuses.push(await send(platform, `t-${task}`, text))
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(20)
  await vi.waitFor(async () => expect(await notReady(platform)).toContain('disk'), soon)
  expect(warnings(platform).filter((line) => line.includes('is full: free space'))).toHaveLength(1)
  expect(warnings(platform).filter((line) => line === 'unavailable')).toEqual([])
  rmSync(filler)
  await vi.waitFor(async () => expect(await notReady(platform)).toEqual([]), soon)
  expect(await send(platform, 'after', text)).toBe(201)
  expect(warnings(platform)).toContain('the disk of the database has space again')
}

describe('a full disk', () => {
  const disk = smallDisk(256)
  afterAll(() => disk?.remove())

  it.skipIf(disk === null)('of the embedded database is one line of the log, and `disk` in /readyz', async () => {
    const data_dir = join(disk?.folder ?? '', 'data')
    const platform = await startProcess({ SVC_DATA_DIR: data_dir, SVC_PORT: '0', SVC_LOG_LEVEL: 'warn' })
    await expectOneLine(platform, disk?.folder ?? '')
    await platform.terminate()
  })

  it.skipIf(disk === null)('of the embedded database ends a start with the cause', async () => {
    const filler = join(disk?.folder ?? '', 'filler-of-start')
    fill(filler, disk?.folder ?? '', 100_000)
    const env = { SVC_DATA_DIR: join(disk?.folder ?? '', 'new'), SVC_PORT: '0' }
    const { code, stderr } = await runPlatform(['start'], env)
    rmSync(filler)
    expect([code, lastLine(stderr)]).toEqual([1, expect.stringMatching(/the disk of `.*` is full: free space on it/)])
  })
})

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}

describe.skipIf(!hasPostgres())('a server', () => {
  let postgres: Postgres
  beforeAll(async () => {
    const started = await startPostgres('-c fsync=off')
    if (started === null) throw new Error('no server')
    postgres = started
    const hba = join(postgres.folder, 'data', 'pg_hba.conf')
    writeFileSync(hba, `host all guarded 127.0.0.1/32 scram-sha-256\n${readFileSync(hba, 'utf8')}`)
    postgres.psql(postgres.url, `create role guarded login password 'right'; select pg_reload_conf()`)
  })
  afterAll(() => postgres?.remove())
  const at = (change: (url: URL) => void) => {
    const url = new URL(postgres.url)
    change(url)
    return url.href
  }
  const as = (username: string, password: string) =>
    at((url) => {
      url.username = username
      url.password = password
    })
  /** The tables of a finished start. */
  const used = async () => {
    const url = postgres.emptyDatabase()
    const platform = await startProcess({ SVC_DATA_DIR: folder(), SVC_PORT: '0', SVC_DATABASE_URL: url })
    await platform.terminate()
    return url
  }

  const lostRole = 'no role for the tables'
  const failures: readonly (readonly [string, () => Promise<string>, RegExp])[] = [
    ['a wrong password', async () => as('guarded', 'wrong'), /rejects the user \(.*"guarded"\): correct the user/],
    ['a user that is missing', async () => as('other', 'x'), /rejects the user \(.*"other".*\): correct the user/],
    ['a database that is missing', async () => at((url) => (url.pathname = '/none')), /create it with `createdb`/],
    [
      'no server',
      async () => {
        const port = await freePort()
        return at((url) => (url.port = String(port)))
      },
      /accepts no connections: start it, or correct SVC_DATABASE_URL/,
    ],
    [
      'tables of a newer version',
      async () => {
        const url = await used()
        postgres.psql(url, `insert into svc_migrations (name, batch) values ('0999-of-tomorrow', 99)`)
        return url
      },
      /a newer version of svc has changed this database \(migration `0999-of-tomorrow`\).*: start the newer version/,
    ],
    [
      lostRole,
      async () => {
        const url = await used()
        // As on a new server; other databases of this one keep the role under another name.
        postgres.psql(url, 'alter role svc_app rename to svc_app_before')
        return url
      },
      /the role `svc_app` is missing .*run `create role svc_app nologin; grant svc_app to svc;`/,
    ],
  ]
  it.each(failures)('ends a start and a command with cause and cure: %s', async (name, urlOf, expected) => {
    const url = await urlOf()
    const env = { SVC_DATABASE_URL: url, SVC_DATA_DIR: folder(), SVC_PORT: '0', SVC_ENCRYPTION_KEY: serverKey }
    for (const args of [['start'], ['admin', 'sign-in-link', 'mia@example.org']]) {
      const { code, stderr } = await runPlatform(args, env)
      expect([args, code, lastLine(stderr)]).toEqual([args, 1, expect.stringMatching(expected)])
      expect(stderr).not.toContain('wrong')
    }
    if (name === lostRole) postgres.psql(postgres.url, 'alter role svc_app_before rename to svc_app')
  })

  it('that stops is one line of the log, and another when it is back', async () => {
    const url = postgres.emptyDatabase()
    const env = { SVC_DATA_DIR: folder(), SVC_PORT: '0', SVC_DATABASE_URL: url, SVC_LOG_LEVEL: 'warn' }
    const platform = await startProcess({ ...env, SVC_CHECKPOINT_SECONDS: '1' })
    await register(platform)
    postgres.stop('fast')
    const statuses = await Promise.all(Array.from({ length: 30 }, (_, task) => send(platform, `t-${task}`, 'x')))
    expect(new Set(statuses)).toEqual(new Set([503]))
    await vi.waitFor(() => expect(warnings(platform)).toContain('no job runs until the database is available'), soon)
    expect(await notReady(platform)).toContain('database')
    postgres.start()
    await vi.waitFor(async () => expect(await send(platform, 'after', 'x')).toBe(201), soon)
    const lines = warnings(platform)
    await platform.terminate()
    expect(lines.filter((line) => line.startsWith('the database server'))).toHaveLength(1)
    expect(lines.filter((line) => line === 'the database is available again')).toHaveLength(1)
    expect(lines.length).toBeLessThanOrEqual(4)
  })

  const disk = hasPostgres() ? smallDisk(96) : null
  afterAll(() => disk?.remove())
  it.skipIf(disk === null)('with a full disk is one line of the log, and `disk` in /readyz', async () => {
    const tables = join(disk?.folder ?? '', 'tables')
    mkdirSync(tables)
    chmodSync(disk?.folder ?? '', 0o755)
    const { uid, gid } = statSync(postgres.folder)
    chownSync(tables, uid, gid)
    const url = postgres.emptyDatabase()
    const name = url.split('/').at(-1)
    postgres.psql(postgres.url, `create tablespace small location '${tables}'`)
    postgres.psql(postgres.url, `alter database ${name} set tablespace small`)
    const env = { SVC_DATA_DIR: folder(), SVC_PORT: '0', SVC_DATABASE_URL: url, SVC_LOG_LEVEL: 'warn' }
    const platform = await startProcess(env)
    await expectOneLine(platform, disk?.folder ?? '')
    await platform.terminate()
    postgres.psql(postgres.url, `drop database ${name} with (force)`)
    postgres.psql(postgres.url, 'drop tablespace small')
  })
})
