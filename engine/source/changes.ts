// Log lines about the policies in effect: each change is reported once.
import { type DroppedPolicy, isoTime } from '@svc/schemas'
import type { Finding } from '../findings/finding.js'
import type { LoadedPolicies } from './source.js'
import { isGoverned } from './state.js'

/**
 * Lines for rejected policies, warnings and an ungoverned state that are new since `before`, or all of them when it is
 * null. Policies that were rejected for the same cause share a line. `fail_closed`: the engine blocks while it is ungoverned.
 */
export function changeLines(before: LoadedPolicies | null, after: LoadedPolicies, fail_closed: boolean): string[] {
  const known = new Set(before === null ? [] : rejectedIn(before).map(rejectedLine))
  const rejected = rejectedIn(after).filter((row) => !known.has(rejectedLine(row)))
  const warned = new Set(before?.warnings.map(warningLine))
  const warnings = after.warnings.map(warningLine).filter((line) => !warned.has(line))
  const entered = before?.load_state === after.load_state ? null : ungovernedLine(after, fail_closed)
  return [...byCause(rejected).map(sharedLine), ...warnings, ...(entered === null ? [] : [entered])]
}

/** A line for policies that are enforced after another state, or fetched after a failure; null for any other change. */
export function recoveryLine(before: LoadedPolicies, after: LoadedPolicies): string | null {
  const counts = `${after.set.count} of ${after.offered} policies in effect`
  if (before.load_state !== 'enforcing' && after.load_state === 'enforcing') return `${after.load_state}: ${counts}`
  const is_back = !before.last_fetch_succeeded && after.last_fetch_succeeded
  return is_back && before.load_state === after.load_state ? `policies are fetched again: ${counts}` : null
}

/** The problem of a fetch with the policies that it leaves in effect. */
export function problemLine(problem: string, { set, load_state, expires_at }: LoadedPolicies): string {
  if (!isGoverned(load_state)) return problem
  const policies = set.count === 1 ? '1 policy stays' : `${set.count} policies stay`
  const is_stale = load_state === 'stale_cache' || expires_at === null
  return `${problem}; ${policies} in effect${is_stale ? ', stale' : `, fresh until ${isoTime(expires_at)}`}`
}

/** The dropped policies that could block, for the line that begins a run; empty without one. */
export function droppedWords({ dropped }: LoadedPolicies): string {
  const criticals = dropped.filter(({ severity }) => severity === 'critical').length
  const unknown = dropped.filter(({ severity }) => severity === null).length
  const parts = [
    ...(criticals === 0 ? [] : [`${criticals} critical`]),
    ...(unknown === 0 ? [] : [`${unknown} of unknown severity`]),
  ]
  return parts.length === 0 ? '' : ` (dropped: ${parts.join(', ')})`
}

interface Rejected {
  readonly effect: 'dropped' | 'outdated' | 'ignored'
  readonly row: DroppedPolicy
}

function rejectedIn({ dropped, outdated, ignored }: LoadedPolicies): Rejected[] {
  return [
    ...dropped.map((row): Rejected => ({ effect: 'dropped', row })),
    ...outdated.map((row): Rejected => ({ effect: 'outdated', row })),
    ...ignored.map((row): Rejected => ({ effect: 'ignored', row })),
  ]
}

function byCause(rows: readonly Rejected[]): Rejected[][] {
  const groups = new Map<string, Rejected[]>()
  for (const one of rows) {
    const key = `${one.effect} ${positionOf(one.row)} ${one.row.reason}`
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return [...groups.values()]
}

/** The subject and auxiliary of a sentence about all offered policies. */
export function allOf(count: number): string {
  return count === 1 ? 'the only policy was' : `all ${count} policies were`
}

function rejectedLine({ effect, row }: Rejected): string {
  return `${effect} \`${row.name}\` (${positionOf(row)}): ${row.reason}${consequence(effect)}`
}

function sharedLine(rows: readonly Rejected[]): string {
  const [first, ...others] = rows
  if (first === undefined) return ''
  if (others.length === 0) return rejectedLine(first)
  const { effect, row } = first
  return `${effect} ${rows.length} policies, \`${row.name}\` first (${positionOf(row)}): ${row.reason}${consequence(effect)}`
}

function consequence(effect: Rejected['effect']): string {
  return effect === 'outdated' ? ' (the last valid version stays in effect)' : ''
}

function positionOf({ source, line, column }: DroppedPolicy): string {
  return line === null ? (source ?? 'the platform') : `${source}:${line}:${column}`
}

function warningLine({ file, line, column, message }: Finding): string {
  return `warning (${file}:${line}:${column}): ${message}`
}

/** A line for a state in which nothing is enforced; null for the other states. */
function ungovernedLine({ load_state, offered }: LoadedPolicies, fail_closed: boolean): string | null {
  const ungoverned = fail_closed ? 'every step is blocked' : 'every step is allowed (blocked with --fail-closed)'
  if (load_state === 'none_configured') return `none_configured: the source has no policies; ${ungoverned}`
  if (load_state === 'all_dropped') return `all_dropped: ${allOf(offered)} rejected; ${ungoverned}; see /health`
  if (load_state === 'unavailable')
    return `unavailable: the source gave no policies; ${ungoverned}; see \`last_fetch_problem\` of /health`
  return null
}
