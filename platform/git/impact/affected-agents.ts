// The agents that a change of manifests affects, with their policies before and after it.
import { type PolicyInput, parseManifest } from '@svc/engine'
import { policiesOfManifests, type ReplayPolicy } from '@svc/engine/parts'
import type { JsonMap, Policy } from '@svc/schemas'
import { type AgentRow, agentFacts, findAgents } from '../../agents/store/agents.js'
import type { Scope } from '../../db/scope.js'
import { keptSwitches } from '../../policies/overrides.js'
import { readText } from '../../policies/store/manifest-texts.js'
import { overriddenOf, policiesBesideStops } from '../../policies/store/policies.js'
import { createPolicyTable, type PolicyTable, withoutLine } from '../recorded/policies-in-effect.js'
import type { Reading } from '../recorded/reading.js'
import type { ImpactRequest, ManifestChange, PinnedAgent } from './impact-report.js'
import { assignmentsOfManifests, type ChangedAssignment, policyIdsOf } from './impact-store.js'

interface AffectedAgent {
  readonly agent: AgentRow
  readonly facts: JsonMap
  readonly manifest_paths: readonly string[]
  /** Indexes in the table of policies. */
  readonly before: readonly number[]
  readonly after: readonly number[]
}

export interface Affected {
  /** In the order of their keys. */
  readonly agents: readonly AffectedAgent[]
  readonly pinned: readonly PinnedAgent[]
  readonly policies: PolicyTable['policies']
}

/** Agents of one snapshot: the embedded database answers other requests in between. */
const atOnce = 20

export async function affectedAgents(
  read: Reading,
  scope: Scope,
  { repo_id, changes }: Pick<ImpactRequest, 'repo_id' | 'changes'>,
): Promise<Affected> {
  const paths = changes.map(({ manifest_path }) => manifest_path)
  const assignments = await read((tx) => assignmentsOfManifests(scope, tx, repo_id, paths))
  const following = assignments.filter(({ pinned_sha }) => pinned_sha === null)
  const table = createPolicyTable()
  const parts: Parts = { table, changed: changedManifests(changes), linesOf: await oldLines(read, scope, following) }
  const agents: AffectedAgent[] = []
  for (const some of inGroups(byAgent(following), atOnce))
    for (const one of await affectedOf(read, scope, some, parts)) agents.push(one)
  agents.sort((a, b) => compare(a.agent.agent_key, b.agent.agent_key) || compare(a.agent.agent_id, b.agent.agent_id))
  const pinned = await pinnedAgents(
    read,
    scope,
    assignments.filter(({ pinned_sha }) => pinned_sha !== null),
  )
  return { agents, pinned, policies: table.policies }
}

interface Parts {
  readonly table: PolicyTable
  readonly changed: ReadonlyMap<string, NewPolicies>
  readonly linesOf: OldLines
}

async function affectedOf(
  read: Reading,
  scope: Scope,
  assigned: ReadonlyMap<string, readonly ChangedAssignment[]>,
  { table, changed, linesOf }: Parts,
): Promise<AffectedAgent[]> {
  const { agents, effective, replaced, overridden } = await read(async (tx) => {
    const agents = await findAgents(scope, tx, [...assigned.keys()])
    const ids = [...assigned.values()].flat().map(({ id }) => id)
    return {
      agents,
      effective: await policiesBesideStops(scope, tx, agents),
      replaced: await policyIdsOf(scope, tx, ids),
      overridden: await overriddenOf(scope, tx, ids),
    }
  })
  return agents.map((agent) => {
    const facts = agentFacts(agent)
    const own = assigned.get(agent.agent_id) ?? []
    const policies = effective.get(agent.agent_id) ?? []
    const isReplaced = ({ id }: PolicyInput) => replaced.has(id)
    const kept = policies.filter((policy) => !isReplaced(policy)).map(withoutLine)
    const old = policies.filter(isReplaced).map((policy) => ({ ...withoutLine(policy), line: linesOf(policy) }))
    const next = own.flatMap(
      ({ id, manifest_path }) => changed.get(manifest_path)?.(facts, overridden.get(id) ?? []) ?? [],
    )
    const manifest_paths = own.map(({ manifest_path }) => manifest_path)
    const [before, after] = [
      [...kept, ...old],
      [...kept, ...next],
    ]
    return { agent, facts, manifest_paths, before: table.indexesOf(before), after: table.indexesOf(after) }
  })
}

/** The policies of a new manifest that are in effect for an agent: by its risk level, with its waivers, and as members set them. */
type NewPolicies = (facts: JsonMap, overridden: readonly Policy[]) => ReplayPolicy[]

function changedManifests(changes: readonly ManifestChange[]): ReadonlyMap<string, NewPolicies> {
  return new Map(
    changes.map(({ manifest_path, next }) => {
      const { policies, onAgent } = policiesOfManifests(next === null ? [] : [next])
      const onFacts: NewPolicies = (facts, overridden) =>
        policies.flatMap((one) => {
          const written = onAgent(one, facts)
          if (written === null) return []
          const { enabled, mode } = keptSwitches(written, overridden) ?? written
          return enabled ? [{ ...one, policy: { ...written, enabled, mode } }] : []
        })
      return [manifest_path, onFacts]
    }),
  )
}

/** The line of a policy in the version of its manifest that is in force; null when the text of that version was not stored. */
type OldLines = (policy: PolicyInput) => number | null

async function oldLines(read: Reading, scope: Scope, assignments: readonly ChangedAssignment[]): Promise<OldLines> {
  const lines = new Map<string, ReadonlyMap<string, number | undefined>>()
  for (const sha of new Set(assignments.map(({ manifest_sha }) => manifest_sha))) {
    const text = await read((tx) => readText(scope, tx, sha))
    const { value, lines: found = [] } = text === null ? { value: null } : parseManifest(text, '')
    lines.set(sha, new Map(value?.policies.map(({ name }, index) => [name, found[index]])))
  }
  return ({ name, manifest_sha }) => lines.get(manifest_sha ?? '')?.get(name) ?? null
}

async function pinnedAgents(read: Reading, scope: Scope, pinned: readonly ChangedAssignment[]): Promise<PinnedAgent[]> {
  const found: PinnedAgent[] = []
  for (const some of inGroups(byAgent(pinned), 100)) {
    const agents = await read((tx) => findAgents(scope, tx, [...some.keys()]))
    for (const { agent_id, agent_key, name } of agents)
      for (const { manifest_path, pinned_sha } of some.get(agent_id) ?? [])
        found.push({ agent_id, agent_key, name, manifest_path, pinned_sha: pinned_sha ?? '' })
  }
  return found.sort((a, b) => compare(a.agent_key, b.agent_key) || compare(a.manifest_path, b.manifest_path))
}

function byAgent(assignments: readonly ChangedAssignment[]): Map<string, ChangedAssignment[]> {
  const found = new Map<string, ChangedAssignment[]>()
  for (const one of assignments) found.set(one.agent_id, [...(found.get(one.agent_id) ?? []), one])
  return found
}

function* inGroups<V>(all: ReadonlyMap<string, V>, size: number): Generator<ReadonlyMap<string, V>> {
  const entries = [...all]
  for (let from = 0; from < entries.length; from += size) yield new Map(entries.slice(from, from + size))
}

/** In byte order, which no locale changes. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
