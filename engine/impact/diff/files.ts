// The diff of several manifests, for the agents of an inventory.
import type { Manifest } from '@svc/schemas'
import { diffManifests } from './diff.js'
import type { DiffAgent, DiffCounts, ManifestDiff } from './result.js'

/** A manifest at one path in two versions. */
export interface DiffFile {
  /** Relative to the folders that are compared. */
  readonly path: string
  /** Other paths by which an inventory may name it, such as those from the root of the repository. */
  readonly aliases?: readonly string[]
  /** Null where the version has no such file. */
  readonly old: Manifest | null
  readonly next: Manifest | null
}

export interface InventoryAgent extends DiffAgent {
  /** Paths of the manifests that the agent has; undefined: all. */
  readonly manifests?: readonly string[] | undefined
}

export interface FileDiff extends ManifestDiff {
  readonly path: string
}

export interface DiffReport {
  /** The manifests that differ, in the order of the files. */
  readonly manifests: readonly FileDiff[]
  /** The number of manifests that were compared, equal ones included. */
  readonly compared: number
  readonly counts: DiffCounts
  readonly affected_agents: readonly string[]
  /** Keys of the agents that had policies and have none any more. */
  readonly ungoverned_agents: readonly string[]
}

/** Compares manifests by path. An agent with manifests that are not among the files is never reported as ungoverned. */
export function diffFiles(files: readonly DiffFile[], agents: readonly InventoryAgent[] = []): DiffReport {
  const diffs = files.map((file) => ({
    path: file.path,
    ...diffManifests(
      file.old,
      file.next,
      agents.filter((agent) => has(agent, file)),
    ),
  }))
  return {
    manifests: diffs.filter(isDifferent),
    compared: files.length,
    counts: total(diffs),
    affected_agents: [...new Set(diffs.flatMap(({ affected_agents }) => affected_agents))],
    ungoverned_agents: ungoverned(diffs, files, agents),
  }
}

function has({ manifests }: InventoryAgent, { path, aliases = [] }: DiffFile): boolean {
  return manifests === undefined || manifests.some((name) => [path, ...aliases].includes(withoutDot(name)))
}

function withoutDot(path: string): string {
  return path.replace(/^(\.\/)+/, '')
}

function isDifferent({ old, new: next, policies, waivers }: ManifestDiff): boolean {
  const isRenamed = old?.name !== next?.name || old?.version !== next?.version
  return isRenamed || policies.length > 0 || waivers.length > 0
}

function total(diffs: readonly ManifestDiff[]): DiffCounts {
  const sum = (name: keyof DiffCounts) => diffs.reduce((all, { counts }) => all + counts[name], 0)
  return {
    added: sum('added'),
    removed: sum('removed'),
    stricter: sum('stricter'),
    looser: sum('looser'),
    changed: sum('changed'),
  }
}

function ungoverned(
  diffs: readonly ManifestDiff[],
  files: readonly DiffFile[],
  agents: readonly InventoryAgent[],
): string[] {
  const policies = new Map<string, { before: number; after: number }>()
  for (const { agent_key, policies_before, policies_after } of diffs.flatMap((diff) => diff.agents)) {
    const { before, after } = policies.get(agent_key) ?? { before: 0, after: 0 }
    policies.set(agent_key, { before: before + policies_before, after: after + policies_after })
  }
  const isKnown = (name: string) => files.some((file) => has({ agent_key: '', manifests: [name] }, file))
  return agents
    .filter(({ manifests = [] }) => manifests.every(isKnown))
    .filter(({ agent_key }) => (policies.get(agent_key)?.before ?? 0) > 0 && policies.get(agent_key)?.after === 0)
    .map(({ agent_key }) => agent_key)
}
