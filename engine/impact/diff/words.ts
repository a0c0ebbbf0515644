// A diff in words: the same for the terminal and for Markdown.
import { bracketed } from '../../check/quote.js'
import { counted, listed as listedWords } from '../../findings/words.js'
import type { DiffReport, FileDiff } from './files.js'
import type { MemberChange, PolicyChange, WaiverChange } from './result.js'
import { keyOf } from './selection.js'

/** The maximum number of characters of a value. */
const maxValue = 160
/** Elements of a list that are named. */
const maxElements = 8

/** The order of changes in a report: what allows more comes first. */
const order: readonly PolicyChange['change'][] = ['removed', 'looser', 'changed', 'stricter', 'added', 'none']

export function byChange(a: Pick<PolicyChange, 'change'>, b: Pick<PolicyChange, 'change'>): number {
  return order.indexOf(a.change) - order.indexOf(b.change)
}

export function changeWord(change: PolicyChange['change']): string {
  return change === 'none' ? 'no effect' : change
}

/** The difference in a member: its name, and the old and the new value. */
export function memberWords({ path, old, new: next, effect }: MemberChange): { path: string; what: string } {
  const shown = bracketed(path.replace(/(^|\.)params\.(?=.)/g, '$1'))
  return { path: shown, what: `${valuesInWords(old, next)} (${changeWord(effect)})` }
}

/** An old and a new value, such as `3 → 10`. */
export function valuesInWords(old: unknown, next: unknown): string {
  if (Array.isArray(old) && Array.isArray(next)) {
    const [removed, added] = [without(old, next), without(next, old)]
    const parts = [
      ...(removed.length > 0 ? [`removed ${listed(removed)}`] : []),
      ...(added.length > 0 ? [`added ${listed(added)}`] : []),
    ]
    if (parts.length > 0) return parts.join(', ')
  }
  return `${valueWords(old)} → ${valueWords(next)}`
}

function without(list: readonly unknown[], others: readonly unknown[]): readonly unknown[] {
  const known = new Set(others.map(keyOf))
  return list.filter((element) => !known.has(keyOf(element)))
}

function listed(elements: readonly unknown[]): string {
  const more = elements.length > maxElements ? ` and ${elements.length - maxElements} more` : ''
  return `${elements.slice(0, maxElements).map(valueWords).join(', ')}${more}`
}

/** A plain word as it is, another value as JSON. */
function valueWords(value: unknown): string {
  if (value === undefined) return 'not set'
  const text = typeof value === 'string' && /^[\w.:@/+-]+$/.test(value) ? value : JSON.stringify(value)
  return text.length > maxValue ? `${text.slice(0, maxValue)}…` : text
}

/** The differences for one agent only: its waiver, and why a policy is in force now or is no longer. */
export function ownMembers({ change, members }: PolicyChange): readonly MemberChange[] {
  const own = change === 'added' || change === 'removed' ? ['waiver', 'risk_classification', 'enabled'] : ['waiver']
  return members.filter(({ path }) => own.includes(path))
}

export function waiverWords({ policy, agent_key, old, new: next }: WaiverChange): string {
  const until =
    old === undefined ? `until ${next}` : next === undefined ? `ended, was until ${old}` : `until ${old} → ${next}`
  return `waiver of ${policy} for ${agent_key}: ${until}`
}

/** Name and version of a manifest, with what became of them. */
export function manifestWords({ old, new: next }: Pick<FileDiff, 'old' | 'new'>): string {
  if (old === null || next === null) {
    const only = old ?? next
    return `${only?.name} ${only?.version} (${old === null ? 'new manifest' : 'manifest deleted'})`
  }
  const name = old.name === next.name ? next.name : `${old.name} → ${next.name}`
  return `${name} ${old.version === next.version ? next.version : `${old.version} → ${next.version}`}`
}

type Row = readonly [
  count: number,
  noun: readonly [one: string, many: string],
  verb: readonly [one: string, many: string],
]

const policy = ['policy', 'policies'] as const
const waiver = ['waiver', 'waivers'] as const

/** The change of policies and waivers, such as `1 policy becomes stricter and 2 policies are removed`. */
export function changeWords({ manifests }: Pick<DiffReport, 'manifests'>): string {
  const policies = manifests.flatMap((one) => one.policies)
  const waivers = manifests.flatMap((one) => one.waivers)
  const of = (list: readonly { readonly change: string }[], wanted: string) =>
    list.filter(({ change }) => change === wanted).length
  const rows: readonly Row[] = [
    [of(policies, 'removed'), policy, ['is removed', 'are removed']],
    [of(policies, 'looser'), policy, ['becomes looser', 'become looser']],
    [of(waivers, 'looser'), waiver, ['is added or lasts longer', 'are added or last longer']],
    [of(policies, 'changed'), policy, ['changes in a way that may be looser', 'change in a way that may be looser']],
    [of(policies, 'stricter'), policy, ['becomes stricter', 'become stricter']],
    [of(policies, 'added'), policy, ['is added', 'are added']],
    [of(waivers, 'stricter'), waiver, ['ends earlier', 'end earlier']],
  ]
  const found = rows
    .filter(([count]) => count > 0)
    .map(([count, [one, many], verb]) => `${counted(count, one, many)} ${verb[count === 1 ? 0 : 1]}`)
  return found.length === 0 ? 'no policy changes its effect' : listedWords(found, { max: 9 })
}

/** The whole diff in one sentence. */
export function summaryWords(report: DiffReport): string {
  const { compared, affected_agents, ungoverned_agents } = report
  if (compared === 0 && report.manifests.length === 0) return '0 manifests compared'
  const agents = [
    ...(affected_agents.length > 0 ? [`${counted(affected_agents.length, 'agent')} affected`] : []),
    ...(ungoverned_agents.length > 0 ? [`${ungoverned_agents.length} ungoverned`] : []),
  ]
  const words = [changeWords(report), ...(agents.length > 0 ? [agents.join(', ')] : [])]
  return `${counted(compared, 'manifest')} compared: ${words.join('; ')}`
}

/** Manifests that are not in the diff; the paths as the reader sees them. */
export function notCompared(left_out: readonly string[]): string[] {
  return left_out.length === 0 ? [] : [`not compared, because of errors now or before: ${listedWords(left_out)}`]
}
