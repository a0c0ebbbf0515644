// What a person is told of the policies in force: once, when it becomes so.
import type { DroppedPolicy } from '@svc/schemas'
import type { LoadedPolicies } from './source.js'

/** What is new since `before`: policies that were dropped, and an ungoverned state that was entered; all at a start. */
export function changeLines(before: LoadedPolicies | null, after: LoadedPolicies): string[] {
  const known = new Set(before?.dropped.map(droppedLine))
  const dropped = after.dropped.map(droppedLine).filter((line) => !known.has(line))
  const entered = before?.load_state === after.load_state ? null : ungovernedLine(after)
  return entered === null ? dropped : [...dropped, entered]
}

/** How many policies were. */
export function allOf(count: number): string {
  return count === 1 ? 'the only policy was' : `all ${count} policies were`
}

function droppedLine({ name, source, line, column, reason }: DroppedPolicy): string {
  const place = line === null ? (source ?? 'the platform') : `${source}:${line}:${column}`
  return `dropped \`${name}\` (${place}): ${reason}`
}

/** These states allow every step; null while something is enforced. */
function ungovernedLine({ load_state, offered }: LoadedPolicies): string | null {
  if (load_state === 'none_configured') return 'none_configured: the source has no policies, every step is allowed'
  if (load_state === 'all_dropped') return `all_dropped: ${allOf(offered)} refused, every step is allowed; see /health`
  if (load_state === 'unavailable') return 'unavailable: the source cannot be reached, every step is allowed'
  return null
}
