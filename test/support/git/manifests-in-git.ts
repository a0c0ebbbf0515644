// A platform and a Git host on this machine, with agents, connected repositories, and assignments.
import type { Assignment, MadeAssignment, PolicyList, RegisteredAgent, Repository } from '@svc/schemas'
import { type Answer, discard, type Start, startPlatform, type TestPlatform } from '../server/platform.js'
import { type GitHost, type RealRepository, startGitHost } from './git-host.js'

/** A policy of a manifest: by default it requires the amount of a refund. */
export interface WrittenPolicy {
  readonly name: string
  readonly [member: string]: unknown
}

/** A manifest named `Refunds` with these policies. */
export function refunds(policies: readonly WrittenPolicy[], waivers: readonly object[] = []): string {
  const rows = policies.map((policy) => ({
    rule_type: 'field_not_empty',
    params: { field: 'input.amount', target_step_names: ['refund'] },
    scope: 'step_execution',
    severity: 'medium',
    ...policy,
  }))
  return JSON.stringify({ name: 'Refunds', version: '1', policies: rows, ...(waivers.length > 0 && { waivers }) })
}

export interface Connected {
  readonly id: number
  readonly repository: RealRepository
  readonly url: string
}

export interface ManifestsInGit {
  readonly platform: TestPlatform
  readonly host: GitHost
  /** Registers an agent with a new key, unless `more` has one. */
  readonly register: (more?: object) => Promise<{ readonly agent_id: string; readonly agent_key: string }>
  /** Connects a new repository with these files on the branch `main`. */
  readonly connect: (files: Readonly<Record<string, string>>) => Promise<Connected>
  readonly assign: (agent_id: string, repo_id: number | null, more?: object) => Promise<Answer<MadeAssignment>>
  readonly read: (id: number) => Promise<Assignment>
  /** POST /api/v1/assignments/{id}/{verb} */
  readonly change: (id: number, verb: string, body?: object) => Promise<Answer<Assignment>>
  /** Reads the branch as the timer does. */
  readonly tick: (repo_id: number) => Promise<Answer<Repository>>
  /** The names of the enabled policies of the agent from the manifest `Refunds`. */
  readonly inForce: (agent_id: string) => Promise<string[]>
  /** Closes the platform and starts it again on the same data. */
  readonly restart: () => Promise<void>
  readonly close: () => Promise<void>
}

/** The path at which assignments of these tests have their manifest. */
export const manifestPath = 'refunds.yaml'

export async function openManifestsInGit(start: Start = {}): Promise<ManifestsInGit> {
  let platform = await startPlatform(start)
  const host = await startGitHost()
  let count = 0
  const register = async (more: object = {}) => {
    count += 1
    const body = { agent_key: `agent-${count}`, ...more }
    const answer = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body })
    if (answer.status >= 300) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return { agent_id: answer.body.agent_id, agent_key: body.agent_key }
  }
  const connect = async (files: Readonly<Record<string, string>>) => {
    count += 1
    const name = `repository-${count}`
    const repository = host.add(`${name}.git`)
    repository.commit(files)
    const url = `${host.url}/${name}.git`
    const answer = await platform.call<Repository>('POST', '/api/v1/repos', { body: { url, branch: 'main' } })
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return { id: answer.body.id, repository, url }
  }
  return {
    get platform() {
      return platform
    },
    host,
    register,
    connect,
    assign: (agent_id, repo_id, more = { manifest_path: manifestPath }) =>
      platform.call('POST', '/api/v1/assignments', { body: { agent_id, repo_id, ...more } }),
    read: async (id) => (await platform.call<Assignment>('GET', `/api/v1/assignments/${id}`)).body,
    change: (id, verb, body = {}) => platform.call('POST', `/api/v1/assignments/${id}/${verb}`, { body }),
    tick: (repo_id) => platform.call('POST', `/api/v1/repos/${repo_id}/resync`, { body: {} }),
    inForce: async (agent_id) => {
      const path = `/api/v1/policies?agent_id=${agent_id}&enabled=true&limit=200`
      const { policies } = (await platform.call<PolicyList>('GET', path)).body
      return policies.filter(({ manifest_name }) => manifest_name === 'Refunds').map(({ name }) => name)
    },
    restart: async () => {
      platform = await platform.restart()
    },
    close: async () => {
      await discard(platform)
      host.close()
    },
  }
}
