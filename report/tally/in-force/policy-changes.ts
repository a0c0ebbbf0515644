// Changes of policies in the period, from their events: other versions of manifests, assignments, and policies that people write.
import { combined, diffManifests, type MemberChange, type PolicyChange } from '@svc/engine/parts'
import { isMap } from '@svc/proof'
import type { Manifest } from '@svc/schemas'
import { maxChangedAgents, maxPolicyChanges } from '../../content/bounds.js'
import type { BoundedRows, PolicyChangeResult, PolicyValues } from '../../content/report-data.js'
import { type EventLeaf, textOf } from '../leaves.js'
import { loggedChange, wordsOf } from './values.js'

type Data = EventLeaf['data']

/** The change without its agents and times. */
type Content = Omit<PolicyChangeResult, 'at' | 'last_at' | 'agents' | 'more_agents'>

interface Row {
  readonly content: Content
  readonly at: string
  last_at: string
  readonly agents: Set<string>
  more_agents: number
}

/** Of the chosen agents and of the workspace; null for all agents. */
export function createPolicyChanges(chosen: ReadonlySet<string> | null) {
  const rows = new Map<string, Row>()
  let more = 0
  return {
    add: (event: EventLeaf) => {
      const content = contentOf(event)
      const agent_id = textOf(event.data.agent_id)
      if (content === null || (chosen !== null && agent_id !== null && !chosen.has(agent_id))) return
      const key = JSON.stringify(content)
      const known = rows.get(key)
      if (known === undefined && rows.size === maxPolicyChanges) more += 1
      else rows.set(key, joined(known ?? rowOf(content, event.at), agent_id, event.at))
    },
    listing: (nameOf: (agent_id: string) => string): BoundedRows<PolicyChangeResult> => ({
      rows: [...rows.values()].map(({ content, at, last_at, agents, more_agents }) => ({
        ...content,
        at,
        last_at,
        agents: [...agents].map((agent_id) => ({ agent_id, agent_name: nameOf(agent_id) })),
        more_agents,
      })),
      more,
    }),
  }
}

const rowOf = (content: Content, at: string): Row => ({ content, at, last_at: at, agents: new Set(), more_agents: 0 })

function joined(row: Row, agent_id: string | null, at: string): Row {
  row.last_at = at
  if (agent_id === null || row.agents.has(agent_id)) return row
  if (row.agents.size < maxChangedAgents) row.agents.add(agent_id)
  else row.more_agents += 1
  return row
}

/** Null for an event that changes no policy. */
function contentOf(event: EventLeaf): Content | null {
  if (event.kind.startsWith('assignment.')) return ofAssignment(event)
  if (event.kind === 'policy.override_dropped') return ofOverride(event)
  return event.kind.startsWith('policy.') ? ofPolicy(event) : null
}

const nothing = { recorded: true, policies: [], more_values: 0, commit_sha: null, held: false, approved_by: null }

function ofAssignment({ kind, actor, data }: EventLeaf): Content | null {
  const about = { ...nothing, kind, actor, risk_classification: null, commit_sha: textOf(data.commit_sha) }
  const sha = textOf(data.manifest_sha)
  const path = textOf(data.manifest_path) ?? ''
  if (kind === 'assignment.created')
    return { ...about, manifest: { path, from_sha: null, to_sha: sha }, effect: 'stricter' }
  if (kind === 'assignment.removed')
    return { ...about, manifest: { path, from_sha: sha, to_sha: null }, effect: 'looser' }
  if (kind !== 'assignment.resynced' && kind !== 'assignment.rematerialised') return null
  const recorded = Array.isArray(data.changes)
  const policies = recorded ? (data.changes as unknown[]).flatMap(loggedChange) : []
  const held = data.held === true
  return {
    ...about,
    manifest: { path, from_sha: textOf(data.from_sha) ?? sha, to_sha: textOf(data.to_sha) ?? sha },
    effect: effectOf(policies),
    recorded,
    policies,
    more_values: Number(data.changes_left_out ?? 0) || 0,
    held,
    approved_by: held && data.by_hand === true ? actor : null,
  }
}

const kinds = ['policy.created', 'policy.updated', 'policy.enabled', 'policy.disabled', 'policy.deleted']

/** The leaf of a written policy holds it as it is in force, and each member that differs before and after. */
function ofPolicy({ kind, actor, data }: EventLeaf): Content | null {
  if (!kinds.includes(kind)) return null
  const policies = isMap(data.policy) ? writtenChange(kind, data.policy, data.changes) : []
  const path = textOf(data.manifest_path)
  return {
    ...nothing,
    kind,
    actor,
    manifest: path === null ? null : { path, from_sha: null, to_sha: null },
    risk_classification: textOf(data.risk_classification),
    effect: effectOf(policies),
    recorded: policies.length > 0,
    policies,
  }
}

function writtenChange(kind: string, policy: Data, changes: unknown): PolicyValues[] {
  const values = isMap(changes) ? Object.entries(changes) : []
  const was = { ...policy, ...Object.fromEntries(values.map(([name, change]) => [name, isMap(change) && change.from])) }
  const [old, next] = [kind === 'policy.created' ? [] : [was], kind === 'policy.deleted' ? [] : [policy]]
  return diffManifests(manifestOf(old), manifestOf(next)).policies.map((one) => {
    return one.members.length > 0
      ? wordsOf(one)
      : wordsOf({ ...one, members: shownMembers.flatMap(memberOf(one, policy)) })
  })
}

/** The members that are shown of a policy that begins or ends as a whole: no version of a manifest holds them. */
const shownMembers = ['rule_type', 'params', 'severity', 'mode']

function memberOf({ change }: PolicyChange, policy: Data) {
  return (path: string): MemberChange[] => {
    const value = policy[path]
    if (value == null || (change !== 'added' && change !== 'removed')) return []
    return [change === 'added' ? { path, new: value, effect: 'stricter' } : { path, old: value, effect: 'looser' }]
  }
}

/** A member that is null is left out, as in a manifest. */
function manifestOf(policies: readonly Data[]): Manifest {
  const written = policies.map((policy) =>
    Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== null)),
  )
  return { name: '', version: '', policies: written as unknown as Manifest['policies'] }
}

/** Another version of a manifest ends what people had set on a policy. */
function ofOverride({ kind, actor, data }: EventLeaf): Content | null {
  const { name, set, in_force } = data
  if (typeof name !== 'string' || !isMap(set) || !isMap(in_force)) return null
  const switches = ({ enabled, mode }: Data) => ({ name, rule_type: '', scope: '', severity: '', enabled, mode })
  const changes = diffManifests(manifestOf([switches(set)]), manifestOf([switches(in_force)])).policies
  if (changes.length === 0) return null
  const policies = changes.map(wordsOf)
  const manifest = { path: textOf(data.manifest_path) ?? '', from_sha: null, to_sha: null }
  return { ...nothing, kind, actor, manifest, risk_classification: null, effect: effectOf(policies), policies }
}

const directions: Readonly<Partial<Record<PolicyChange['change'], PolicyChangeResult['effect']>>> = {
  added: 'stricter',
  removed: 'looser',
}

/** The effect of several changes together. */
function effectOf(policies: readonly PolicyValues[]): PolicyChangeResult['effect'] {
  return combined(policies.map(({ change }) => directions[change] ?? (change as PolicyChangeResult['effect'])))
}
