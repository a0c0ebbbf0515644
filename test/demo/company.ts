// The invented company of `examples/` on a platform and a GitHub of this machine, with the App installed.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonMap, MadeAssignment, RepositoryList } from '@svc/schemas'
import { type FakeGithub, startFakeGithub } from '../github/fake-github.js'
import { startSvc } from '../support/cli/svc.js'
import { type Serve, startServe } from '../support/engine/serve.js'
import { freePort } from '../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'
import { airline } from './airline.js'

const root = fileURLToPath(new URL(import.meta.url.includes('/test/dist/') ? '../../../' : '../../', import.meta.url))
const examples = join(root, 'examples')
const airlineRuns = join(root, '../shared/data/agent-runs/airline-service.jsonl')

/** Relative path to text, of every file below the folder. */
export function filesBelow(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    paths.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')]
    }),
  )
}

/** The files of a pull request in `examples/changes/`. */
export function filesOfChange(name: string): Record<string, string> {
  return filesBelow(join(examples, 'changes', name))
}

export type Company = Awaited<ReturnType<typeof openCompany>>

/** Ports: 0 for any. `has_airline`: with the recorded runs of an airline, where they are present. */
export async function openCompany({ github_port = 0, port = 0, has_airline = existsSync(airlineRuns) } = {}) {
  const github = await startFakeGithub({ port: github_port })
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-demo-'))
  try {
    return await openWith(github, data_dir, port === 0 ? await freePort() : port, has_airline)
  } catch (error) {
    await github.close()
    rmSync(data_dir, { recursive: true, force: true })
    throw error
  }
}

async function openWith(github: FakeGithub, data_dir: string, port: number, has_airline: boolean) {
  const owner = github.account('birkholm', 'Organization')
  const app = github.app({
    slug: 'svc-policies',
    owner,
    webhook_url: `http://127.0.0.1:${port}/api/v1/github/webhook`,
    webhook_secret: 'secret-of-this-demonstration',
    permissions: { contents: 'read', checks: 'write', pull_requests: 'read', merge_queues: 'read' },
    events: ['push', 'pull_request', 'pull_request_review', 'merge_group', 'check_run', 'check_suite', 'repository'],
  })
  const platform = await startProcess({
    SVC_DATA_DIR: data_dir,
    SVC_PORT: String(port),
    SVC_GITHUB_API_URL: github.url,
    SVC_GITHUB_APP_ID: String(app.id),
    SVC_GITHUB_APP_PRIVATE_KEY: app.private_key,
    SVC_GITHUB_APP_WEBHOOK_SECRET: app.webhook_secret ?? '',
  })
  const engines: Serve[] = []
  const files = { ...filesBelow(join(examples, 'manifests')), ...(has_airline ? airline.files : {}) }
  const repository = github.repository(owner, 'agent-policies', { files })
  const call = async <T = JsonMap>(method: string, path: string, body?: object, token = platform.operator_token) => {
    const response = await fetch(platform.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return JSON.parse(text) as T
  }
  return {
    github,
    platform,
    data_dir,
    app,
    owner,
    repository,
    call,
    has_airline,
    /** Installs the App and waits until the platform has connected the repository; returns its id. */
    install: async (): Promise<number> => {
      github.install(app, owner, [repository])
      return until('the repository is connected', async () => {
        const { repos } = await call<RepositoryList>('GET', '/api/v1/repos?provider=github')
        return repos.find(({ name, last_commit_sha }) => name === repository.name && last_commit_sha !== null)?.id
      })
    },
    /** Registers an agent as its recorded runs describe it, and assigns a manifest to it; returns its id. */
    govern: async (agent: JsonMap, repo_id: number, manifest_path: string): Promise<string> => {
      const { agent_id } = await call<{ agent_id: string }>('POST', '/api/v1/agents', agent, platform.api_key)
      await call<MadeAssignment>('POST', '/api/v1/assignments', { agent_id, repo_id, manifest_path })
      return agent_id
    },
    /** Sends recorded runs to the platform; returns the number of tasks and steps. */
    importRuns: (format: string, path: string) => importRuns(platform, format, path),
    /** Starts a local engine with the policies of the agent. It reports its state to the platform. */
    startEngine: async (agent_key: string): Promise<Serve> => {
      const env = { SVC_API_URL: platform.url, SVC_API_KEY: platform.api_key, SVC_AGENT_KEY: agent_key }
      const engine = await startServe([], {}, env)
      engines.push(engine)
      return engine
    },
    close: async () => {
      for (const engine of engines) await engine.discard()
      await platform.terminate()
      await github.close()
      rmSync(data_dir, { recursive: true, force: true })
    },
  }
}

/** The files of recorded runs, with the format by which they are imported. */
export const recordedRuns = {
  examples: { format: 'trace', path: join(examples, 'runs') },
  airline: { format: 'chat-completions', path: airlineRuns },
} as const

/** The agents of the recorded runs in `examples/`, as their first steps describe them, with their manifests. */
export function exampleAgents(): { readonly agent: JsonMap; readonly manifest_path: string }[] {
  const runs = Object.values(filesBelow(recordedRuns.examples.path))
  const described = runs.map(
    (text) => (JSON.parse(text.split('\n')[0] ?? '') as { meta: { agent: JsonMap } }).meta.agent,
  )
  const agents = new Map(described.map((agent) => [String(agent.agent_key), agent]))
  const manifests: Readonly<Record<string, string>> = {
    'support-desk': 'policies/support.yaml',
    'shop-coder': 'policies/coding.yaml',
  }
  return [...agents].map(([key, agent]) => ({ agent, manifest_path: manifests[key] ?? 'policies/research.yaml' }))
}

/** In a process of its own: this one answers as GitHub in the meantime. */
async function importRuns({ url, api_key }: PlatformProcess, format: string, path: string) {
  const args = ['import', format, path, '--to', url, '--json']
  const { stdout, stderr } = await startSvc(args, { SVC_API_KEY: api_key }).finished
  if (!stdout.startsWith('{')) throw new Error(`the import failed: ${stderr}`)
  return JSON.parse(stdout) as { readonly runs: number; readonly steps: number }
}

const maxWaitMs = 120_000

/** Asks until there is an answer. Rejects after two minutes. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + maxWaitMs
  for (;;) {
    const found = await ask()
    if (found !== undefined) return found
    if (Date.now() > end) throw new Error(`gave up waiting until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
