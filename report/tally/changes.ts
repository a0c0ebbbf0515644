// Changes of people, roles, keys and settings, in words.

import { maxChanges } from '../content/bounds.js'
import type { Oversight } from '../content/report-data.js'
import type { EventLeaf } from './leaves.js'
import { addTo, boundedList } from './listing.js'

type Text = (data: Readonly<Record<string, unknown>>) => string

/** The events that a report lists; incidents, erasures, prunes and states of engines have sections of their own. */
const texts: Readonly<Record<string, Text>> = {
  'agent.registered': ({ agent_key }) => `the agent \`${word(agent_key)}\` was registered`,
  'agent.updated': ({ agent_key }) => `the agent \`${word(agent_key)}\` was changed`,
  'agent.deactivated': ({ agent_key }) => `the agent \`${word(agent_key)}\` was deactivated`,
  'agent.reactivated': ({ agent_key }) => `the agent \`${word(agent_key)}\` was activated again`,
  'agent.risk_confirmed': ({ from, to }) => `the risk level \`${word(to)}\` was confirmed; it was \`${word(from)}\``,
  'api_key.created': () => 'an API key was created',
  'api_key.revoked': () => 'an API key was revoked',
  'api_key.rolled': () => 'the secret of an API key was replaced',
  'assignment.changed': ({ manifest_path }) =>
    `the settings of an assigned manifest were changed${named(manifest_path)}`,
  'assignment.created': ({ manifest_path }) => `a manifest was assigned${named(manifest_path)}`,
  'assignment.degraded': ({ manifest_path }) =>
    `a new version of an assigned manifest was rejected${named(manifest_path)}`,
  'assignment.held': ({ manifest_path }) =>
    `a new version of an assigned manifest waits for a person${named(manifest_path)}`,
  'assignment.pinned': ({ manifest_path }) => `an assigned manifest was pinned to a version${named(manifest_path)}`,
  'assignment.recovered': ({ manifest_path }) =>
    `an assigned manifest follows its repository again${named(manifest_path)}`,
  'assignment.rematerialised': ({ manifest_path }) =>
    `the policies of an assigned manifest were selected again, for another risk level${named(manifest_path)}`,
  'assignment.removed': ({ manifest_path }) => `an assigned manifest was removed${named(manifest_path)}`,
  'assignment.resynced': ({ manifest_path }) =>
    `another version of an assigned manifest came into force${named(manifest_path)}`,
  'assignment.unpinned': ({ manifest_path }) => `an assigned manifest was unpinned${named(manifest_path)}`,
  'hold.placed': ({ task_id }) => `a hold was placed on ${heldBy(task_id)}`,
  'hold.released': ({ task_id }) => `the hold on ${heldBy(task_id)} was released`,
  'log.fork_refused': () => 'a checkpoint was refused, because the log does not continue the signed one',
  'log.key_rotated': () => 'the key that signs the log was replaced',
  'log.restarted': ({ old_size }) => `the log began a new epoch; the earlier one had ${word(old_size)} signed entries`,
  'member.became': ({ role }) => `the person became \`${word(role)}\``,
  'member.left': () => 'the member left the workspace',
  'member.removed': () => 'the member was removed',
  'member.role_changed': ({ from, to }) => `the role changed from \`${word(from)}\` to \`${word(to)}\``,
  'member.suspended': () => 'the member was suspended',
  'member.unsuspended': () => 'the suspension of the member ended',
  'policy.created': ({ name }) => `a policy was written${named(name)}`,
  'policy.deleted': ({ name }) => `a policy was deleted${named(name)}`,
  'policy.disabled': ({ name }) => `a policy was disabled${named(name)}`,
  'policy.enabled': ({ name }) => `a policy was enabled${named(name)}`,
  'policy.override_dropped': ({ name }) => `a new version of its manifest ended what was set on a policy${named(name)}`,
  'policy.override_kept': ({ name }) =>
    `what was set on a policy holds for a new version of its manifest${named(name)}`,
  'policy.updated': ({ name }) => `a policy was changed${named(name)}`,
  'repository.connected': (data) => `a repository of manifests was connected${repository(data)}`,
  'repository.degraded': (data) => `a repository of manifests could not be read${repository(data)}`,
  'repository.disconnected': (data) => `a repository of manifests was disconnected${repository(data)}`,
  'repository.installed': (data) => `the GitHub App was installed for a repository${repository(data)}`,
  'repository.recovered': (data) => `a repository of manifests could be read again${repository(data)}`,
  'repository.renamed': (data) => `a repository of manifests has another name${repository(data)}`,
  'repository.token_changed': (data) => `the token of a repository was replaced${repository(data)}`,
  'repository.uninstalled': (data) => `the GitHub App was uninstalled for a repository${repository(data)}`,
  'repository.webhook_changed': (data) => `the webhook of a repository was changed${repository(data)}`,
  'retention.changed': ({ from, to }) => `the retention period changed from ${word(from)} to ${word(to)} days`,
  'workspace.created': ({ name }) => `the workspace was created${named(name)}`,
  'workspace.promoted': ({ name }) => `the workspace is shared${named(name)}`,
}

const offers: Readonly<Record<string, string>> = {
  invitation: 'an invitation',
  role: 'an offer of a role',
  transfer: 'an offer of the ownership',
  successor: 'a request to be the successor',
}

/** Of the chosen agents and of the workspace; null for all agents. */
export function createChanges(chosen: ReadonlySet<string> | null) {
  const counts = new Map<string, number>()
  const list = boundedList<Oversight['changes']['rows'][number]>(maxChanges)
  return {
    counts,
    listing: list.listing,
    add: ({ at, kind, actor, subject_kind, subject_id, data }: EventLeaf) => {
      // Incidents are counted with their moves; other events about them name their agent.
      if (subject_kind === 'incident' && kind !== 'incident.effect_changed' && kind !== 'incident.reported') return
      const agent_id = subject_kind === 'agent' ? subject_id : data.agent_id
      if (chosen !== null && typeof agent_id === 'string' && !chosen.has(agent_id)) return
      addTo(counts, kind)
      const text = Object.hasOwn(texts, kind) ? texts[kind]?.(data) : offerText(kind, data)
      if (text != null) list.add({ at, kind, actor, subject: `${subject_kind}:${subject_id}`, text })
    },
  }
}

function offerText(kind: string, { kind: offered, role }: Readonly<Record<string, unknown>>): string | null {
  if (!kind.startsWith('offer.')) return null
  const what = offers[String(offered)] ?? 'an offer'
  const state = kind.split('.')[1] ?? ''
  return `${what}${typeof role === 'string' ? ` (\`${role}\`)` : ''}: ${state}`
}

function word(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '?'
}

function named(value: unknown): string {
  return typeof value === 'string' ? `: ${value}` : ''
}

function repository({ owner, name }: Readonly<Record<string, unknown>>): string {
  return named(typeof owner === 'string' && typeof name === 'string' ? `${owner}/${name}` : null)
}

function heldBy(task_id: unknown): string {
  return typeof task_id === 'string' ? `task \`${task_id}\`` : 'the whole log'
}
