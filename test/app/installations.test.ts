// Installations: the repositories of accepted ones are connected and followed by GitHub's ids, also when webhooks are lost.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Account, noFaults } from '../github/world.js'
import { type GithubApp, openGithubApp } from '../support/git/github-app.js'
import { soon } from '../support/server/soon.js'

const manifest = JSON.stringify({
  name: 'Refunds',
  version: '1',
  policies: [
    {
      name: 'amount',
      rule_type: 'field_not_empty',
      params: { field: 'input.amount', target_step_names: ['refund'] },
      scope: 'step_execution',
      severity: 'medium',
    },
  ],
})

/** Each test has an account of its own; `stranger` is one that the operator has not named. */
const accounts = Array.from({ length: 10 }, (_, index) => `acme-${index}`)
let app: GithubApp
let github: GithubApp['github']
let owner: Account
let used = 0
beforeAll(async () => {
  app = await openGithubApp({ env: { SVC_GITHUB_APP_ACCOUNTS: accounts.join(' ') } })
  github = app.github
})
beforeEach(() => {
  owner = github.account(accounts[used++] ?? '', 'Organization')
})
afterEach(() => {
  Object.assign(github.faults, noFaults())
})
afterAll(() => app.close())

const connected = async () => (await app.connected()).filter((one) => one.owner === owner.login)

const connectedTo = (...names: readonly string[]) =>
  until(async () => {
    const repos = await connected()
    expect(repos.map(({ name }) => name).sort()).toEqual([...names].sort())
    return repos
  })

const events = async (kind: string) => {
  type Event = { readonly kind: string; readonly data: Readonly<Record<string, unknown>> }
  const { body } = await app.platform.call<{ events: Event[] }>('GET', `/api/v1/events?kind=${kind}&limit=100`)
  return body.events.map(({ data }) => data).filter((data) => String(data.owner).toLowerCase() === owner.login)
}

const until = <T>(check: () => Promise<T>) => vi.waitFor(check, soon)

const isRead = () =>
  until(async () => {
    for (const { last_commit_sha, status } of await connected()) {
      expect(last_commit_sha).toMatch(/^[0-9a-f]{40}$/)
      expect(status).toBe('synced')
    }
  })

/** An agent with the manifest of the repository. */
const assign = async (repo_id: number) => {
  const { platform } = app
  const agent = await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', {
    as: 'key',
    body: { agent_key: owner.login },
  })
  const body = { agent_id: agent.body.agent_id, repo_id, manifest_path: 'refunds.yaml' }
  const made = await platform.call<{ id: number }>('POST', '/api/v1/assignments', { body })
  expect(made.status).toBe(201)
  return made.body.id
}

describe('an installation', () => {
  it('connects the default branch of each repository, and reads it', async () => {
    github.repository(owner, 'policies', { files: { 'refunds.yaml': manifest } })
    github.repository(owner, 'tools', { visibility: 'public', default_branch: 'trunk', files: { 'a.md': 'a' } })
    const { id } = github.install(app.app, owner)
    const repos = await connectedTo('policies', 'tools')
    expect(repos.map(({ branch, visibility, installation_id }) => ({ branch, visibility, installation_id }))).toEqual([
      { branch: 'main', visibility: 'private', installation_id: id },
      { branch: 'trunk', visibility: 'public', installation_id: id },
    ])
    await isRead()
    expect(await events('repository.connected')).toHaveLength(2)
    const tokens = github.requests.filter(({ path }) => path.endsWith('/access_tokens')).map(({ body }) => body)
    const narrow = { permissions: { contents: 'read', metadata: 'read' }, repository_ids: [expect.any(Number)] }
    expect(tokens).toContainEqual(narrow)
    for (const body of tokens) expect(body).toHaveProperty('permissions')
  })

  it('of which no webhook arrived is found at the start', async () => {
    github.faults.deliver = () => 'lose'
    github.repository(owner, 'policies', { files: { 'refunds.yaml': manifest } })
    github.install(app.app, owner)
    await app.restart()
    await connectedTo('policies')
  })

  it('of another account is left out, and accepted when the operator names the account', async () => {
    owner = github.account('Stranger')
    github.repository(owner, 'policies', { files: { 'refunds.yaml': manifest } })
    github.requests.length = 0
    github.install(app.app, owner)
    await github.idle()
    await until(async () => expect(github.requests.some(({ path }) => path === '/app')).toBe(true))
    expect(await connected()).toEqual([])
    await app.restart({ SVC_GITHUB_APP_ACCOUNTS: [...accounts, 'stranger'].join(' ') })
    await connectedTo('policies')
  })

  it('takes over a connection that was made by hand, without a second one', async () => {
    const files = { 'refunds.yaml': manifest }
    const repository = github.repository(owner, 'policies', { visibility: 'public', files })
    const body = { owner: owner.login.toUpperCase(), name: 'policies' }
    expect((await app.platform.call('POST', '/api/v1/repos', { body })).status).toBe(201)
    const { id } = github.install(app.app, owner)
    await until(async () =>
      expect(await connected()).toMatchObject([{ owner: owner.login, name: 'policies', installation_id: id }]),
    )
    expect(await events('repository.installed')).toHaveLength(1)
    repository.visibility = 'private'
    await app.restart()
    await until(async () => expect(await connected()).toMatchObject([{ visibility: 'private', status: 'synced' }]))
  })

  it('lets a private repository be connected by hand, on another branch', async () => {
    const repository = github.repository(owner, 'policies', { files: { 'refunds.yaml': manifest } })
    github.install(app.app, owner)
    await connectedTo('policies')
    github.push(repository, { branch: 'next', files: { 'refunds.yaml': manifest }, message: 'Next' })
    const body = { owner: owner.login, name: 'policies', branch: 'next' }
    const made = await app.platform.call('POST', '/api/v1/repos', { body })
    expect(made).toMatchObject({ status: 201, body: { branch: 'next', status: 'synced' } })
  })
})

describe('a repository', () => {
  it('that gets another name keeps its connection', async () => {
    const [a, b] = ['a', 'b'].map((name) => github.repository(owner, name, { files: { 'refunds.yaml': manifest } }))
    if (a === undefined || b === undefined) throw new Error('two repositories are made')
    github.install(app.app, owner)
    const before = await connectedTo('a', 'b')
    const idOf = (name: string) => before.find((one) => one.name === name)?.id
    github.rename(a, 'c')
    await connectedTo('b', 'c')
    // They exchange their names before the App asks again.
    github.faults.deliver = () => 'lose'
    github.rename(b, 'x')
    github.rename(a, 'b')
    github.faults.deliver = () => 'send'
    github.rename(b, 'c')
    await until(async () => {
      const names = (await connected()).map(({ id, name }) => [id, name])
      expect(new Map(names as [number, string][])).toEqual(
        new Map([
          [idOf('a'), 'b'],
          [idOf('b'), 'c'],
        ]),
      )
    })
    await isRead()
    expect((await events('repository.renamed')).map(({ from }) => from)).toContain(`${owner.login}/a`)
  })

  it('that the installation no longer covers is disconnected, unless a manifest of it is assigned', async () => {
    const assigned = github.repository(owner, 'used', { files: { 'refunds.yaml': manifest } })
    const unused = github.repository(owner, 'unused', { files: { 'refunds.yaml': manifest } })
    const installation = github.install(app.app, owner)
    const repos = await connectedTo('used', 'unused')
    await isRead()
    const id = repos.find(({ name }) => name === 'used')?.id ?? 0
    const assignment = await assign(id)
    github.removeRepositories(installation, [assigned, unused])
    await until(async () =>
      expect(await connected()).toMatchObject([
        {
          id,
          installation_id: null,
          status: 'degraded',
          conditions: [{ kind: 'access_revoked', message: expect.stringContaining('install it again') }],
        },
      ]),
    )
    const { body } = await app.platform.call('GET', `/api/v1/assignments/${assignment}`)
    expect(body).toMatchObject({ conditions: [{ kind: 'access_revoked' }], policies: 1 })
    github.addRepositories(installation, [assigned])
    await until(async () =>
      expect(await connected()).toMatchObject([{ id, installation_id: installation.id, status: 'synced' }]),
    )
  })

  it('with the name of a removed one never takes its place', async () => {
    const first = github.repository(owner, 'policies', { files: { 'refunds.yaml': manifest } })
    github.install(app.app, owner)
    const [before] = await connectedTo('policies')
    await isRead()
    await assign(before?.id ?? 0)
    github.remove(first)
    github.repository(owner, 'policies', { files: { 'other.md': 'x' } })
    await app.restart()
    await until(async () =>
      expect(await connected()).toMatchObject([{ id: before?.id, installation_id: null, status: 'degraded' }]),
    )
  })
})

describe('a suspended installation', () => {
  it('degrades its repositories, which recover when it is unsuspended', async () => {
    github.repository(owner, 'policies', { files: { 'refunds.yaml': manifest } })
    const installation = github.install(app.app, owner)
    await connectedTo('policies')
    await isRead()
    github.suspend(installation)
    await until(async () =>
      expect(await connected()).toMatchObject([
        { status: 'degraded', conditions: [{ message: expect.stringContaining('is suspended') }] },
      ]),
    )
    github.unsuspend(installation)
    await until(async () => expect(await connected()).toMatchObject([{ status: 'synced', conditions: [] }]))
    github.uninstall(installation)
    await connectedTo()
  })
})
