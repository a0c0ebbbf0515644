// The times of a report: which one decides whether something is of its period (docs/design/reports.md §1).
import { isoTime, type LogRecord, parseTimestamp } from '@svc/schemas'
import type { ReportHead } from '../content/report-data.js'

/** The position of a time: before the period, in it, or after it. */
export type Place = 'before' | 'in' | 'after'

/** A time in both forms. */
export interface Moment {
  /** ms since 1970 */
  readonly time: number
  /** RFC 3339 */
  readonly at: string
}

export type Period = ReturnType<typeof createPeriod>

export function createPeriod({ period, by }: Pick<ReportHead, 'period' | 'by'>) {
  const [from, to] = [Date.parse(period.from), Date.parse(period.to)]
  const bySender = by === 'occurred'
  const placeOf = (time: number): Place => (time < from ? 'before' : time < to ? 'in' : 'after')
  const receipt = ({ received_at }: Received): Moment => ({ time: Date.parse(received_at), at: received_at })
  return {
    /** True if steps count by the time that their sender states. */
    by_sender: bySender,
    /** Of a time that counts. Everything that is read by times of receipt is of the period. */
    placeOf: (time: number): Place => (bySender ? placeOf(time) : 'in'),
    /** The time by which a step counts: its receipt if it states no readable time. */
    timeOf: (record: LogRecord): Moment => {
      const own = bySender ? parseTimestamp(record.timestamp) : null
      return own === null ? receipt(record) : { time: own, at: isoTime(own) }
    },
    /** The other time of a counted step if it is outside of the period; else null. */
    otherTimeOf: (record: LogRecord): number | null => {
      const other = bySender ? Date.parse(record.received_at) : parseTimestamp(record.timestamp)
      return other === null || placeOf(other) === 'in' ? null : other
    },
  }
}

type Received = Pick<LogRecord, 'received_at'>
