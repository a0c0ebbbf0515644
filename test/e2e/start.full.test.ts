// The output of a start: secrets on a terminal only, and a warning where no member could sign in.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { sharedPostgres } from '../support/server/postgres.js'
import { startProcess } from '../support/server/process.js'
import { soon } from '../support/server/soon.js'

const postgres = await sharedPostgres()
const folder = mkdtempSync(join(tmpdir(), 'svc-start-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})
const credentialsIn = (name: string) => {
  const path = join(folder, name, 'credentials.json')
  return { mode: statSync(path).mode & 0o777, ...JSON.parse(readFileSync(path, 'utf8')) }
}
const start = async (name: string, env: Record<string, string> = {}) => {
  const data_dir = join(folder, name)
  return startProcess({ SVC_DATA_DIR: data_dir, SVC_PORT: '0', ...env })
}
const secrets = /SvcKey-|SvcLocal-|token=/
const hasScript = spawnSync('script', ['--version']).status === 0

describe('a start', () => {
  it('prints no secret without a terminal, and names the file with them', async () => {
    const { printed, terminate } = await start('piped')
    await terminate()
    expect(printed).not.toMatch(secrets)
    expect(printed).not.toContain('warning:')
    expect(printed).toContain(`API key and operator token are in ${join(folder, 'piped', 'credentials.json')}`)
    const { mode, api_key, operator_token } = credentialsIn('piped')
    expect([mode, api_key, operator_token]).toEqual([
      0o600,
      expect.stringMatching(/^SvcKey-/),
      expect.stringMatching(/^SvcLocal-/),
    ])
  })

  /** What a start prints on a terminal. */
  const printedOnTerminal = async (name: string, env: Record<string, string>) => {
    const program = fileURLToPath(new URL('../../app/bin/svc-platform.js', import.meta.url))
    const child = spawn('script', ['-qec', `${process.execPath} ${program} start`, '/dev/null'], {
      env: { PATH: process.env.PATH, SVC_DATA_DIR: join(folder, name), SVC_PORT: '0', SVC_LOG_LEVEL: 'error', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    await vi.waitFor(() => expect(printed).toContain('API description'), soon)
    // Asking for a link prints it too, where mails are printed.
    const [, url = ''] = /is running at (\S+)/.exec(printed) ?? []
    const body = JSON.stringify({ email: 'owner@localhost' })
    await fetch(`${url}/auth/magic-link`, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    child.stdin.write('\u0003')
    await ended
    return printed
  }

  it.skipIf(!hasScript)('prints them on a terminal', async () => {
    const printed = await printedOnTerminal('terminal', {})
    const { api_key, operator_token } = credentialsIn('terminal')
    for (const secret of [api_key, operator_token, '/auth/magic-link?token=']) expect(printed).toContain(secret)
  })

  it.skipIf(!hasScript).each([
    ['a public URL', { SVC_PUBLIC_URL: 'https://svc.example.org' }],
    ['a trusted proxy', { SVC_TRUSTED_PROXIES: '127.0.0.1' }],
  ])('prints none of them on a terminal with %s, because others can reach it', async (name, env) => {
    const folder = name.replaceAll(' ', '-')
    const printed = await printedOnTerminal(folder, env)
    const { api_key, operator_token } = credentialsIn(folder)
    for (const secret of [api_key, operator_token, 'magic-link?token=']) expect(printed).not.toContain(secret)
  })

  it.each([
    ['off loopback without mail', { SVC_HOST: '0.0.0.0' }, true],
    ['behind a proxy of this machine', { SVC_PUBLIC_URL: 'https://svc.example.org' }, true],
    ['off loopback with mail', { SVC_HOST: '0.0.0.0', SVC_SMTP_URL: 'smtp://127.0.0.1:1' }, false],
  ])('warns where no member can sign in: %s', async (name, env, warns) => {
    const platform = await start(name.replaceAll(' ', '-'), env)
    const warning =
      'warning: SVC_SMTP_URL is not set, so sign-in links cannot be mailed: run `svc-platform admin sign-in-link EMAIL`'
    if (warns) await vi.waitFor(() => expect(platform.printed).toContain(warning), soon)
    await platform.terminate()
    expect(platform.printed.includes(warning)).toBe(warns)
  })

  it('names the lock, the port or the variables that prevent it', async () => {
    const first = await start('busy')
    await expect(start('busy')).rejects.toThrow(/data directory .* is in use by process \d+/)
    await expect(start('beside', { SVC_PORT: new URL(first.url).port })).rejects.toThrow(/port \d+ is in use/)
    await expect(start('wrong', { SVC_PORT: 'http', SVC_DATABASE_URL: 'mysql://x' })).rejects.toThrow(
      /SVC_DATABASE_URL[\s\S]*SVC_PORT/,
    )
    await first.terminate()
  })
})

describe.skipIf(postgres === null)('the first key of a database', () => {
  if (postgres === null) return
  it('is created once by concurrent starts', async () => {
    const url = postgres.freshDatabase()
    const names = ['one', 'two', 'three']
    const platforms = await Promise.all(names.map((name) => start(name, { SVC_DATABASE_URL: url })))
    const again = await start('four', { SVC_DATABASE_URL: url })
    for (const { terminate } of [...platforms, again]) await terminate()
    expect(postgres.psql(url, 'select count(*) from api_keys')).toBe('1')
    const keys = [...names, 'four'].map((name) => credentialsIn(name).api_key)
    expect(keys.filter((key) => key !== null)).toHaveLength(1)
    const without = [...platforms, again].filter((_, index) => keys[index] === null)
    for (const { printed } of without)
      expect(printed).toContain('create one with `npx --no-install svc key create NAME`')
  })

  it('has one signing key and says what the other processes must share', async () => {
    const env = { SVC_DATABASE_URL: postgres.freshDatabase(), SVC_CHECKPOINT_SECONDS: '1', SVC_LOG_LEVEL: 'error' }
    const first = await start('signer', env)
    const second = await start('stranger', env)
    const shared = await start('sharer', {
      ...env,
      SVC_LOG_KEY_DIR: join(folder, 'signer', 'log'),
      SVC_OPERATOR_TOKEN: first.operator_token,
    })
    const notes = () => postgres.psql(env.SVC_DATABASE_URL, 'select note from checkpoints')
    await vi.waitFor(() => expect(notes()).toContain('— '), soon)
    for (const { terminate } of [first, second, shared]) await terminate()
    const warningsOf = ({ printed }: { printed: string }) => printed.match(/^warning: .*$/gm) ?? []
    expect(warningsOf(second)).toEqual([
      expect.stringMatching(/stranger\/log` lacks the key that signs the log .* set SVC_LOG_KEY_DIR to the folder/),
      expect.stringMatching(/its own operator token.* set the same SVC_OPERATOR_TOKEN for all/),
    ])
    expect([warningsOf(first), warningsOf(shared)]).toEqual([[], []])
    // The first four bytes of a signature name its key.
    const signers = notes().match(/(?<=^— \S+ )[\w+/]{5}/gm) ?? []
    expect(new Set(signers).size).toBe(1)
    expect(notes().match(/^— /gm)?.length).toBe(signers.length)
  })

  it('is created again on an embedded database whose credentials file is missing', async () => {
    const first = await start('moved')
    await first.terminate()
    rmSync(join(folder, 'moved', 'credentials.json'))
    const second = await start('moved')
    const headers = { authorization: `Bearer ${second.api_key}` }
    expect((await fetch(`${second.url}/api/v1/log/checkpoint`, { headers })).status).not.toBe(401)
    await second.terminate()
    expect(second.api_key).not.toBe(first.api_key)
  })
})
