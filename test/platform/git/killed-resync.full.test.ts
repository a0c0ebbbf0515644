// A platform that is killed while it resyncs assignments: each has its old version or its new one, and the head arrives by itself.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { readConfig } from '@svc/platform'
import type {
  Assignment,
  AssignmentList,
  MadeAssignment,
  PolicyList,
  RegisteredAgent,
  Repository,
  WebhookSecret,
} from '@svc/schemas'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { openDatabase, withUnscopedTransaction } from '../../../platform/db/db.js'
import { numbers } from '../../support/engine/policy-pairs.js'
import { bareRepository } from '../../support/git/git-host.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../../support/server/process.js'
import { soon } from '../../support/server/soon.js'

/** A kill takes about seven seconds; SVC_KILLS=20 plays more of them. */
const kills = Number(process.env.SVC_KILLS ?? 4)
const paths = ['a.yaml', 'b.yaml', 'c.yaml', 'd.yaml']
const postgres = await sharedPostgres()
const folder = mkdtempSync(join(tmpdir(), 'svc-killed-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const seed = Number(process.env.SVC_KILL_SEED ?? Date.now() % 2 ** 24)

function manifest(version: number, path: string): string {
  const policies = Array.from({ length: 12 }, (_, index) => ({
    name: `p${index}`,
    description: `version ${version}`,
    rule_type: 'field_not_empty',
    params: { field: `input.f${version}`, target_step_names: [path] },
    scope: 'step_execution',
    severity: 'medium',
  }))
  return JSON.stringify({ name: 'Desk', version: String(version), policies })
}

describe.each([
  { kind: 'pglite', env: () => ({ SVC_DATA_DIR: join(folder, 'embedded') }) },
  ...(postgres === null
    ? []
    : [
        {
          kind: 'postgresql',
          env: () => ({ SVC_DATA_DIR: join(folder, 'server'), SVC_DATABASE_URL: postgres.freshDatabase() }),
        },
      ]),
])(`a resync on $kind (SVC_KILL_SEED=${seed})`, ({ kind, env: make }) => {
  it(`survives ${kills} kills`, async () => {
    const random = numbers(seed)
    const env = { ...make(), SVC_PORT: '0', SVC_GIT_FILE_ROOTS: folder }
    let platform: PlatformProcess = await startProcess(env)
    const call = async <T>(method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
      const authorization = `Bearer ${path === '/api/v1/agents' ? platform.api_key : platform.operator_token}`
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const all = { authorization, 'content-type': 'application/json', ...headers }
      const response = await fetch(platform.url + path, { method, headers: all, ...sent })
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
      return (await response.json()) as T
    }
    const { agent_id } = await call<RegisteredAgent>('POST', '/api/v1/agents', { agent_key: 'desk' })
    const repositories = [1, 2].map((index) => bareRepository(join(folder, `${kind}-${index}.git`)))
    const push = (version: number) => {
      for (const one of repositories)
        one.commit(Object.fromEntries(paths.map((path) => [path, manifest(version, path)])))
    }
    push(0)
    const hooks: { readonly path: string; readonly secret: string }[] = []
    for (const { folder: at } of repositories) {
      const { id } = await call<Repository>('POST', '/api/v1/repos', { url: `file://${at}`, branch: 'main' })
      for (const manifest_path of paths)
        await call<MadeAssignment>('POST', '/api/v1/assignments', { agent_id, repo_id: id, manifest_path })
      const { secret, url } = await call<WebhookSecret>('POST', `/api/v1/repos/${id}/webhook-secret`, {})
      hooks.push({ secret, path: url.replace(/^https?:\/\/[^/]+/, '') })
    }
    const announce = () =>
      Promise.all(hooks.map(({ path, secret }) => call('POST', path, {}, { 'x-gitlab-token': secret })))
    /** The version of each assignment. Throws for a mixture. */
    const versions = async () => {
      const { assignments } = await call<AssignmentList>('GET', `/api/v1/assignments?agent_id=${agent_id}&limit=100`)
      const list = `/api/v1/policies?agent_id=${agent_id}&enabled=true&limit=200`
      const { policies } = await call<PolicyList>('GET', list)
      return assignments.filter(({ repo_id }) => repo_id !== null).map((one) => versionOf(one, policies))
    }
    const arrival = async (version: number) => {
      const start = performance.now()
      const wanted = Array.from({ length: 8 }, () => `version ${version}`)
      await vi.waitFor(async () => expect(await versions()).toEqual(wanted), { ...soon, interval: 50 })
      return performance.now() - start
    }
    push(1)
    await announce()
    const duration = await arrival(1)
    const waits: number[] = []
    const found: Record<string, number> = { old: 0, both: 0, new: 0 }
    for (let version = 2; version < kills + 2; version += 1) {
      push(version)
      await announce()
      await setTimeout(random() * duration * 1.1)
      await platform.kill9()
      platform = await startProcess(env)
      const seen = new Set(await versions())
      expect(
        [...seen].filter((one) => ![version - 1, version].map((known) => `version ${known}`).includes(one)),
      ).toEqual([])
      const state = seen.size > 1 ? 'both' : seen.has(`version ${version}`) ? 'new' : 'old'
      found[state] = (found[state] ?? 0) + 1
      waits.push(await arrival(version))
    }
    const sorted = waits.map(Math.round).toSorted((a, b) => a - b)
    console.log(kind, `resync ${Math.round(duration)} ms`, found, `arrival after the start, ms: ${sorted.join(' ')}`)
    await platform.kill9()
    expect(await inconsistentVersions(env)).toEqual([])
  })
})

function versionOf({ id, manifest_id, manifest_sha, policies }: Assignment, all: PolicyList['policies']): string {
  const own = all.filter((policy) => policy.manifest_id === manifest_id)
  const shown = new Set(own.map((policy) => policy.description))
  if (own.length !== policies || shown.size !== 1 || own.some((policy) => policy.manifest_sha !== manifest_sha))
    throw new Error(`assignment ${id} has a mixture: ${[...shown].join()}`)
  return String([...shown][0])
}

/** Assignments without exactly one version in force, with another one than they show, or with gaps between versions. */
async function inconsistentVersions(env: Readonly<Record<string, string>>) {
  const db = await openDatabase(readConfig(env).value)
  try {
    return await withUnscopedTransaction(db, (tx) =>
      tx.query(`select a.id from assignments a
        where (select array_agg(manifest_sha) from assignment_versions v
            where v.org_id = a.org_id and v.assignment_id = a.id and v.until_index is null) is distinct from array[a.manifest_sha]
          or exists (select from assignment_versions v join assignment_versions n
            on n.org_id = v.org_id and n.assignment_id = v.assignment_id and n.number = v.number + 1
            where v.org_id = a.org_id and v.assignment_id = a.id and v.until_index is distinct from n.from_index)
          or a.policies <> (select count(*) from policies p where p.org_id = a.org_id and p.assignment_id = a.id
            and p.until_index is null)`),
    )
  } finally {
    await db.close()
  }
}
