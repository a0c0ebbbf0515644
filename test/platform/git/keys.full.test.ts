// The encryption key and what is sealed with it: tokens and webhook secrets of repositories.
import { createHmac } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Problem, Repository, WebhookSecret } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GitHost, startGitHost } from '../../support/git/git-host.js'
import { type MockGithub, startGithub } from '../../support/git/github.js'
import { refunds } from '../../support/git/manifests-in-git.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { runPlatform } from '../../support/server/process.js'

const postgres = await sharedPostgres()
const token = 'token-1'
let host: GitHost
let count = 0
beforeAll(async () => {
  host = await startGitHost()
})
afterAll(() => host.close())

/** A repository, or why it is rejected. */
type Reply = Omit<Repository, 'status'> & Omit<Problem, 'status'>

/** The address of a new private repository with one manifest. */
function addPrivate(): string {
  count += 1
  host.add(`private-${count}.git`).commit({ 'refunds.yaml': refunds([{ name: 'one' }]) })
  host.passwords.set(`private-${count}.git`, token)
  return `${host.url}/private-${count}.git`
}

const connect = (platform: TestPlatform, url: string) =>
  platform.call<Reply>('POST', '/api/v1/repos', { body: { url, token } })
const resync = (platform: TestPlatform, id: number) =>
  platform.call<Repository>('POST', `/api/v1/repos/${id}/resync`, { body: {} })
const makeSecret = async (platform: TestPlatform, id: number) =>
  (await platform.call<WebhookSecret>('POST', `/api/v1/repos/${id}/webhook-secret`, { body: {} })).body
const announce = async (platform: TestPlatform, { secret, url }: WebhookSecret) => {
  const { pathname, search } = new URL(url)
  const signature = createHmac('sha256', secret).update('{}').digest('hex')
  const headers = { 'x-hub-signature-256': `sha256=${signature}` }
  return (await platform.call(`POST`, pathname + search, { as: null, raw: '{}', headers })).status
}

describe('the key file of an embedded install', () => {
  let platform: TestPlatform
  let path: string
  let key: string
  beforeAll(async () => {
    platform = await startPlatform({ database_url: null })
    path = join(platform.data_dir, 'encryption-key')
    key = readFileSync(path, 'utf8')
  })
  afterAll(() => discard(platform))

  it.each<readonly [string, (at: string) => void]>([
    ['is removed', (at) => rmSync(at)],
    ['is malformed', (at) => writeFileSync(at, 'c2hvcnQ=\n')],
    ['is empty', (at) => writeFileSync(at, '')],
    ['holds another key', (at) => writeFileSync(at, Buffer.alloc(32, 9).toString('base64'))],
  ])('that %s keeps secrets from being stored, until the command of the message is run', async (_, damage) => {
    const { id } = (await connect(platform, addPrivate())).body
    damage(path)
    const url = addPrivate()
    const before = host.requests.length
    const rejected = [
      await connect(platform, url),
      await platform.call<Problem>('PATCH', `/api/v1/repos/${id}`, { body: { token } }),
      await platform.call<Problem>('POST', `/api/v1/repos/${id}/webhook-secret`, { body: {} }),
    ]
    for (const { status, body } of rejected) expect([status, body.code]).toEqual([503, 'ENCRYPTION_KEY_INVALID'])
    expect(host.requests.length).toBe(before)
    const detail = rejected[0]?.body.detail ?? ''
    expect(detail).toContain(path)
    // What needs no key works, and so does what was stored before.
    expect((await resync(platform, id)).body.status).toBe('synced')
    expect((await platform.call('DELETE', `/api/v1/repos/${id}`)).status).toBe(204)

    const [, command = ''] = /write the key back with `(.*?)`/.exec(detail) ?? []
    const [, ...args] = command.replace('npx --no-install ', '').split(' ')
    const written = await runPlatform(args, { SVC_DATA_DIR: platform.data_dir })
    expect([written.code, written.stderr, readFileSync(path, 'utf8')]).toEqual([0, '', key])
    const connected = await connect(platform, url)
    expect(connected.status).toBe(201)
    platform = await platform.restart()
    expect((await resync(platform, connected.body.id)).body).toMatchObject({ status: 'synced', has_token: true })
  })

  it('is named at the start when it is malformed', async () => {
    await platform.close()
    writeFileSync(path, 'c2hvcnQ=\n')
    const message = expect.stringContaining(`\`${path}\` does not hold a key of 32 bytes`)
    await expect(platform.restart()).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_INVALID', message })
    const stopped = await runPlatform(['admin', 'write-key-file'], { SVC_DATA_DIR: platform.data_dir })
    expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringContaining('only a running platform')])
    writeFileSync(path, key)
    platform = await platform.restart()
  })

  it('that is lost for good costs the tokens, which are entered again', async () => {
    const url = addPrivate()
    const { id } = (await connect(platform, url)).body
    const secret = await makeSecret(platform, id)
    await platform.close()
    rmSync(path)
    platform = await platform.restart()
    const degraded = (await resync(platform, id)).body
    expect(degraded.conditions).toMatchObject([{ kind: 'access_revoked' }])
    expect(degraded.conditions[0]?.message).toContain(`PATCH /api/v1/repos/${id}`)
    expect(await announce(platform, secret)).toBe(401)
    const agent = await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', {
      as: 'key',
      body: { agent_key: 'a' },
    })
    const body = { agent_id: agent.body.agent_id, repo_id: id, manifest_path: 'refunds.yaml' }
    expect((await platform.call('POST', '/api/v1/assignments', { body })).status).toBe(422)
    const again = await platform.call<Repository>('PATCH', `/api/v1/repos/${id}`, { body: { token } })
    expect(again.body).toMatchObject({ status: 'synced', conditions: [] })
    expect(await announce(platform, await makeSecret(platform, id))).toBe(202)
    platform = await platform.restart()
    expect((await resync(platform, id)).body.status).toBe('synced')
  })

  it('that is lost is not replaced while secrets of the log need it', async () => {
    const step = { task_id: 't', step: 1, step_type: 'START_NODE', timestamp: '2026-01-05T09:00:00Z' }
    const body = { ...step, properties: { data: { subject_id: 'mia_li_3668' } } }
    expect((await platform.call('POST', '/api/v1/logs', { as: 'key', body })).status).toBe(201)
    await platform.close()
    const kept = readFileSync(path, 'utf8')
    rmSync(path)
    const message = expect.stringMatching(/encryption-key` lacks a key .*: restore it from a backup$/)
    await expect(platform.restart()).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_INVALID', message })
    writeFileSync(path, kept)
    platform = await platform.restart()
  })
})

describe.skipIf(postgres === null)('a change of the encryption key', () => {
  const [old, next] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('hex')]

  it('seals tokens and webhook secrets again, and is needed before the old key is removed', async () => {
    const database_url = postgres?.freshDatabase() ?? null
    let platform = await startPlatform({ database_url, env: { SVC_ENCRYPTION_KEY: old } })
    const { id } = (await connect(platform, addPrivate())).body
    const removed = (await connect(platform, addPrivate())).body
    expect((await platform.call('DELETE', `/api/v1/repos/${removed.id}`)).status).toBe(204)
    const secret = await makeSecret(platform, id)
    platform = await platform.restart({ SVC_ENCRYPTION_KEY: `${next} ${old}` })
    expect(await announce(platform, secret)).toBe(202)
    await platform.close()
    const env = { ...platform.env, SVC_ENCRYPTION_KEY: next }
    await expect(platform.restart({ SVC_ENCRYPTION_KEY: next })).rejects.toMatchObject({
      code: 'ENCRYPTION_KEY_INVALID',
    })
    const rotate = (SVC_ENCRYPTION_KEY: string) => runPlatform(['rotate-secrets'], { ...env, SVC_ENCRYPTION_KEY })
    // The key for subjects, the token and the webhook secret.
    expect(await rotate(`${next} ${old}`)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^3 secrets were/) })
    expect(await rotate(`${next} ${old}`)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^0 secrets were/) })
    platform = await platform.restart({ SVC_ENCRYPTION_KEY: next })
    expect((await resync(platform, id)).body).toMatchObject({ status: 'synced', has_token: true })
    expect(await announce(platform, secret)).toBe(202)
    await discard(platform)
  })

  it('is noticed at the start although only a repository uses the old key', async () => {
    const database_url = postgres?.freshDatabase() ?? ''
    const platform = await startPlatform({ database_url, env: { SVC_ENCRYPTION_KEY: old } })
    await connect(platform, addPrivate())
    await platform.close()
    postgres?.psql(database_url, 'delete from svc_encryption_check')
    await expect(platform.restart({ SVC_ENCRYPTION_KEY: next })).rejects.toMatchObject({
      code: 'ENCRYPTION_KEY_INVALID',
      message: expect.stringContaining('rotate-secrets'),
    })
    await discard(platform)
  })
})

describe('a private repository on GitHub', () => {
  let github: MockGithub
  let platform: TestPlatform
  beforeAll(async () => {
    github = await startGithub()
    const own = github.add('acme', 'policies', 'private')
    own.commit({ 'refunds.yaml': refunds([{ name: 'one' }]) })
    github.add('acme', 'open').commit({ 'refunds.yaml': refunds([{ name: 'one' }]) })
    github.grant('operator-token', own)
    github.grant(token, own)
    platform = await startPlatform({
      env: { SVC_GITHUB_API_URL: github.url, SVC_GITHUB_FALLBACK_TOKEN: 'operator-token' },
    })
  })
  afterAll(async () => {
    await discard(platform)
    await github.close()
  })

  it('needs a token of the caller, also where the operator has set a token', async () => {
    const post = (name: string, more: object = {}) =>
      platform.call<Reply>('POST', '/api/v1/repos', { body: { owner: 'acme', name, ...more } })
    const rejected = await post('policies')
    expect([rejected.status, rejected.body.code]).toEqual([403, 'PRIVATE_REPO_NEEDS_TOKEN'])
    expect((await post('missing')).status).toBe(404)
    const open = await post('open')
    expect([open.status, open.body.has_token, open.body.visibility]).toEqual([201, false, 'public'])
    const connected = await post('policies', { token })
    expect([connected.status, connected.body.has_token, connected.body.visibility]).toEqual([201, true, 'private'])
    expect(JSON.stringify(connected.body)).not.toContain(token)
  })

  it('that was public stays unread without a token of the caller', async () => {
    const turned = github.add('acme', 'turned')
    turned.commit({ 'refunds.yaml': refunds([{ name: 'one' }]) })
    const body = { owner: 'acme', name: 'turned' }
    const { id } = (await platform.call<Repository>('POST', '/api/v1/repos', { body })).body
    turned.visibility = 'private'
    github.grant('operator-token', turned)
    turned.commit({ 'secret.yaml': refunds([{ name: 'two' }]) })
    expect((await resync(platform, id)).body.conditions).toMatchObject([{ kind: 'access_revoked' }])
    const { body: list } = await platform.call('GET', `/api/v1/repos/${id}/manifests`)
    expect(JSON.stringify(list)).not.toContain('secret.yaml')
  })
})
