// What a sink with a queue knows of its delivery, for /health and /metrics.
import { isoTime } from '@svc/schemas'
import type { Journal } from './journal.js'
import { headOf } from './line-head.js'
import type { Sender } from './sender.js'
import type { DeliveryStatus } from './sink.js'

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
