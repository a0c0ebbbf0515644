// The state of the delivery of a sink with a queue, for /health and /metrics.
import { isoTime } from '@svc/schemas'
import type { Journal } from '../journal/journal.js'
import { headOf } from './line-head.js'
import type { Sender } from './sender.js'

/** The state of the delivery of a sink with a queue. */
export interface DeliveryStatus {
  readonly waiting_lines: number
  readonly waiting_bytes: number
  /** The time when the oldest waiting line was recorded. */
  readonly oldest_at: string | null
  /** Since the start: lines that did not fit, that the receiver rejected, and that arrived. */
  readonly dropped: number
  readonly rejected: number
  readonly sent: number
  /** Null after a success. */
  readonly last_problem: string | null
  readonly last_sent_at: string | null
}

export function statusOf(journal: Journal, sender: Sender, dropped: number): DeliveryStatus {
  const { sent, rejected, last_problem, last_sent_at, unread_since } = sender.status()
  return {
    waiting_lines: journal.size(),
    waiting_bytes: journal.waiting(),
    oldest_at: journal.size() === 0 ? null : oldestAt(journal.oldest(), unread_since),
    dropped,
    rejected,
    sent,
    last_problem: journal.problem() ?? last_problem,
    last_sent_at: last_sent_at === null ? null : isoTime(last_sent_at),
  }
}

/** Null for a line without a time, as earlier versions wrote spans. */
function oldestAt(oldest: Buffer | null, unread_since: number | null): string | null {
  if (oldest !== null) return headOf(oldest)?.recorded_at ?? null
  return unread_since === null ? null : isoTime(unread_since)
}
