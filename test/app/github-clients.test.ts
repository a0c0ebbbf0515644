// The clients of the App against a GitHub that enforces its rules: narrow tokens, lists of many pages, errors with a remedy.
import { generateKeyPairSync } from 'node:crypto'
import { SourceError } from '@svc/platform'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAppApi } from '../../app/github/app-api.js'
import { type AppKey, appToken } from '../../app/github/app-token.js'
import { checksPermissions, createChecks } from '../../app/github/checks.js'
import { createInstallationTokens } from '../../app/github/installation-tokens.js'
import { createReader, readerPermissions } from '../../app/github/reader.js'
import { repositoryClient } from '../../app/github/repository-client.js'
import { createRepeats } from '../../app/github/retry-later.js'
import { failedDeliveries } from '../../app/receiver/missed.js'
import { type AskGithub, createGithubApi } from '../../platform/git/github/api.js'
import { createOutgoing, type Outgoing } from '../../platform/outgoing/outgoing.js'
import { createTargets } from '../../platform/outgoing/targets.js'
import { type FakeGithub, secondaryLimit, serverError, startFakeGithub } from '../github/fake-github.js'
import { type Installation, noFaults, type Repository } from '../github/world.js'
import { registerApp } from '../support/git/github-app.js'

let github: FakeGithub
let network: Outgoing
let repository: Repository
let installation: Installation
beforeAll(async () => {
  github = await startFakeGithub()
  network = createOutgoing(createTargets('all', false))
  const owner = github.account('acme', 'Organization')
  const app = registerApp(github, owner)
  repository = github.repository(owner, 'policies', { files: { 'a.yaml': 'a: 1' } })
  github.repository(owner, 'other', { files: { 'a.yaml': 'a: 1' } })
  installation = github.install(app, owner)
})
beforeEach(() => {
  github.requests.length = 0
  Object.assign(github.faults, noFaults())
  Object.assign(installation.rate, { used: 0, resets: github.now() + 3600_000 })
})
afterAll(async () => {
  await network.close()
  await github.close()
})

const parts = (clock: () => number = github.now, key: Partial<AppKey> = {}) => {
  const { id: app_id, private_key } = installation.app
  const api = createGithubApi({ outgoing: network, api_url: github.url, clock })
  const asApp: AskGithub = (request) => api('jwt', appToken({ app_id, private_key, ...key }, clock()), request)
  return { api, app: createAppApi(asApp), tokens: createInstallationTokens({ asApp, clock }) }
}

const at = (name = 'policies') => ({ installation_id: installation.id, github_id: repository.id, owner: 'acme', name })
const clients = (given = parts()) => {
  const reading = repositoryClient(given, at(), readerPermissions)
  const noSource = { list: async () => new Map(), read: async () => new Map() }
  return {
    reading,
    reader: createReader(reading, noSource),
    checks: createChecks(repositoryClient(given, at(), checksPermissions), installation.app.id),
  }
}
const rejection = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error as SourceError,
  )

describe('a token of an installation', () => {
  it('is for one repository and the permissions of its use, and is used until shortly before its end', async () => {
    const { tokens } = parts()
    const wanted = { installation_id: installation.id, github_id: repository.id, permissions: readerPermissions }
    const [one, same] = await Promise.all([tokens.tokenFor(wanted), tokens.tokenFor(wanted)])
    expect(same).toBe(one)
    expect(await tokens.tokenFor({ ...wanted, permissions: checksPermissions })).not.toBe(one)
    const issued = github.requests.filter(({ path }) => path.endsWith('/access_tokens')).map(({ body }) => body)
    expect(issued).toEqual([
      { permissions: readerPermissions, repository_ids: [repository.id] },
      { permissions: checksPermissions, repository_ids: [repository.id] },
    ])
    github.advance(54 * 60_000)
    expect(await tokens.tokenFor(wanted)).toBe(one)
    github.advance(2 * 60_000)
    expect(await tokens.tokenFor(wanted)).not.toBe(one)
  })

  it('that was revoked is replaced at once', async () => {
    const { reader } = clients()
    const head = await reader.branchHead('main')
    github.revokeTokens()
    expect(await reader.branchHead('main')).toBe(head)
  })

  it('cannot read another repository, and one that reads cannot write checks', async () => {
    const given = parts()
    const other = repositoryClient(given, at('other'), readerPermissions)
    expect(await rejection(other({ path: '/git/ref/heads/main' }))).toMatchObject({ code: 'repository_missing' })
    const { reading, reader } = clients(given)
    const head_sha = await reader.branchHead('main')
    const written = reading({ method: 'POST', path: '/check-runs', body: { name: 'x', head_sha } })
    expect(await rejection(written)).toMatchObject({
      code: 'access_revoked',
      message: expect.stringMatching(/lacks .*Permissions & events/),
    })
  })
})

describe('the reading client', () => {
  it('reads a pull request with its commits and reviews, its merge base and the pull requests of a head', async () => {
    const { reader } = clients()
    const base = await reader.branchHead('main')
    const author = github.account('mia')
    const { number } = github.openPull(repository, { branch: 'change', author, files: { 'a.yaml': 'a: 2' } })
    const pull = await reader.pullRequest(number)
    expect(pull).toMatchObject({ number, is_open: true, author: { login: 'mia', type: 'User' }, base_ref: 'main' })
    const { listed, is_complete } = await reader.commits(number)
    expect([listed.length, is_complete]).toEqual([1, true])
    expect(await reader.reviews(number)).toEqual([])
    expect(await reader.mergeBase(base ?? '', pull?.head_sha ?? '')).toBe(base)
    expect(await reader.openPullRequests(pull?.head_sha ?? '')).toEqual([number])
    expect(await reader.openPullRequests('0'.repeat(40))).toEqual([])
    expect(await reader.pullRequest(999)).toBeNull()
    expect(await reader.branchHead('no/such')).toBeNull()
  })
})

describe('the checks client', () => {
  it('creates, finds and changes a check run of this App only', async () => {
    const { reader, checks } = clients()
    const sha = (await reader.branchHead('main')) ?? ''
    expect(await checks.find(sha, 'svc / policies')).toBeNull()
    const id = await checks.create(sha, 'svc / policies', { status: 'in_progress', external_id: 'x' })
    const found = { id, status: 'in_progress', external_id: 'x', annotations_count: 0 }
    expect(await checks.find(sha, 'svc / policies')).toEqual(found)
    await checks.update(id, { status: 'completed', conclusion: 'success', completed_at: '2026-01-01T00:00:00Z' })
    expect(await checks.find(sha, 'svc / policies')).toMatchObject({ id, status: 'completed' })
    expect(await checks.find(sha, 'svc')).toBeNull()
  })
})

describe('what the App asks about itself', () => {
  it('is its owner, and its installations on all pages', async () => {
    const { app } = parts()
    expect(await app.owner()).toBe('acme')
    for (let count = 0; count < 120; count += 1) github.install(installation.app, github.account(`account-${count}`))
    expect(await app.installations()).toHaveLength(121)
    expect(await app.installation(installation.id)).toMatchObject({ account: { login: 'acme' }, is_suspended: false })
    expect(await app.installation(1)).toBeNull()
  })

  it('are failed deliveries, which are delivered again', async () => {
    const { app } = parts()
    installation.app.webhook_url = 'http://127.0.0.1:1/'
    github.faults.deliver = () => 'drop'
    github.push(repository, { files: { 'a.yaml': 'a: 3' } })
    github.push(repository, { files: { 'a.yaml': 'a: 4' } })
    const failedPushes = async () =>
      failedDeliveries(await app.attemptsSince(github.now() - 60_000)).filter(({ event }) => event === 'push')
    const failed = await failedPushes()
    expect(failed.map(({ event }) => event)).toEqual(['push', 'push'])
    for (const { id } of failed) await app.deliverAgain(id)
    await github.idle()
    expect(github.deliveries.filter(({ redelivery }) => redelivery)).toHaveLength(2)
    // Each has failed twice; the last attempt of each is asked for again.
    const again = await failedPushes()
    expect(again.map(({ guid }) => guid).sort()).toEqual(failed.map(({ guid }) => guid).sort())
    await app.deliverAgain(1)
  })
})

describe('an error of GitHub', () => {
  it('names a wrong key, a wrong id, or a clock that is off', async () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const wrong = parts(github.now, { private_key: other.export({ type: 'pkcs8', format: 'pem' }).toString() })
    expect(await rejection(wrong.app.owner())).toMatchObject({
      code: 'access_revoked',
      message: expect.stringMatching(/rejects the key of the App: .*SVC_GITHUB_APP_PRIVATE_KEY/),
    })
    for (const [ms, words] of [
      [3600_000, 'ahead of'],
      [-3600_000, 'behind'],
    ] as const)
      expect(await rejection(parts(() => github.now() + ms).app.owner())).toMatchObject({
        code: 'access_revoked',
        message: expect.stringMatching(
          new RegExp(`the clock of this machine is 36\\d\\d s ${words}|359\\d s ${words}`),
        ),
      })
    const unknown = parts(github.now, { app_id: 999_999 })
    expect(await rejection(unknown.app.owner())).toMatchObject({
      code: 'access_revoked',
      message: expect.stringContaining('compare SVC_GITHUB_APP_ID'),
    })
  })

  it.each([
    ['a secondary limit', secondaryLimit(37), 'fetch_failed', 37],
    ['a secondary limit with 429', secondaryLimit(12, 429), 'fetch_failed', 12],
    ['an error of its servers', serverError(502), 'fetch_failed', null],
    ['an answer that is cut', { kind: 'cut' as const }, 'fetch_failed', null],
    [
      'a page instead of JSON',
      { kind: 'answer' as const, status: 422, body: { message: 'x\u001b[31m' } },
      'rejected',
      null,
    ],
  ])('is %s', async (_name, fault, code, retry_after) => {
    github.faults.answer = () => fault
    const error = await rejection(parts().app.owner())
    expect(error).toMatchObject({ code, retry_after })
    expect(error).toBeInstanceOf(SourceError)
    expect(error?.message).not.toMatch(/\p{Cc}|eyJ/u)
  })

  it('of the primary limit says when it ends, and lets the job run after that', async () => {
    const { reader } = clients()
    github.faults.rate_limit = 1
    await reader.branchHead('main')
    const limited = await rejection(clients().reading({ path: '/git/ref/heads/main' }))
    expect(limited).toMatchObject({ code: 'fetch_failed', message: 'the rate limit of GitHub is reached' })
    expect(limited?.retry_after).toBeGreaterThan(3000)
    const { asJob } = createRepeats({ warn: () => undefined, info: () => undefined })
    const waits: number[] = []
    await asJob(Promise.reject(limited), async (seconds) => void waits.push(seconds))
    expect(waits).toEqual([limited?.retry_after])
    await expect(asJob(Promise.reject(new Error('other')), async () => undefined)).rejects.toThrow('other')
  })

  it('without an answer waits longer each time, for about a day, and is said once until GitHub answers', async () => {
    const lines: string[] = []
    const { asJob } = createRepeats({
      warn: (line: unknown) => void lines.push(String(line)),
      info: (line: unknown) => void lines.push(String(line)),
    })
    const away = () => Promise.reject(new SourceError('fetch_failed', 'GitHub cannot be reached: no response'))
    const waits: number[] = []
    for (const tries of [0, 1, 2, 7, 8, 299]) await asJob(away(), async (seconds) => void waits.push(seconds), tries)
    expect(waits).toEqual([2, 4, 8, 256, 300, 300])
    await expect(asJob(away(), async () => undefined, 300)).rejects.toThrow('cannot be reached')
    await asJob(Promise.resolve(), async () => undefined)
    expect(lines).toEqual([expect.stringContaining('SVC_GITHUB_API_URL'), 'GitHub answers again'])
  })

  it('names the settings of an installation that gives no token', async () => {
    github.suspend(installation)
    const error = await rejection(clients().reader.branchHead('main'))
    github.unsuspend(installation)
    expect(error).toBeInstanceOf(SourceError)
    expect(error).toMatchObject({ code: 'access_revoked', message: expect.stringContaining('not suspended') })
  })
})

describe('what an approval counts on', () => {
  it('is who may push', async () => {
    const { reader } = clients()
    const reading = github.account('kim')
    github.account('mia')
    repository.readers.add(reading)
    const answers = ['acme', 'MIA', 'kim', 'gone', '../x'].map((login) => reader.canPush(login))
    expect(await Promise.all(answers)).toEqual([true, true, false, false, false])
  })

  it('is when the base branch was changed', async () => {
    const { reader } = clients()
    github.push(repository, { branch: 'next', files: { 'b.yaml': 'b: 1' } })
    const pull = github.openPull(repository, { branch: 'change', files: { 'a.yaml': 'a: 2' } })
    expect(await reader.baseChangedAt(pull.number)).toBe(0)
    github.editPull(pull, { title: 'x' })
    expect(await reader.baseChangedAt(pull.number)).toBe(0)
    github.editPull(pull, { base_branch: 'next' })
    expect(await reader.baseChangedAt(pull.number)).toBe(Date.parse(String(pull.events[0]?.created_at)))
  })
})
