// The days of waivers: a waiver lasts until the end of the day that `expires` names, in UTC.
import { parseTimestamp } from '@svc/schemas'

const dayMs = 86_400_000

/** The end of a waiver, exclusive: 24:00 UTC of the day, ms since 1970. Null for text that is not a calendar day. */
export function waiverEnd(expires: string): number | null {
  const day = parseTimestamp(`${expires}T00:00:00Z`)
  return day === null ? null : day + dayMs
}

/** The last day on which a waiver holds, from its end as ms since 1970 or as RFC 3339 text: the day that its manifest names. */
export function lastDayOf(end: number | string): string {
  const ms = typeof end === 'number' ? end : (parseTimestamp(end) ?? Number.NaN)
  return Number.isNaN(ms) ? String(end) : new Date(ms - 1).toISOString().slice(0, 10)
}
