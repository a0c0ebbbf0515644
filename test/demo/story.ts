// What happens in the demonstration, step by step: each step waits for what it caused and returns what a person would see.
import type { EffectivePolicies } from '@svc/schemas'
import type { CheckRun, Pull } from '../github/world.js'
import { airline } from './airline.js'
import { type Company, exampleAgents, filesOfChange, recordedRuns, until } from './company.js'

export interface Governed {
  readonly repo_id: number
  /** Agent key to id. */
  readonly agents: ReadonlyMap<string, string>
}

/** Installs the App, and registers the agents with their manifests. */
export async function governAgents(company: Company): Promise<Governed> {
  const repo_id = await company.install()
  const agents = new Map<string, string>()
  for (const { agent, manifest_path } of exampleAgents())
    agents.set(String(agent.agent_key), await company.govern(agent, repo_id, manifest_path))
  if (company.has_airline) {
    const agent = { agent_key: airline.agent_key, risk_classification: 'limited', purpose: 'serves passengers' }
    agents.set(airline.agent_key, await company.govern(agent, repo_id, airline.path))
  }
  return { repo_id, agents }
}

export interface Begun extends Governed {
  readonly runs: number
  readonly steps: number
}

/** Installs the App, registers the agents with their manifests, and imports their recorded runs. */
export async function begin(company: Company): Promise<Begun> {
  const governed = await governAgents(company)
  const files = [recordedRuns.examples, ...(company.has_airline ? [recordedRuns.airline] : [])]
  const imported: { readonly runs: number; readonly steps: number }[] = []
  for (const { format, path } of files) imported.push(await company.importRuns(format, path))
  const sum = (member: 'runs' | 'steps') => imported.reduce((total, one) => total + one[member], 0)
  return { ...governed, runs: sum('runs'), steps: sum('steps') }
}

/** A person opens a pull request that tightens refunds, and the certificates of the airline where its runs are present. */
export function openTightening({ github, repository, has_airline }: Company): Pull {
  const files = { ...filesOfChange('tighten-refunds'), ...(has_airline ? airline.tightened : {}) }
  const author = github.account('mira-sol')
  return github.openPull(repository, {
    branch: 'tighten-refunds',
    files,
    author,
    title: 'Refunds above 100 euros need an approval',
  })
}

/** The account of the coding agent opens a pull request that only reports deployments without a review. */
export function openLoosening({ github, repository }: Company): Pull {
  const author = github.account('shop-coder')
  const files = filesOfChange('loosen-deployments')
  return github.openPull(repository, { branch: 'faster-deployments', files, author, title: 'Deploy without waiting' })
}

/** The check run of a commit once it is completed, and is the `wanted` one. */
export function completedCheck(
  { github }: Company,
  name: string,
  head_sha: string,
  wanted: (run: CheckRun) => boolean = () => true,
): Promise<CheckRun> {
  return until(`the check run ${name} of ${head_sha} is completed`, async () =>
    github.runs.find(
      (run) => run.name === name && run.suite.head_sha === head_sha && run.status === 'completed' && wanted(run),
    ),
  )
}

export function pageOf({ github, repository }: Company, run: CheckRun): string {
  return `${github.url}/${repository.owner.login}/${repository.name}/runs/${run.id}`
}

export interface Merged {
  readonly commit_sha: string
  /** Blob SHA of the manifest in the merge commit. */
  readonly manifest_sha: string
  /** Until the policies of the agent had it, ms. */
  readonly ms: number
}

/** Merges, and waits until the policies of the agent carry the version of the manifest in the merge commit. */
export async function merge(company: Company, pull: Pull, agent_key: string, manifest_path: string): Promise<Merged> {
  const { github, repository, platform, call } = company
  const started = performance.now()
  const commit_sha = github.merge(pull, github.account('anna-lind'))
  const manifest_sha = repository.bare.git('rev-parse', `${commit_sha}:${manifest_path}`)
  const path = `/api/v1/policies/effective?agent_key=${agent_key}`
  await until('the policies have the new version', async () => {
    const { policies } = await call<EffectivePolicies>('GET', path, undefined, platform.api_key)
    return policies.some((policy) => policy.manifest_sha === manifest_sha) ? true : undefined
  })
  return { commit_sha, manifest_sha, ms: performance.now() - started }
}
