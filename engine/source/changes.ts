// What a person is told of the policies in force: once, when it becomes so.
import type { DroppedPolicy } from '@svc/schemas'
import type { ManifestWarning } from '../manifest/parse.js'
import type { LoadedPolicies } from './source.js'

/** What is new since `before`: policies that were dropped, warnings, and an ungoverned state that was entered; all at a start. */
export function changeLines(before: LoadedPolicies | null, after: LoadedPolicies): string[] {
  const known = new Set([...(before?.dropped.map(droppedLine) ?? []), ...(before?.warnings.map(warningLine) ?? [])])
  const dropped = after.dropped.filter((row) => !known.has(droppedLine(row)))
  const warnings = after.warnings.map(warningLine).filter((line) => !known.has(line))
  const entered = before?.load_state === after.load_state ? null : ungovernedLine(after)
  return [...byCause(dropped).map(droppedLines), ...warnings, ...(entered === null ? [] : [entered])]
}

/** Policies that were dropped for one and the same cause. */
function byCause(rows: readonly DroppedPolicy[]): DroppedPolicy[][] {
  const groups = new Map<string, DroppedPolicy[]>()
  for (const row of rows) {
    const key = `${placeOf(row)} ${row.reason}`
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return [...groups.values()]
}

/** How many policies were. */
export function allOf(count: number): string {
  return count === 1 ? 'the only policy was' : `all ${count} policies were`
}

function droppedLine(row: DroppedPolicy): string {
  return `dropped \`${row.name}\` (${placeOf(row)}): ${row.reason}`
}

function droppedLines(rows: readonly DroppedPolicy[]): string {
  const [first, ...others] = rows
  if (first === undefined) return ''
  if (others.length === 0) return droppedLine(first)
  return `dropped ${rows.length} policies, \`${first.name}\` first (${placeOf(first)}): ${first.reason}`
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
  if (load_state === 'unavailable') return 'unavailable: the source cannot be reached, every step is allowed'
  return null
}
