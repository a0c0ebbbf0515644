// The platform with the GitHub App in a process of its own, and a GitHub of this machine where every case has an account.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RepositoryList } from '@svc/schemas'
import { type FakeGithub, startFakeGithub } from '../../github/fake-github.js'
import type { Account, App, CheckRun, Installation, Repository } from '../../github/world.js'
import { appVariables, registerApp, webhookPath } from '../git/github-app.js'
import { freePort } from './postgres.js'
import { type PlatformProcess, startProcess } from './process.js'

export interface AppProcess {
  readonly github: FakeGithub
  readonly app: App
  readonly owner: Account
  readonly env: Readonly<Record<string, string>>
  /** The process that runs now. */
  readonly platform: PlatformProcess
  /** Starts the process (again) on the same data and port. */
  readonly start: () => Promise<PlatformProcess>
  /** Makes a repository with an installation on an account of its own, and returns both once the platform has connected it. */
  readonly connect: (login: string, files: Readonly<Record<string, string>>) => Promise<Connected>
  readonly get: <T>(path: string) => Promise<T>
  readonly jobs: () => Promise<readonly JobRow[]>
  readonly close: () => Promise<void>
}

export interface Connected {
  readonly repository: Repository
  readonly installation: Installation
}

export interface JobRow {
  readonly name: string
  readonly waiting: number
  readonly active: number
}

/** The accounts that installations are accepted from besides `acme`, which owns the App. */
export async function openAppProcess(
  accounts: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<AppProcess> {
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-app-'))
  const github = await startFakeGithub()
  const owner = github.account('acme', 'Organization')
  const app = registerApp(github, owner)
  const port = await freePort()
  app.webhook_url = `http://127.0.0.1:${port}${webhookPath}`
  const env = {
    ...appVariables(github, app),
    SVC_GITHUB_APP_ACCOUNTS: accounts.join(' '),
    SVC_DATA_DIR: data_dir,
    SVC_PORT: String(port),
    ...more,
  }
  let platform = await startProcess(env)
  const get = async <T>(path: string) => {
    const response = await fetch(`${platform.url}${path}`, {
      headers: { authorization: `Bearer ${platform.operator_token}` },
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    return (await response.json()) as T
  }
  return {
    github,
    app,
    owner,
    env,
    get platform() {
      return platform
    },
    start: async () => {
      platform = await startProcess(env)
      return platform
    },
    connect: async (login, files) => {
      const account = login === owner.login ? owner : github.account(login, 'Organization')
      const repository = github.repository(account, 'policies', { files })
      const installation = github.install(app, account)
      await eventually(`${login}/policies is connected`, async () => {
        const { repos } = await get<RepositoryList>('/api/v1/repos?provider=github&limit=200')
        return repos.some((one) => one.owner === login && one.last_commit_sha !== null)
      })
      return { repository, installation }
    },
    get,
    jobs: async () => (await get<{ jobs: readonly JobRow[] }>('/api/v1/jobs')).jobs,
    close: async () => {
      await platform.kill9()
      await github.close()
      rmSync(data_dir, { recursive: true, force: true })
    },
  }
}

/** The check runs of a commit. */
export function runsOf({ runs }: FakeGithub, head_sha: string, name = 'svc / policies'): CheckRun[] {
  return runs.filter((run) => run.name === name && run.suite.head_sha === head_sha)
}

const maxWaitMs = 300_000

/** Asks until it is so. Rejects after five minutes: a busy machine takes its time. */
export async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + maxWaitMs
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`gave up waiting until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A manifest that blocks payments above `max`; with `broken`, one whose rule does not exist. */
export function payments(max: number, rule_type = 'field_in_range'): string {
  return `name: Payments
version: "1.0.0"
policies:
  - name: Payments stay small
    rule_type: ${rule_type}
    params: { field: input.amount, max: ${max}, target_step_names: [pay] }
    scope: step_execution
    severity: critical
`
}
