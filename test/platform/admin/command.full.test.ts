// `svc-platform admin` on a running and a stopped platform, with the embedded database and with a server.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account, SessionTokens } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { sharedPostgres } from '../../support/server/postgres.js'
import { type PlatformProcess, runPlatform, startProcess } from '../../support/server/process.js'

const postgres = await sharedPostgres()
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A data directory; `name` is a folder within it. */
function dataDir(name = ''): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-admin-test-'))
  folders.push(folder)
  return join(folder, name)
}

/** Signs in with a printed link. */
async function spend(url: string, printed: string) {
  const token = /^http:\/\/127\.0\.0\.1:\d+\/auth\/magic-link\?token=([A-Za-z0-9_-]{43})\n$/.exec(printed)?.[1]
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ token })
  const response = await fetch(`${url}/auth/magic-link/verify`, { method: 'POST', headers, body })
  const { access_token } = (await response.json()) as SessionTokens
  const me = async () => {
    const answer = await fetch(`${url}/auth/me`, { headers: { authorization: `Bearer ${access_token}` } })
    return (await answer.json()) as Account
  }
  return { status: response.status, me }
}

const key = Buffer.alloc(32, 1).toString('hex')
const common = { SVC_PORT: '0', SVC_REGISTRATION_CAP: '1', SVC_ENCRYPTION_KEY: key }
const admin = (env: Record<string, string>, ...args: string[]) => runPlatform(['admin', ...args], env)

/** The same checks for both kinds of databases, while the platform runs. */
async function worksWhileRunning(platform: PlatformProcess, env: Record<string, string>): Promise<void> {
  const link = await admin(env, 'sign-in-link', 'Late@Example.org')
  expect([link.code, link.stderr]).toEqual([0, ''])
  const { status, me } = await spend(platform.url, link.stdout)
  expect([status, (await me()).email, (await me()).is_capped]).toEqual([200, 'late@example.org', true])
  expect((await spend(platform.url, link.stdout)).status).toBe(401)
  expect(await admin(env, 'release', 'Late@example.org')).toEqual({
    code: 0,
    stdout: 'Late@example.org: released\n',
    stderr: '',
  })
  expect((await me()).is_capped).toBe(false)
  const again = await admin(env, 'release', 'late@example.org')
  expect([again.code, again.stderr]).toEqual([
    1,
    expect.stringContaining('no waitlisted account has the address `late@example.org`'),
  ])
  const wrong = await admin(env, 'sign-in-link', 'late')
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('must be an address')])
  expect((await admin(env, 'release')).code).toBe(2)
}

describe('svc-platform admin, with the embedded database', () => {
  it('works while the platform runs, and while it is stopped', async () => {
    const env = { ...common, SVC_DATA_DIR: dataDir() }
    const platform = await startProcess(env)
    const folder = join(env.SVC_DATA_DIR, 'admin')
    if (process.platform !== 'win32')
      expect([folder, join(folder, 'admin.sock')].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600])
    await worksWhileRunning(platform, env)
    expect(await platform.terminate()).toBe(0)
    expect(statSync(folder, { throwIfNoEntry: false })).toBeUndefined()
    const link = await admin({ ...env, SVC_PORT: '18080' }, 'sign-in-link', 'mia@example.org')
    expect([link.code, link.stdout]).toEqual([
      0,
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:18080\/auth\/magic-link\?/),
    ])
    const next = await startProcess(env)
    expect((await spend(next.url, link.stdout)).status).toBe(200)
    // The socket that a killed platform leaves behind is ignored.
    await next.kill9()
    expect((await admin(env, 'sign-in-link', 'mia@example.org')).code).toBe(0)
  })

  it('works with a data directory whose path is too long for a socket', async () => {
    const env = { ...common, SVC_DATA_DIR: dataDir('d'.repeat(120)) }
    const platform = await startProcess(env)
    await worksWhileRunning(platform, env)
    expect(await platform.terminate()).toBe(0)
  })

  it('names the process that uses the data directory when its socket does not answer', async () => {
    const env = { ...common, SVC_DATA_DIR: dataDir() }
    const platform = await startProcess(env)
    rmSync(join(env.SVC_DATA_DIR, 'admin'), { recursive: true })
    const { code, stderr } = await admin(env, 'release', 'mia@example.org')
    expect([code, stderr]).toEqual([1, expect.stringContaining(`in use by process ${platform.pid}`)])
    expect(stderr).toContain('does not answer at its admin socket')
    expect(await platform.terminate()).toBe(0)
  })

  it('ignores invalid and silent connections to the socket', async () => {
    const env = { ...common, SVC_DATA_DIR: dataDir() }
    const platform = await startProcess(env)
    const path = join(env.SVC_DATA_DIR, 'admin', 'admin.sock')
    const answered = (text: string) =>
      new Promise<string>((resolve) => {
        let answer = ''
        const socket = connect({ path, allowHalfOpen: true }).on('error', () => undefined)
        socket.setEncoding('utf8').on('data', (part: string) => {
          answer += part
        })
        socket.once('close', () => resolve(answer)).once('end', () => socket.destroy())
        socket.end(text)
      })
    for (const text of ['', 'no JSON', 'x'.repeat(20_000), '{"operation":"release"}'.slice(0, 5)])
      expect([text.length, await answered(text)]).toEqual([text.length, ''])
    expect(await answered('{"operation":"drop","email":"a@b"}')).toContain('has no operation `drop`')
    const silent = connect({ path }).on('error', () => undefined)
    await new Promise<void>((resolve) => silent.once('connect', () => resolve()))
    expect((await admin(env, 'sign-in-link', 'mia@example.org')).code).toBe(0)
    expect(await platform.terminate()).toBe(0)
  })
})

describe.skipIf(postgres === null)('svc-platform admin, with a server', () => {
  it('works in the database while the platform runs', async () => {
    if (postgres === null) return
    const env = { ...common, SVC_DATA_DIR: dataDir(), SVC_DATABASE_URL: postgres.freshDatabase() }
    const platform = await startProcess(env)
    expect(statSync(join(env.SVC_DATA_DIR, 'admin'), { throwIfNoEntry: false })).toBeUndefined()
    const port = new URL(platform.url).port
    await worksWhileRunning(platform, { ...env, SVC_PORT: port })
    expect(await platform.terminate()).toBe(0)
  })
})
