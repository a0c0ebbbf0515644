// Removal authorizations: the leaves by which the log itself declares erased payloads and pruned entries.
import { isMap, isTime } from '../json/checks.js'

/** First and last log index of consecutive entries. */
export type IndexSpan = readonly [first: number, last: number]

export interface RemovalAuthorization {
  readonly type: 'erasure' | 'prune'
  readonly id: string
  readonly by: string
  readonly at: string
  /** Legal basis. */
  readonly reason: string
  readonly spans: readonly IndexSpan[]
  /** A prune: all of its entries were received before this time. Null for an erasure. */
  readonly before: string | null
  readonly log_index: number
}

/** The shortest retention, in days: six calendar months have at most as many (AI Act, Articles 19 and 26(6)). */
export const minRetentionDays = 184
/** No entry is pruned before it, ms (docs/design/log.md §7). */
const minRetentionMs = minRetentionDays * 86_400_000

/** The removals that an opened leaf authorizes, all of earlier entries; null for any other leaf. */
export function removalAuthorizationIn(
  { type, received_at }: { readonly type: string; readonly received_at: string },
  values: Readonly<Record<string, unknown>>,
  log_index: number,
): RemovalAuthorization | null {
  if (type !== 'erasure' && type !== 'prune') return null
  const declared = values[type]
  if (!isMap(declared)) return null
  const { id, entries, ...rest } = declared
  const done = type === 'erasure' ? 'erased' : 'pruned'
  const [by, at, reason, before] = [`${done}_by`, `${done}_at`, 'legal_basis', 'before'].map((name) => rest[name])
  const isValid =
    Array.isArray(entries) &&
    entries.every((entry) => isSpan(entry) && entry[1] < log_index) &&
    [id, by, at, reason].every((text) => typeof text === 'string') &&
    (type === 'erasure' || (isTime(before) && Date.parse(before) <= Date.parse(received_at) - minRetentionMs))
  if (!isValid) return null
  const texts = { id, by, at, reason } as Pick<RemovalAuthorization, 'id' | 'by' | 'at' | 'reason'>
  return { type, ...texts, spans: entries as IndexSpan[], before: type === 'prune' ? String(before) : null, log_index }
}

function isSpan(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    value.every(Number.isSafeInteger) &&
    value[0] >= 0 &&
    value[0] <= value[1]
  )
}

/** True if one of the spans contains the log index. */
export function covers(spans: readonly IndexSpan[], log_index: number): boolean {
  return spans.some(([first, last]) => log_index >= first && log_index <= last)
}
