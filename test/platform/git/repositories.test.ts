// Repositories of a Git host on this machine: connecting them, their manifests, webhooks.
import { createHmac } from 'node:crypto'
import type { ManifestList, Problem, Repository, RepositoryList, WebhookSecret } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  type ManifestsInGit,
  refunds as manifest,
  openManifestsInGit,
  manifestPath as path,
} from '../../support/git/manifests-in-git.js'
import type { TestPlatform } from '../../support/server/platform.js'
import { soon } from '../../support/server/soon.js'

let git: ManifestsInGit
let platform: TestPlatform

beforeAll(async () => {
  git = await openManifestsInGit()
  platform = git.platform
})
afterAll(() => git.close())

const [one, two] = [{ name: 'one' }, { name: 'two' }]

describe('a repository', () => {
  it('is connected with its branch, and lists its manifests with what validation reports', async () => {
    const { id, repository, url } = await git.connect({
      [path]: manifest([one]),
      'broken.yaml':
        'name: Broken\nversion: "1"\npolicies:\n  - name: x\n    rule_type: no_such_rule\n    scope: step_execution\n    severity: low\n',
      'values.yaml': 'replicas: 3\n',
      '.github/workflows/check.yaml': 'on: push\n',
    })
    const stored = (await platform.call<Repository>('GET', `/api/v1/repos/${id}`)).body
    expect(stored).toMatchObject({ provider: 'git', url, branch: 'main', visibility: 'public', has_token: false })
    expect(stored).toMatchObject({
      status: 'synced',
      conditions: [],
      last_commit_sha: repository.git('rev-parse', 'main').trim(),
    })
    const { manifests, total } = (await platform.call<ManifestList>('GET', `/api/v1/repos/${id}/manifests`)).body
    expect(manifests.map(({ path: at, valid, policies }) => [at, valid, policies])).toEqual([
      ['broken.yaml', false, 0],
      [path, true, 1],
    ])
    expect(total).toBe(2)
    expect(manifests[0]?.findings[0]).toMatchObject({ id: 'unknown-rule', line: 5 })
    expect(manifests[1]?.blob_sha).toBe(repository.git('rev-parse', `main:${path}`).trim())
    const all = (await platform.call<ManifestList>('GET', '/api/v1/manifests?limit=200&valid=false')).body
    expect(all.manifests.some(({ repo_id }) => repo_id === id)).toBe(true)
  })

  it('is connected once per branch', async () => {
    const { url } = await git.connect({ [path]: manifest([one]) })
    const again = await platform.call<Problem>('POST', '/api/v1/repos', { body: { url, branch: 'main' } })
    expect([again.status, again.body.code]).toEqual([409, 'CONFLICT'])
  })

  it('is not disconnected while a manifest is assigned', async () => {
    const { id } = await git.connect({ [path]: manifest([one]) })
    const made = await git.assign((await git.register()).agent_id, id)
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    const rejected = await platform.call<Problem>('DELETE', `/api/v1/repos/${id}`)
    expect([rejected.status, rejected.body.code]).toEqual([409, 'CONFLICT'])
    expect(rejected.body.detail).toContain(`assignment ${made.body.id}`)
    expect((await platform.call('DELETE', `/api/v1/assignments/${made.body.id}`)).status).toBe(204)
    expect((await platform.call('DELETE', `/api/v1/repos/${id}`)).status).toBe(204)
    expect((await platform.call('GET', `/api/v1/repos/${id}`)).status).toBe(404)
  })

  it.each([
    [{}, 422, 'INVALID'],
    [{ owner: 'acme' }, 422, 'INVALID'],
    [{ url: 'ssh://git@example.com/a/b' }, 422, 'INVALID'],
    [{ url: 'file:///etc' }, 422, 'INVALID'],
    [{ url: 'https://user:secret@example.com/a/b' }, 422, 'INVALID'],
    [{ url: 'http://169.254.169.254/a/b' }, 422, 'INVALID'],
  ])('is rejected for %j', async (body, status, code) => {
    const answer = await platform.call<Problem>('POST', '/api/v1/repos', { body })
    expect([answer.status, answer.body.code]).toEqual([status, code])
  })

  it('with a malformed token is rejected without repeating it', async () => {
    const body = { url: `${git.host.url}/any.git`, token: 'secret-1 secret-2' }
    const answer = await platform.call<Problem>('POST', '/api/v1/repos', { body })
    expect([answer.status, answer.body.errors[0]?.path]).toEqual([422, 'token'])
    expect(JSON.stringify(answer.body)).not.toContain('secret')
  })

  it('that is private is rejected without a token, and read with one', async () => {
    const repository = git.host.add('private.git')
    repository.commit({ [path]: manifest([one]) })
    git.host.passwords.set('private.git', 'token-1')
    const url = `${git.host.url}/private.git`
    const rejected = await platform.call<Problem>('POST', '/api/v1/repos', { body: { url } })
    expect([rejected.status, rejected.body.code]).toEqual([403, 'PRIVATE_REPO_NEEDS_TOKEN'])
    const { status, body } = await platform.call<Repository>('POST', '/api/v1/repos', {
      body: { url, token: 'token-1' },
    })
    expect([status, body.visibility, body.has_token, body.status]).toEqual([201, 'private', true, 'synced'])
    git.host.passwords.set('private.git', 'token-2')
    const revoked = (await git.tick(body.id)).body
    expect([revoked.status, revoked.conditions[0]?.kind]).toEqual(['degraded', 'access_revoked'])
    const changed = await platform.call<Repository>('PATCH', `/api/v1/repos/${body.id}`, { body: { token: 'token-2' } })
    expect([changed.body.status, changed.body.conditions]).toEqual(['synced', []])
  })

  it('of the library is connected to a new workspace, and can be disconnected', async () => {
    const { repos } = (await platform.call<RepositoryList>('GET', '/api/v1/repos?provider=bundled')).body
    expect(repos.map(({ owner, name, branch }) => [owner, name, branch])).toEqual([['svc', 'library', 'main']])
  })
})

describe('a webhook', () => {
  it('lets the branch be read soon when it is signed with the secret', async () => {
    const { id, repository } = await git.connect({ [path]: manifest([one]) })
    const { agent_id } = await git.register()
    await git.assign(agent_id, id)
    const secret = (await platform.call<WebhookSecret>('POST', `/api/v1/repos/${id}/webhook-secret`, { body: {} })).body
    const at = new URL(secret.url)
    const post = (headers: Record<string, string>, raw = '{"ref": "refs/heads/main"}') =>
      platform.call<Problem>('POST', at.pathname + at.search, { as: null, raw, headers })
    const signed = (raw: string, key = secret.secret) => createHmac('sha256', key).update(raw).digest('hex')
    const raw = '{"commits": []}'
    expect((await post({})).status).toBe(401)
    expect((await post({ 'x-hub-signature-256': `sha256=${signed(raw, 'other')}` }, raw)).status).toBe(401)
    expect((await post({ 'x-hub-signature-256': `sha256=${signed(raw)}` }, `${raw} `)).status).toBe(401)
    expect((await post({ 'x-gitlab-token': 'wrong' })).status).toBe(401)
    repository.commit({ [path]: manifest([one, two]) })
    expect((await post({ 'x-hub-signature-256': `sha256=${signed(raw)}` }, raw)).status).toBe(202)
    await vi.waitFor(async () => expect(await git.inForce(agent_id)).toEqual(['one', 'two']), soon)
    expect((await post({ 'x-gitlab-token': secret.secret })).status).toBe(202)
    expect((await post({ 'x-gitea-signature': signed(raw) }, raw)).status).toBe(202)
  })
})
