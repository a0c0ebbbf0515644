// From a push or a pull request at GitHub to its effect, through webhooks, jobs and the database.
import type { MadeAssignment, RegisteredAgent } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Repository } from '../github/world.js'
import { type GithubApp, openGithubApp } from '../support/git/github-app.js'
import { refunds } from '../support/git/manifests-in-git.js'
import { soon } from '../support/server/soon.js'

const before = refunds([{ name: 'amount' }])
const after = refunds([
  { name: 'amount' },
  { name: 'reason', params: { field: 'input.reason', target_step_names: ['refund'] } },
])

let app: GithubApp
let repository: Repository
let assignment: number
beforeAll(async () => {
  app = await openGithubApp()
  const { github, owner, platform } = app
  repository = github.repository(owner, 'policies', { files: { 'refunds.yaml': before, 'README.md': 'x' } })
  github.install(app.app, owner)
  const [connection] = await app.connectedTo('acme/policies')
  const agent = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', {
    as: 'key',
    body: { agent_key: 'desk' },
  })
  const body = { agent_id: agent.body.agent_id, repo_id: connection?.id, manifest_path: 'refunds.yaml' }
  assignment = (await platform.call<MadeAssignment>('POST', '/api/v1/assignments', { body })).body.id
})
afterAll(() => app.close())

const until = (check: () => Promise<void> | void) => vi.waitFor(check, soon)
const runsAt = (head_sha: string) =>
  app.github.runs.filter(({ name, suite }) => name === 'svc / policies' && suite.head_sha === head_sha)
const checkedAt = (head_sha: string) =>
  until(() => expect(runsAt(head_sha)).toMatchObject([{ status: 'completed', conclusion: 'success' }]))

describe('a pull request', () => {
  it('gets one check run for each head, also when deliveries are doubled', async () => {
    const { github } = app
    github.faults.deliver = () => 'double'
    const author = github.account('mia')
    const pull = github.openPull(repository, { branch: 'change', author, files: { 'refunds.yaml': after } })
    await checkedAt(pull.head_sha)
    const run = runsAt(pull.head_sha)[0]
    expect(run?.title).not.toBe('')
    github.push(repository, { branch: 'change', files: { 'README.md': 'y' } })
    await checkedAt(pull.head_sha)
    github.faults.deliver = () => 'send'
    await github.idle()
  })

  it('is checked again on request', async () => {
    const { github } = app
    const head_sha = repository.pulls[0]?.head_sha ?? ''
    const [run] = runsAt(head_sha)
    if (run === undefined) throw new Error('the pull request has a check run')
    const requests = github.requests.length
    github.rerequestRun(run)
    await until(() => {
      const writes = github.requests.slice(requests).filter(({ path }) => path.includes('/check-runs'))
      expect(writes.some(({ method, status }) => method !== 'GET' && status !== null && status < 300)).toBe(true)
    })
    await checkedAt(head_sha)
  })

  it('of a fork is checked by its head', async () => {
    const { github } = app
    const author = github.account('kim')
    const fork = github.fork(repository, author)
    const files = { 'refunds.yaml': after }
    const pull = github.openPull(repository, { branch: 'change', author, from: fork, files })
    await checkedAt(pull.head_sha)
  })
})

describe('a push', () => {
  it('to the branch puts its version in force', async () => {
    const { github, platform } = app
    const sha = github.push(repository, { files: { 'refunds.yaml': after } })
    await until(async () => {
      const { body } = await platform.call('GET', `/api/v1/assignments/${assignment}`)
      expect(body).toMatchObject({ commit_sha: sha, policies: 2 })
    })
  })
})
