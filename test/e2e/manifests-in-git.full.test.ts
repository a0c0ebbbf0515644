// A new user's path through manifests in Git: real processes, a repository on this machine, and `git push`.
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type {
  Assignment,
  AssignmentList,
  EngineHealth,
  Evaluation,
  ManifestList,
  PolicyList,
  Repository,
  WebhookSecret,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runSvc } from '../support/cli/svc.js'
import { type Serve, startServe } from '../support/engine/serve.js'
import { bareRepository } from '../support/git/git-host.js'
import { logIn, signIn } from '../support/people/local-login.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'
import { soon } from '../support/server/soon.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-manifests-in-git-'))
const roots = join(folder, 'repositories')
const clone = join(folder, 'clone')
const path = 'support/refunds.yaml'
let platform: PlatformProcess
let serve: Serve | undefined
let env: Record<string, string>

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: clone, encoding: 'utf8', stdio: 'pipe' }).trim()
/** Pushes the file as a person does; returns the blob SHA of the manifest. */
function push(text: string): string {
  mkdirSync(join(clone, 'support'), { recursive: true })
  writeFileSync(join(clone, path), text)
  git('add', '--all')
  git('-c', 'user.name=Mia', '-c', 'user.email=mia@example.org', 'commit', '--quiet', '--message', 'change')
  git('push', '--quiet', 'origin', 'main')
  return git('rev-parse', `main:${path}`)
}
const manifest = (...fields: readonly string[]) =>
  `name: Refunds\nversion: "1.0.0"\npolicies:\n${fields
    .map(
      (field) =>
        `  - name: Refunds have ${field}\n    rule_type: field_not_empty\n    params: {field: input.${field}, target_step_names: [refund]}\n    severity: critical\n    scope: step_execution\n`,
    )
    .join('')}`

/** Standard output; the exit code and both outputs when the command does not succeed. */
async function svc(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runSvc(args, env)
  return code === 0 ? stdout : `${code} ${stdout}${stderr}`
}
const svcJson = async <T>(...args: readonly string[]) => JSON.parse(await svc(...args, '--json')) as T
async function call<T>(method: string, at: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${platform.operator_token}`, 'content-type': 'application/json' }
  const answer = await fetch(platform.url + at, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  return (await answer.json()) as T
}
/** The names of the policies from the manifest that the local engine reports for a refund. */
async function violated(input: object): Promise<string[]> {
  const intended = { step_type: 'step.resource', verb: 'POST', step_name: 'refund', input }
  const context = { agent_id: 'desk', task_id: 't', environment: 'development' }
  const { body } = await (serve as Serve).post<Evaluation>('/evaluate', { intended, context })
  const names = body.violations.map(({ name }) => name).filter((name) => name.startsWith('Refunds have'))
  if (names.length > 0) expect([body.action, body.blocked]).toEqual(['block', true])
  return names
}
/** Waits until a refund without input violates exactly these. */
const evaluatesBy = (...names: readonly string[]) =>
  vi.waitFor(async () => expect(await violated({})).toEqual(names), soon)

beforeAll(async () => {
  bareRepository(join(roots, 'policies.git'))
  bareRepository(join(roots, 'more.git')).commit({ [path]: manifest('amount') })
  execFileSync('git', ['clone', '--quiet', join(roots, 'policies.git'), clone], { stdio: 'pipe' })
  push(manifest('amount'))
  platform = await startProcess({
    SVC_DATA_DIR: join(folder, 'data'),
    SVC_PORT: '0',
    SVC_GIT_FILE_ROOTS: roots,
    SVC_RESYNC_SECONDS: '3600',
  })
  env = { SVC_CONFIG_DIR: join(folder, 'config'), SVC_API_URL: platform.url }
})
afterAll(async () => {
  await serve?.discard()
  await platform.terminate()
  rmSync(folder, { recursive: true, force: true })
})

describe('a new user', () => {
  let repo_id = 0
  let id = 0

  it('is asked to log in, also with an API key', async () => {
    const { code, stderr } = await runSvc(['list-repos'], { ...env, SVC_API_KEY: platform.api_key })
    expect([code, stderr]).toEqual([
      1,
      `svc: you are not logged in (SVC_API_KEY is for agents, and this command is for people): run \`npx --no-install svc login\` for ${platform.url}, or add \`--url\` for another platform\n`,
    ])
    await logIn(platform, await signIn(platform), env)
  })

  it('connects a repository by the command, and another by the API', async () => {
    const url = pathToFileURL(join(roots, 'policies.git')).href
    const printed = await svc('connect-repo', '--url', url, '--branch', 'main')
    repo_id = Number(/^repository (\d+): file:/.exec(printed)?.[1])
    expect(printed).toContain(`last read at commit ${git('rev-parse', 'main')}`)
    expect(await svc('connect-repo', '--url', url)).toBe(
      `1 svc: this branch is connected already, as repository ${repo_id}\n`,
    )
    const other = { url: pathToFileURL(join(roots, 'more.git')).href }
    expect(await call<Repository>('POST', '/api/v1/repos', other)).toMatchObject({ branch: 'main', status: 'synced' })
    expect((await svc('list-repos')).split('\n').slice(0, 3)).toEqual([
      expect.stringMatching(/^ID +REPOSITORY +BRANCH +STATUS +HEAD +LAST READ$/),
      expect.stringMatching(/^1 +svc\/library \(bundled\) +main +synced/),
      expect.stringMatching(/^2 .*policies\.git +main +synced +[0-9a-f]{10} +2/),
    ])
    const { manifests } = await svcJson<ManifestList>('list-manifests', '--repo-id', String(repo_id))
    expect(manifests).toMatchObject([
      { path, name: 'Refunds', valid: true, policies: 1, blob_sha: git('rev-parse', `main:${path}`) },
    ])
  })

  it('assigns a manifest by the key of the agent, and the local engine blocks by it', async () => {
    const assign = () => svc('assign-manifest', '--agent-id', 'desk', '--repo-id', String(repo_id), '--manifest', path)
    expect(await assign()).toMatch(/^1 svc: no agent of My workspace has .* `desk`: register the agent first/)
    const headers = { authorization: `Bearer ${platform.api_key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ agent_key: 'desk', owner_id: 'mia', purpose: 'answers customers' })
    await fetch(`${platform.url}/api/v1/agents`, { method: 'POST', headers, body })
    serve = await startServe(
      [],
      {},
      {
        SVC_API_URL: platform.url,
        SVC_API_KEY: platform.api_key,
        SVC_AGENT_KEY: 'desk',
        SVC_POLICY_TTL_SECONDS: '1',
      },
    )
    expect(await violated({})).toEqual([])
    const printed = await assign()
    id = Number(
      /^assignment (\d+): `desk` has `support\/refunds.yaml` of repository 2\n1 policy is in force/.exec(printed)?.[1],
    )
    expect(id).toBeGreaterThan(0)
    expect(await assign()).toMatch(
      /^1 svc: the agent has `support\/refunds.yaml` already: `npx --no-install svc list-assignments --agent-id ag_/,
    )
    await evaluatesBy('Refunds have amount')
    expect(await violated({ amount: 10 })).toEqual([])
  })

  it('pushes, and the webhook brings the change to the engine within its TTL', async () => {
    const { url, secret } = await svcJson<WebhookSecret>('webhook-secret', String(repo_id))
    const sha = push(manifest('amount', 'reason'))
    const body = JSON.stringify({ ref: 'refs/heads/main' })
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
    const post = (sent: string) => {
      const headers = { 'content-type': 'application/json', 'x-hub-signature-256': sent }
      return fetch(url, { method: 'POST', headers, body })
    }
    expect((await post(signature.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')))).status).toBe(401)
    expect((await post(signature)).status).toBe(202)
    await evaluatesBy('Refunds have amount', 'Refunds have reason')
    const { policies } = await call<PolicyList>('GET', '/api/v1/policies?enabled=true&limit=200')
    expect(policies.filter(({ manifest_name }) => manifest_name === 'Refunds')).toMatchObject(
      ['amount', 'reason'].map((field) => ({
        name: `Refunds have ${field}`,
        manifest_repo: pathToFileURL(join(roots, 'policies.git')).href,
        manifest_path: path,
        manifest_sha: sha,
      })),
    )
  })

  it('pushes, and `svc resync` with POST /reload brings the change at once', async () => {
    const sha = push(manifest('amount', 'reason', 'receipt'))
    expect(await svc('resync', String(id))).toBe(
      `assignment ${id}: synced, 3 policies are in force, of \`${path}\`\nversion ${sha}\n`,
    )
    await (serve as Serve).call<EngineHealth>('POST', '/reload')
    expect(await violated({ amount: 1 })).toEqual(['Refunds have reason', 'Refunds have receipt'])
  })

  it('pushes a broken manifest: the last policies stay, and the reason is shown', async () => {
    push('name: Refunds\npolicies: [\n')
    expect(await svc('resync', String(id))).toMatch(
      new RegExp(`^1 assignment ${id}: degraded, 3 policies are in force`),
    )
    const shown = await svc('list-assignments', '--agent-id', 'desk')
    expect(shown.replaceAll(/\s+/g, ' ')).toContain(
      `degraded invalid manifest since ${/since (\S+):/.exec(shown)?.[1]}: \`${path}\` cannot be used, and its last valid version stays in force: line 2, column 11: `,
    )
    expect(shown.split('\n').filter((line) => line.length > 100)).toEqual([])
    expect(await violated({})).toHaveLength(3)
  })

  it('pastes what a message names: a guard holds a change until it is approved', async () => {
    const sha = push(manifest('reason'))
    expect(await svc('resync', '--repo-id', String(repo_id))).toContain('synced, last read at commit')
    const shown = await svc('list-assignments', '--agent-id', 'desk')
    expect(shown).toContain('out of sync')
    const pasted = /`npx --no-install svc (approve-resync \d+)`/.exec(shown)?.[1]?.split(' ') ?? []
    expect(await svc(...pasted)).toContain(`synced, 1 policy is in force, of \`${path}\`\nversion ${sha}\n`)
    await evaluatesBy('Refunds have reason')
  })

  it('rolls back, stays there over a resync, and follows the branch again by `svc resync`', async () => {
    const old = git('rev-parse', `HEAD~2:${path}`)
    const rolled = git('rev-parse', `main:${path}`)
    expect(await svc('pin-assignment', String(id), '--sha', old)).toContain(
      `pinned, 3 policies are in force, of \`${path}\`\nversion ${old}\n`,
    )
    expect(await svc('resync', String(id))).toMatch(/^1 assignment \d+: pinned/)
    const unpinned = await svc('unpin-assignment', String(id))
    const pasted = /`npx --no-install svc (resync \d+)`/.exec(unpinned)?.[1]?.split(' ') ?? []
    expect(await svc(...pasted)).toContain(`version ${rolled}\n`)
  })

  it('shows what is in force after an approval by manifest, since when, and by which way', async () => {
    push(manifest('reason', 'amount'))
    await svc('resync', '--repo-id', String(repo_id))
    const sha = push(manifest('amount'))
    await svc('resync', '--repo-id', String(repo_id))
    const approved = (await svc('approve-resync', '--repo-id', String(repo_id), '--manifest', `./${path}`)).replaceAll(
      /\s+/g,
      ' ',
    )
    expect(approved).toContain(`synced, 1 policy is in force, of \`${path}\` version ${sha} `)
    expect(approved).toContain('this version was held, because ')
    expect(approved).not.toContain('waits')
    const shown = await svc('agent', 'show', 'desk')
    expect(shown).toMatch(
      new RegExp(`version ${sha.slice(0, 10)}.*\\n {4}in force since \\S+, by [^\\n]+\\n {4}assigned at `),
    )
    const { in_force_by, assigned_by } = (await svcJson<AssignmentList>('list-assignments')).assignments.find(
      (one) => one.id === id,
    ) as Assignment
    expect(in_force_by).toBe(assigned_by)
  })

  it('disconnects the repository after its assignment is removed', async () => {
    expect(await svc('disconnect-repo', String(repo_id))).toBe(
      `1 svc: assignment ${id} uses this repository: remove it first, with \`npx --no-install svc unassign-manifest ID\` or DELETE /api/v1/assignments/{id}\n`,
    )
    expect(await svc('unassign-manifest', String(id))).toBe(
      `assignment ${id} is removed, and its policies have ended\n`,
    )
    await evaluatesBy()
    expect(await svc('disconnect-repo', String(repo_id))).toBe(`repository ${repo_id} is disconnected\n`)
    const { assignments } = await svcJson<AssignmentList>('list-assignments')
    expect(assignments.map(({ repo_id, manifest_path }: Assignment) => [repo_id, manifest_path])).toEqual([
      [null, 'security/agentic-baseline.yaml'],
    ])
  })
})
