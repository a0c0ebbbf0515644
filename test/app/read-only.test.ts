// A check cannot write: whole checks on a real database and a GitHub that keeps the rules, with every statement and request recorded.
import type { MadeAssignment, RegisteredAgent } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkHead, checkMergeGroup, checkPullRequest } from '../../app/check/check-pull-request.js'
import { type CheckingParts, checkParts, reportInForce } from '../../app/check-parts.js'
import { appToken } from '../../app/github/app-token.js'
import { createInstallationTokens } from '../../app/github/installation-tokens.js'
import type { InstalledAt } from '../../app/github/repository-client.js'
import { readConfig } from '../../platform/config.js'
import { type Database, openDatabase, withSnapshot, withUnscopedTransaction } from '../../platform/db/db.js'
import { type Scope, scopeOf } from '../../platform/db/scope.js'
import { createGithubApi } from '../../platform/git/github/api.js'
import { openSources } from '../../platform/git/source/sources.js'
import { createOutgoing, type Outgoing } from '../../platform/outgoing/outgoing.js'
import { createTargets } from '../../platform/outgoing/targets.js'
import type { Pull, Repository, SeenRequest } from '../github/world.js'
import { type GithubApp, openGithubApp } from '../support/git/github-app.js'
import { refunds } from '../support/git/manifests-in-git.js'

const before = refunds([{ name: 'amount' }, { name: 'reason' }])
const after = refunds([{ name: 'amount', params: { field: 'input.total', target_step_names: ['refund'] } }])

let app: GithubApp
let db: Database
let network: Outgoing
let repository: Repository
let pull: Pull
let scope: Scope
let parts: CheckingParts
let target: InstalledAt
let repo_id: number
const statements: string[] = []

/** Records the statements of every connection from now on. */
function record({ pool }: Database): void {
  const recorded = new WeakSet<object>()
  pool.on('acquire', (connection) => {
    if (recorded.has(connection)) return
    recorded.add(connection)
    const query = connection.query.bind(connection) as (...given: unknown[]) => unknown
    Object.assign(connection, {
      query: (text: unknown, ...more: unknown[]) => {
        statements.push(String((text as { text?: unknown }).text ?? text))
        return query(text, ...more)
      },
    })
  })
}

beforeAll(async () => {
  app = await openGithubApp()
  const { github, owner, platform } = app
  const files = { 'refunds.yaml': before, CODEOWNERS: '* @mia' }
  repository = github.repository(owner, 'policies', { files })
  const installation = github.install(app.app, owner)
  const [connection] = await app.connectedTo('acme/policies')
  repo_id = connection?.id ?? 0
  const made = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', {
    as: 'key',
    body: { agent_key: 'desk' },
  })
  const body = { agent_id: made.body.agent_id, repo_id, manifest_path: 'refunds.yaml' }
  expect(await platform.call<MadeAssignment>('POST', '/api/v1/assignments', { body })).toMatchObject({ status: 201 })
  const { agent_id } = made.body
  const tests = { agent_id, repo_id, manifest_path: 'refunds.test.yaml' }
  // Policies in a file of tests would change unseen.
  const refused = await platform.call('POST', '/api/v1/assignments', { body: tests })
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([422, expect.stringContaining('is a file of tests')])
  const refund = { step_type: 'step.resource', verb: 'POST', step_name: 'refund', input: { amount: 1 } }
  const steps = [{ step_type: 'task.start' }, refund, { step_type: 'task.end' }]
  const entries = steps.map((step, index) => {
    return { agent_id, task_id: 't-1', step: index + 1, timestamp: new Date(1.79e12 + index).toISOString(), ...step }
  })
  const logged = await platform.call('POST', '/api/v1/logs/batch', { as: 'key', body: { entries } })
  expect(logged).toMatchObject({ status: 200 })
  await platform.close()
  github.account('mia')
  pull = github.openPull(repository, {
    branch: 'change',
    author: github.account('bot[bot]', 'Bot'),
    files: { 'refunds.yaml': after },
  })
  github.review(pull, { by: github.account('mia'), state: 'approved' })
  await github.idle()
  const { value: config } = readConfig({ ...platform.env })
  db = await openDatabase(config)
  const rows = await withUnscopedTransaction(db, (tx) =>
    tx.query<{ org_id: string }>('select org_id from repositories'),
  )
  scope = scopeOf(rows[0]?.org_id ?? '', { kind: 'system', id: 'test' })
  record(db)
  const targets = createTargets('all', false)
  network = createOutgoing(targets)
  const api = createGithubApi({ outgoing: network, api_url: github.url, clock: github.now })
  const key = { app_id: app.app.id, private_key: app.app.private_key }
  const tokens = createInstallationTokens({
    asApp: (request) => api('jwt', appToken(key, github.now()), request),
    clock: github.now,
  })
  const sources = openSources({ config, targets, clock: Date.now })
  const reading = { db, clock: Date.now, sources } as unknown as CheckingParts['reading']
  const warn = (problem: string) => expect(problem).toBe('no problem')
  parts = { reading, scope, api, tokens, app_id: app.app.id, api_url: github.url, warn }
  target = { owner: 'acme', name: 'policies', installation_id: installation.id, github_id: repository.id }
})
afterAll(async () => {
  await network?.close()
  await db?.close()
  await app?.close()
})

const never = new AbortController().signal
const checks = () => checkParts(parts, target, never)

/** A request as who may do what asks for it. */
function shown({ method, path, caller }: SeenRequest): string {
  const levels = caller.kind === 'installation' ? Object.entries(caller.token.permissions).map(String).sort() : []
  const [end = ''] = path.replace(/\?.*/, '').split('/').slice(-1)
  return `${method} ${/^\d+$/.test(end) ? path.split('/').at(-2) : end} as ${caller.kind} ${levels.join(' ')}`.trim()
}

const reads =
  /^GET [\w.-]+ as installation (contents,read metadata,read pull_requests,read|checks,write( metadata,read)?)$/
const writes = /^(POST|PATCH) check-runs as installation checks,write( metadata,read)?$/
const asks = /^POST access_tokens as app$/

describe('a check', () => {
  it.each([
    ['of a pull request', () => checkPullRequest(checks(), pull.number)],
    ['that is asked for again', () => checkHead(checks(), pull.head_sha)],
    [
      'of a merge group',
      () => checkMergeGroup(checks(), { head_sha: pull.head_sha, base_sha: pull.base_sha, base_ref: 'main' }),
    ],
    ['of what is in force', () => reportInForce(parts, target, repo_id)],
  ])('%s only reads, and writes check runs alone', async (name, run) => {
    const { requests, runs } = app.github
    const [asked, done] = [requests.length, statements.length]
    await run()
    const last = name === 'of what is in force' ? 'svc / in force' : 'svc / policies'
    const written = runs.filter((one) => one.name === last)
    expect(written).toMatchObject([{ status: 'completed' }])
    expect(written[0]?.title).not.toMatch(/Not checked/)
    const sql = statements.slice(done)
    const begun = sql.filter((text) => /^\s*begin/i.test(text))
    expect(begun.length).toBeGreaterThan(0)
    for (const text of begun)
      expect(text).toMatch(/^begin isolation level repeatable read read only; set local role svc_app;/)
    for (const text of sql)
      expect(text).toMatch(
        /^\s*(begin isolation level repeatable read read only;|with|select|(set local enable_\w+ = \w+(; |$))+$|commit$)/i,
      )
    expect(sql.length).toBeGreaterThan(begun.length * 2)
    const seen = requests.slice(asked).map(shown)
    expect(seen.filter((one) => !reads.test(one) && !writes.test(one) && !asks.test(one))).toEqual([])
    expect(seen.some((one) => writes.test(one))).toBe(true)
  })

  it('replayed a recorded task', () => {
    expect(app.github.runs.find(({ name }) => name === 'svc / policies')?.title).toMatch(/1 recorded task/)
  })

  it.each([
    "update agents set name = 'x'",
    'delete from assignments',
    'create table x (id int)',
    'set transaction read write',
    "insert into github_deliveries (delivery_id, event, status, received_at) values ('x', 'push', 'waiting', now())",
  ])('cannot run %j in its transaction', async (text) => {
    await expect(withSnapshot(db, scope, (tx) => tx.query(text))).rejects.toThrow(
      /read-only|read-write|permission denied/,
    )
  })
})
