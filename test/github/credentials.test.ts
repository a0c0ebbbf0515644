// Tokens and permissions of the fake GitHub.
import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, jwtOf, startWithApp, tokenOf } from './client.js'

let world: Awaited<ReturnType<typeof startWithApp>>
beforeAll(async () => {
  world = await startWithApp()
})
afterAll(() => world.github.close())

const seconds = () => Math.floor(world.github.now() / 1000)

describe('the JSON web token of an App', () => {
  const claims: readonly [string, () => object, number][] = [
    ['is accepted', () => ({}), 200],
    ['may name the client id', () => ({ iss: world.app.client_id }), 200],
    ['may be ten minutes valid', () => ({ exp: seconds() + 600 }), 200],
    ['is rejected when `exp` is further ahead', () => ({ exp: seconds() + 700 }), 401],
    ['is rejected when it expired', () => ({ exp: seconds() - 1 }), 401],
    ['is rejected without `exp`', () => ({ exp: undefined }), 401],
    ['is rejected when `iat` is in the future', () => ({ iat: seconds() + 120 }), 401],
    ['is rejected when `iat` is not an integer', () => ({ iat: seconds() - 0.5 }), 401],
    ['is rejected for an App that does not exist', () => ({ iss: 7 }), 404],
  ]

  it.each(claims)('%s', async (_, given, status) => {
    const answer = await call(world.github, jwtOf(world.github, world.app, given() as never), 'GET', '/app')
    expect([answer.status, answer.body.message]).toEqual([status, status === 200 ? undefined : expect.any(String)])
  })

  it('is rejected with another key, and with another algorithm', async () => {
    const { github, app } = world
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const pem = other.export({ type: 'pkcs1', format: 'pem' }) as string
    expect((await call(github, jwtOf(github, app, {}, pem), 'GET', '/app')).status).toBe(401)
    expect((await call(github, jwtOf(github, app, {}, app.private_key, 'HS256'), 'GET', '/app')).status).toBe(401)
    expect((await call(github, null, 'GET', '/app')).status).toBe(401)
  })

  it('reads no repository', async () => {
    const { github, app } = world
    const answer = await call(github, jwtOf(github, app), 'GET', '/repos/acme/agents')
    expect([answer.status, answer.body.message]).toEqual([403, 'Resource not accessible by integration'])
  })

  it('finds the installation of a repository', async () => {
    const { github, app, installation } = world
    const found = await call(github, jwtOf(github, app), 'GET', '/repos/acme/agents/installation')
    expect([found.body.id, found.body.permissions.checks]).toEqual([installation.id, 'write'])
    expect((await call(github, jwtOf(github, app), 'GET', '/repos/acme/other/installation')).status).toBe(404)
  })
})

describe('a token of an installation', () => {
  it('is narrowed to repositories and permissions', async () => {
    const { github, repository, installation, acme } = world
    const second = github.repository(acme, 'second', { files: { 'a.txt': 'a' } })
    github.addRepositories(installation, [second])
    const token = await tokenOf(github, installation, { repository_ids: [second.id], permissions: { checks: 'write' } })
    const statusOf = async (path: string) => (await call(github, token, 'GET', path)).status
    expect(await statusOf(`/repos/acme/${repository.name}`)).toBe(404)
    expect(await statusOf('/repos/acme/second')).toBe(200)
    expect(await statusOf('/repos/acme/second/git/ref/heads/main')).toBe(403)
    const listed = await call(github, token, 'GET', '/installation/repositories')
    expect(listed.body).toMatchObject({ total_count: 1, repositories: [{ name: 'second' }] })
  })

  it.each([
    ['more than the installation may', { permissions: { contents: 'write' } }],
    ['what the installation may not', { permissions: { issues: 'read' } }],
    ['a repository outside', { repositories: ['elsewhere'] }],
    ['no repository', { repositories: [] }],
  ])('is not issued for %s', async (_, body) => {
    await expect(tokenOf(world.github, world.installation, body)).rejects.toThrow(/^422/)
  })

  it('may read what is public elsewhere, and not write there', async () => {
    const { github, ann, installation } = world
    const open = github.repository(ann, 'open', { visibility: 'public', files: { 'a.txt': 'a' } })
    const token = await tokenOf(github, installation)
    expect((await call(github, token, 'GET', '/repos/ann/open/git/ref/heads/main')).status).toBe(200)
    const body = { name: 'x', head_sha: open.heads.get('main') }
    expect((await call(github, token, 'POST', '/repos/ann/open/check-runs', body)).status).toBe(403)
  })

  it('ends after an hour, when it is revoked, and with the installation', async () => {
    const { github, installation } = world
    const statusOf = async (token: string) => (await call(github, token, 'GET', '/installation/repositories')).status
    const first = await tokenOf(github, installation)
    expect(await statusOf(first)).toBe(200)
    github.advance(3_600_000)
    expect(await statusOf(first)).toBe(401)
    const second = await tokenOf(github, installation)
    expect((await call(github, second, 'DELETE', '/installation/token')).status).toBe(204)
    expect(await statusOf(second)).toBe(401)
    const third = await tokenOf(github, installation)
    github.suspend(installation)
    expect(await statusOf(third)).toBe(401)
    await expect(tokenOf(github, installation)).rejects.toThrow(/^403.*suspended/)
    github.unsuspend(installation)
    expect(await statusOf(await tokenOf(github, installation))).toBe(200)
    github.uninstall(installation)
    await expect(tokenOf(github, installation)).rejects.toThrow(/^404/)
  })

  it('is named in the record of requests', async () => {
    const { github, app, acme, repository } = world
    const installation = github.install(app, acme)
    const token = await tokenOf(github, installation, { permissions: { contents: 'read' } })
    await call(github, token, 'GET', `/repos/acme/${repository.name}`)
    expect(github.requests.at(-1)).toMatchObject({
      method: 'GET',
      path: '/repos/acme/agents',
      status: 200,
      caller: { kind: 'installation', token: { value: token, permissions: { contents: 'read', metadata: 'read' } } },
    })
  })
})

describe('an App', () => {
  it('cannot subscribe to an event without its permission', () => {
    const { github, acme } = world
    const given = { slug: 'other', owner: acme, permissions: { contents: 'read' }, events: ['merge_group'] } as const
    expect(() => github.app(given)).toThrow('merge_queues')
  })
})
