// What a sink with a queue knows of its delivery, for /health and /metrics.
import { isoTime } from '@svc/schemas'
import type { Journal } from './journal.js'
import type { Sender } from './sender.js'
import type { DeliveryStatus } from './sink.js'

export function statusOf(journal: Journal, sender: Sender, dropped: number): DeliveryStatus {
  const { sent, rejected, last_problem, last_sent_at, oldest } = sender.status()
  return {
    waiting_lines: journal.size(),
    waiting_bytes: journal.waiting(),
    oldest_at: journal.size() === 0 ? null : recordedAt(oldest),
    dropped,
    rejected,
    sent,
    last_problem,
    last_sent_at: last_sent_at === null ? null : isoTime(last_sent_at),
  }
}

function recordedAt(line: string | null): string | null {
  return /^\{"kind":"[a-z]+","recorded_at":"([^"]*)"/.exec(line ?? '')?.[1] ?? null
}
