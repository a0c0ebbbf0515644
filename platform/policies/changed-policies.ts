// The changes of another version of a manifest on an agent, with the values, as the log keeps them: bounded, those that
// allow more first.
import {
  byChange,
  diffManifests,
  lastDayOf,
  type MemberChange,
  type PolicyChange,
  valuesInWords,
} from '@svc/engine/parts'
import { canonical } from '@svc/proof'
import type { Assignment, JsonMap, Manifest, Policy } from '@svc/schemas'
import { writtenMembers } from './given/members.js'

/** The policies of an agent from one manifest, with the waivers for the agent. */
export interface VersionOnAgent {
  readonly policies: readonly Omit<Policy, 'id' | 'version' | 'waived_until'>[]
  readonly waivers: Assignment['waivers']
}

/** A policy that differs, as an event holds it. */
export interface LoggedChange {
  readonly name: string
  readonly old_name: string | null
  readonly change: PolicyChange['change']
  readonly values: readonly { readonly path: string; readonly what: string; readonly effect: MemberChange['effect'] }[]
}

/** Policies and values in one event: a leaf has some 20 KiB at most, however large the manifest is. */
const maxValues = 50
/** Characters of an old and a new value; both versions are stored by their SHA. */
const maxWords = 300
/** Characters of the changes in the audit trail, whose pages have 200 events. */
const maxShown = 2_000

/** The members of an event about another version: the audit trail shows only short changes, the leaf all of them. */
export function loggedChanges(before: VersionOnAgent, after: VersionOnAgent): { data: JsonMap; in_leaf: JsonMap } {
  const found = changesOnAgent(before, after)
  const isShort = canonical(found.changes).length <= maxShown
  return { data: isShort ? found : { ...found, changes: null }, in_leaf: { changes: found.changes } }
}

function changesOnAgent(before: VersionOnAgent, after: VersionOnAgent) {
  const policies = diffManifests(asManifest(before), asManifest(after)).policies
  const all = withWaivers(policies, before, after).toSorted(byChange)
  const changes: LoggedChange[] = []
  let left = maxValues
  let changes_left_out = 0
  for (const { name, old_name = null, change, members } of all) {
    const values = members.slice(0, Math.max(0, left - 1)).map(wordsOf)
    changes_left_out += left > 0 ? members.length - values.length : Math.max(1, members.length)
    if (left > 0) changes.push({ name, old_name, change, values })
    left -= 1 + values.length
  }
  return { changes, changes_left_out }
}

function wordsOf({ path, old, new: next, effect }: MemberChange): LoggedChange['values'][number] {
  return { path, what: cut(valuesInWords(old, next), maxWords), effect }
}

function cut(text: string, max: number): string {
  const characters = [...text]
  return characters.length > max ? `${characters.slice(0, max).join('')}…` : text
}

/** The policies with their written members: the commit and the place of a manifest are left out. */
function asManifest({ policies }: VersionOnAgent): Manifest {
  const written = policies.map((policy) =>
    Object.fromEntries(writtenMembers.flatMap((name) => (policy[name] == null ? [] : [[name, policy[name]]]))),
  )
  return { name: '', version: '', policies: written as unknown as Manifest['policies'] }
}

/** The waivers for the agent as members of their policies, by the last day of each. */
function withWaivers(changes: readonly PolicyChange[], before: VersionOnAgent, after: VersionOnAgent): PolicyChange[] {
  const [old, next] = [before, after].map(
    ({ waivers }) => new Map(waivers.map(({ policy, waived_until }) => [policy, waived_until])),
  )
  const left = new Map(changes.map((change) => [change.name, change]))
  for (const { name } of after.policies) {
    const [was, now] = [old?.get(left.get(name)?.old_name ?? name), next?.get(name)]
    const change = left.get(name) ?? { name, change: 'none' as const, members: [] }
    if (was === now || change.change === 'added') continue
    const effect = (now ?? '') > (was ?? '') ? 'looser' : 'stricter'
    const days = { ...(was && { old: lastDayOf(was) }), ...(now && { new: lastDayOf(now) }) }
    const together = change.change === 'none' || change.change === effect ? effect : 'changed'
    left.set(name, { ...change, change: together, members: [...change.members, { path: 'waiver', ...days, effect }] })
  }
  return [...left.values()]
}
