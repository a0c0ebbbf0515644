// What a person is told of the policies in force: once, when it becomes so.
import type { DroppedPolicy } from '@svc/schemas'
import type { ManifestWarning } from '../manifest/parse.js'
import type { LoadedPolicies } from './source.js'

/**
 * What is new since `before`: what was rejected, warnings, and an ungoverned state that was entered; all at a start.
 * Policies that were rejected for one and the same cause share a line.
 */
export function changeLines(before: LoadedPolicies | null, after: LoadedPolicies): string[] {
  const known = new Set(before === null ? [] : rejectedIn(before).map(rejectedLine))
  const rejected = rejectedIn(after).filter((row) => !known.has(rejectedLine(row)))
  const warned = new Set(before?.warnings.map(warningLine))
  const warnings = after.warnings.map(warningLine).filter((line) => !warned.has(line))
  const entered = before?.load_state === after.load_state ? null : ungovernedLine(after)
  return [...byCause(rejected).map(sharedLine), ...warnings, ...(entered === null ? [] : [entered])]
}

interface Rejected {
  readonly what: 'dropped' | 'outdated' | 'ignored'
  readonly row: DroppedPolicy
}

function rejectedIn({ dropped, outdated, ignored }: LoadedPolicies): Rejected[] {
  return [
    ...dropped.map((row): Rejected => ({ what: 'dropped', row })),
    ...outdated.map((row): Rejected => ({ what: 'outdated', row })),
    ...ignored.map((row): Rejected => ({ what: 'ignored', row })),
  ]
}

function byCause(rows: readonly Rejected[]): Rejected[][] {
  const groups = new Map<string, Rejected[]>()
  for (const one of rows) {
    const key = `${one.what} ${placeOf(one.row)} ${one.row.reason}`
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return [...groups.values()]
}

/** How many policies were. */
export function allOf(count: number): string {
  return count === 1 ? 'the only policy was' : `all ${count} policies were`
}

function rejectedLine({ what, row }: Rejected): string {
  return `${what} \`${row.name}\` (${placeOf(row)}): ${row.reason}${afterwards(what)}`
}

function sharedLine(rows: readonly Rejected[]): string {
  const [first, ...others] = rows
  if (first === undefined) return ''
  if (others.length === 0) return rejectedLine(first)
  const { what, row } = first
  return `${what} ${rows.length} policies, \`${row.name}\` first (${placeOf(row)}): ${row.reason}${afterwards(what)}`
}

function afterwards(what: Rejected['what']): string {
  return what === 'outdated' ? ' (the last valid version stays in effect)' : ''
}

function placeOf({ source, line, column }: DroppedPolicy): string {
  return line === null ? (source ?? 'the platform') : `${source}:${line}:${column}`
}

function warningLine({ file, line, column, message }: ManifestWarning): string {
  return `warning (${file}:${line}:${column}): ${message}`
}

/** These states allow every step; null while something is enforced. */
function ungovernedLine({ load_state, offered }: LoadedPolicies): string | null {
  if (load_state === 'none_configured') return 'none_configured: the source has no policies, every step is allowed'
  if (load_state === 'all_dropped') return `all_dropped: ${allOf(offered)} refused, every step is allowed; see /health`
  if (load_state === 'unavailable')
    return 'unavailable: the source gave no policies, every step is allowed; see `last_fetch_problem` of /health'
  return null
}
