// A sweep over 1,000 unchanged repositories with 10,000 assignments that are all due at once, and a push while it runs.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { MadeAssignment, RegisteredAgent, Repository, WebhookSecret } from '@svc/schemas'
import { bareRepository } from '../support/git/git-host.js'
import { type MockGithub, startGithub } from '../support/git/github.js'
import { refunds } from '../support/git/manifests-in-git.js'
import { type Postgres, startPostgres } from '../support/server/postgres.js'
import { serverKey, startProcess } from '../support/server/process.js'
import { cpuSeconds } from './cpu.js'
import type { Row } from './main.js'

const built = (file: string) => import(new URL(`../../../platform/dist/${file}`, import.meta.url).href)
const repositories = 1000
const each = 10
const token = 'ghp_bench'
const path = 'refunds.yaml'
const names = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const manifest = (version: string) => refunds(names.map((name) => ({ name, description: version })))
const none = { reference: '–', ratio: '–' }

export async function benchResync(): Promise<Row[]> {
  const postgres = await startPostgres('-c fsync=off')
  if (postgres === null) return []
  const github = await startGithub()
  const hosted = Array.from({ length: repositories }, (_, index) => github.add('acme', `r-${index}`, 'private'))
  for (const one of hosted) one.commit({ [path]: manifest('first') })
  github.grant(token, ...hosted)
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const url = postgres.emptyDatabase()
  const env = {
    SVC_DATABASE_URL: url,
    SVC_DATA_DIR: data_dir,
    SVC_PORT: '0',
    SVC_CHECKPOINT_SECONDS: '0',
    SVC_GITHUB_API_URL: github.url,
  }
  const hook = await prepare(env, postgres, url)
  github.requests.length = 0
  github.remaining = 1e9
  const start = performance.now()
  const platform = await startProcess(env)
  const cpu = cpuSeconds(platform.pid)
  const count = (condition: string) => Number(postgres.psql(url, `select count(*) from ${condition}`))
  await until(() => github.requests.length > repositories / 20)
  hosted.at(-1)?.commit({ [path]: manifest('second') })
  const pushed = performance.now()
  await fetch(platform.url + hook.path, { method: 'POST', body: '{}', headers: hook.headers })
  await until(() => count(`policies where enabled and description = 'second'`) === each * names.length)
  const seconds = (performance.now() - pushed) / 1000
  await until(() => count(`repositories where provider = 'github' and next_check_at > now()`) === repositories)
  const wall = (performance.now() - start) / 1000
  const used = cpuSeconds(platform.pid) - cpu
  const changed = hosted.at(-1)?.name
  const others = othersIn(github, `/acme/${changed}/`)
  await platform.terminate()
  rmSync(data_dir, { recursive: true })
  await github.close()
  await postgres.remove()
  const what = `sweep of ${repositories} unchanged repositories, ${repositories * each} assignments`
  return [
    { what: `${what}: wall`, measured: `${wall.toFixed(1)} s`, ...none, bar: '< 300 s' },
    { what: `${what}: CPU`, measured: `${used.toFixed(1)} s`, ...none, bar: '–' },
    { what: `${what}: requests beside 304`, measured: String(others), ...none, bar: '0' },
    {
      what: `a push in the sweep, ${each} assignments in force`,
      measured: `${seconds.toFixed(1)} s`,
      ...none,
      bar: '< 5 s',
    },
    ...(await benchGitPoll()),
  ]
}

function othersIn({ requests }: MockGithub, changed: string): number {
  return requests.filter((one) => one.status !== 304 && !`${one.path}/`.includes(changed)).length
}

/** Connects one repository with its assignments, and copies the rows for the others. */
async function prepare(env: Readonly<Record<string, string>>, { psql }: Postgres, url: string) {
  const platform = await startProcess(env)
  const call = async <T>(path: string, body: object, key = platform.operator_token) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(platform.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return (await response.json()) as T
  }
  const last = repositories - 1
  const { id } = await call<Repository>('/api/v1/repos', { owner: 'acme', name: `r-${last}`, branch: 'main', token })
  for (let index = 0; index < each; index += 1) {
    const agent = { agent_key: `agent-${index}` }
    const { agent_id } = await call<RegisteredAgent>('/api/v1/agents', agent, platform.api_key)
    await call<MadeAssignment>('/api/v1/assignments', { agent_id, repo_id: id, manifest_path: path })
  }
  const hook = await call<WebhookSecret>(`/api/v1/repos/${id}/webhook-secret`, {})
  await until(
    () =>
      Number(
        psql(url, `select count(*) from repositories where reading_since is not null or last_commit_sha is null`),
      ) === 0,
  )
  await platform.terminate()
  const org_id = psql(url, 'select org_id from org_log')
  const { createSealer } = (await built('secrets/seal.js')) as typeof import('../../platform/secrets/seal.js')
  const { tokenContext } = (await built('secrets/store.js')) as typeof import('../../platform/secrets/store.js')
  const sealer = createSealer([Buffer.from(serverKey, 'base64')])
  const tokens = Array.from({ length: last }, (_, index) => {
    const sealed = sealer.seal(tokenContext(org_id, 1000 + index), Buffer.from(token))
    return `(${index}, '${sealed}')`
  })
  psql(
    url,
    `begin; ${copies(id, tokens)} update repositories set next_check_at = now() - interval '1 s' + id * interval '1 us'
    where provider = 'github'; update repositories set next_check_at = now() where id = ${id}; commit`,
  )
  psql(url, 'vacuum analyze')
  const headers = { 'x-gitlab-token': hook.secret }
  return { path: hook.url.replace(/^https?:\/\/[^/]+/, ''), headers }
}

/** Rows of all tables, with ids from 1,000 on. */
function copies(id: number, tokens: readonly string[]): string {
  const copy = (table: string, condition: string, members: string) =>
    `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object(${members}))).* from ${table} t, tokens n where ${condition};`
  const own = `t.repo_id = ${id}`
  const of_assignments = `t.assignment_id in (select id from assignments where repo_id = ${id})`
  const agent = `'agent_id', t.agent_id || '_' || n.index`
  const moved = (column: string) => `'${column}', t.${column} + 1000 * (n.index + 1)`
  return `create temporary table tokens (index bigint, sealed text); insert into tokens values ${tokens.join(', ')};
    ${copy('policies', of_assignments, `${moved('id')}, ${moved('assignment_id')}, ${agent}`)}
    ${copy('assignment_versions', of_assignments, moved('assignment_id'))}
    ${copy('repository_files', own, `'repo_id', 1000 + n.index`)}
    ${copy('agents', `t.agent_key like 'agent-%'`, `${agent}, 'agent_key', t.agent_key || '_' || n.index`)}
    ${copy('assignments', own, `${moved('id')}, 'repo_id', 1000 + n.index, ${agent}`)}
    ${copy('repositories', `t.id = ${id}`, `'id', 1000 + n.index, 'name', 'r-' || n.index, 'sealed_token', n.sealed`)}`
}

/** One poll of an unchanged repository with Git's own program. */
async function benchGitPoll(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  bareRepository(join(folder, 'one.git')).commit({ [path]: manifest('first') })
  const { openSources } = (await built(
    'git/source/sources.js',
  )) as typeof import('../../platform/git/source/sources.js')
  const { createTargets } = (await built('outgoing/targets.js')) as typeof import('../../platform/outgoing/targets.js')
  const config = {
    data_dir: folder,
    github_api_url: 'http://127.0.0.1:1',
    github_fallback_token: null,
    git_file_roots: [folder],
    inherited: { PATH: process.env.PATH ?? '' },
  }
  const sources = openSources({ config, targets: createTargets([], true), clock: Date.now })
  const url = `file://${folder}/one.git`
  const source = sources.open({ provider: 'git', owner: '', name: '', branch: 'main', url, token: null }, 'bench')
  const head = await source.resolve(null)
  const [start, cpu] = [performance.now(), cpuSeconds('self')]
  for (let round = 0; round < polls; round += 1) await source.resolve(head)
  const [wall, used] = [(performance.now() - start) / polls, ((cpuSeconds('self') - cpu) * 1000) / polls]
  await sources.close()
  rmSync(folder, { recursive: true })
  return [
    {
      what: 'a poll of an unchanged repository with git ls-remote',
      measured: `${wall.toFixed(0)} ms, CPU ${used.toFixed(0)} ms`,
      ...none,
      bar: '–',
    },
  ]
}

const polls = 50

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await setTimeout(100)
}
