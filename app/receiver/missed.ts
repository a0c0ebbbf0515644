// Deliveries that GitHub could not deliver: it does not try again by itself, so it is asked to.
import { type Database, defineJob, type Job, type Send, withUnscopedTransaction } from '@svc/platform'
import type { AppApi, Attempt } from '../github/app-api.js'
import type { Repeats } from '../github/retry-later.js'
import { receivedDeliveriesUnscoped } from './deliveries-store.js'

interface Parts {
  readonly db: Database
  readonly clock: () => number
  readonly send: Send
  readonly app: Pick<AppApi, 'attemptsSince' | 'deliverAgain'>
  readonly repeats: Repeats
  /** True if a delivery of the event would be stored. */
  readonly isHandled: (event: string, action: string | null) => boolean
}

const missedName = 'ask-for-missed-deliveries'

/** The time after the start until a process can receive deliveries, s. */
const startedAfterSeconds = 30
/** GitHub keeps deliveries for three days. */
const keptMs = 3 * 24 * 3600_000
/** The most deliveries that one run asks for; the next run asks for others. */
const maxAsked = 100
/** A delivery that has failed so often is no longer asked for. */
const maxAttempts = 6

export function missedJob(parts: Parts): Job {
  return defineJob<{ readonly tries: number }>({
    name: missedName,
    schedule: '11 * * * *',
    at_start_seconds: startedAfterSeconds,
    timeout_seconds: 600,
    run: ({ tries = 0 }) =>
      parts.repeats.asJob(
        askForMissed(parts),
        (after_seconds) => parts.send(missedName, { tries: tries + 1 }, { after_seconds }),
        tries,
      ),
  })
}

async function askForMissed({ db, clock, app, isHandled }: Parts): Promise<void> {
  const attempts = await app.attemptsSince(clock() - keptMs)
  const failed = failedDeliveries(attempts.filter(({ event, action }) => isHandled(event, action)))
  const guids = failed.map(({ guid }) => guid)
  const received = new Set(await withUnscopedTransaction(db, (tx) => receivedDeliveriesUnscoped(tx, guids)))
  const missed = failed.filter(({ guid }) => !received.has(guid)).slice(0, maxAsked)
  for (const { id } of missed) await app.deliverAgain(id)
}

/** The last attempt of each delivery of which no attempt succeeded, the oldest first. */
export function failedDeliveries(attempts: readonly Attempt[]): Attempt[] {
  const byGuid = new Map<string, Attempt[]>()
  for (const attempt of attempts) byGuid.set(attempt.guid, [...(byGuid.get(attempt.guid) ?? []), attempt])
  return [...byGuid.values()]
    .filter((same) => same.length < maxAttempts && !same.some(({ is_delivered }) => is_delivered))
    .flatMap((same) => same.toSorted((a, b) => b.at - a.at).slice(0, 1))
    .sort((a, b) => a.at - b.at)
}
