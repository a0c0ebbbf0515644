// Delivers what is due for one action: attempts at once, results, until nothing is due (docs/design/platform.md §8).
import { withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import { lockLog } from '../../ledger/log.js'
import type { Message } from './kinds/kind.js'
import { sendMessage } from './kinds/send.js'
import { maxRetryMs, nextState, type Outcome, outcomeOf, receiverAfter } from './outcome.js'
import type { SendingParts } from './parts.js'
import { disableAction } from './store/actions.js'
import {
  type Begun,
  beginAttempts,
  endAttempts,
  giveUpWaiting,
  lockReceiver,
  type Receiver,
  secondsUntilDue,
  setReceiver,
} from './store/attempts.js'

/** Attempts of one action at once: most of the time they wait for the receiver. */
const maxAtOnce = 16
/** Deliveries that end at once because their receiver could not be reached for a day. */
const maxGivenUp = 200

interface Round {
  readonly receiver: Receiver
  readonly begun: readonly Begun[]
}

/** After this time an action makes room for those of others, ms: one receiver may take ten seconds for each delivery of thousands. */
const maxRunMs = 10_000

/** Resolves with the seconds until the action has something to deliver; null when nothing waits. Rejects with UNAVAILABLE. */
export async function deliverDue(
  parts: SendingParts,
  scope: Scope,
  action_id: string,
  signal: AbortSignal,
): Promise<number | null> {
  const until = parts.clock() + maxRunMs
  while (!signal.aborted && parts.clock() < until) {
    const round = await beginRound(parts, scope, action_id)
    if (round === null || typeof round === 'number') return round
    const outcomes = await Promise.all(
      round.begun.map((message) => attemptOf(parts, scope, round.receiver, message, signal)),
    )
    await storeRound(parts, scope, round, outcomes)
  }
  return 1
}

/** The next deliveries, or the seconds until there are some; null without any. */
function beginRound({ db, clock }: SendingParts, scope: Scope, action_id: string): Promise<Round | number | null> {
  const now = clock()
  return withTransaction(db, scope, async (tx) => {
    const receiver = await lockReceiver(scope, tx, action_id)
    if (receiver === null) return null
    const { retry_at } = receiver
    if (retry_at !== null && retry_at > now) return (retry_at - now) / 1000
    // After a failure, one attempt shows whether the receiver can be reached again.
    const begun = await beginAttempts(scope, tx, action_id, now, retry_at === null ? maxAtOnce : 1)
    return begun.length === 0 ? secondsUntilDue(scope, tx, action_id, now) : { receiver, begun }
  })
}

async function attemptOf(
  parts: SendingParts,
  { org_id }: Scope,
  receiver: Receiver,
  message: Message,
  signal: AbortSignal,
): Promise<Outcome> {
  const { attempt } = await sendMessage(parts, org_id, receiver, message, signal)
  return outcomeOf(attempt)
}

function storeRound(
  { db, clock, random }: SendingParts,
  scope: Scope,
  { receiver, begun }: Round,
  outcomes: readonly Outcome[],
): Promise<void> {
  const now = clock()
  const ended = begun.map((one, index) => endedBy(one, outcomes[index] as Outcome, now, random()))
  const receiverState = receiverAfter(receiver, outcomes, now, random())
  const isGone = outcomes.some(({ verdict }) => verdict === 'gone')
  return withTransaction(db, scope, async (tx) => {
    // Events are leaves of the log, whose lock comes before that of the action.
    const hasEvents = isGone || (receiverState?.failures ?? 0) > 0 || ended.some(({ state }) => state === 'dead')
    if (hasEvents) await lockLog(scope, tx)
    // Before its deliveries, in the order in which other changes lock them.
    if (receiverState !== null) await setReceiver(scope, tx, receiver.id, receiverState)
    const held = new Set(await endAttempts(scope, tx, now, ended))
    const dead = ended.filter(({ id, state }) => state === 'dead' && held.has(id)).map(({ id }) => id)
    const error = receiverState?.error ?? null
    if (error !== null) {
      const limit = { now, give_up_at: now + maxRetryMs, error, max: maxGivenUp }
      dead.push(...(await giveUpWaiting(scope, tx, receiver.id, limit)))
    }
    const isDisabled = isGone && (await disableAction(scope, tx, now, receiver.id))
    await recordEvents(scope, tx, now, [
      ...dead.map((id) => deadEvent(id, receiver)),
      ...(isDisabled ? [disabledEvent(receiver)] : []),
    ])
  })
}

function endedBy(delivery: Begun, outcome: Outcome, now: number, random: number) {
  const next = nextState(delivery, outcome, now, random)
  const { verdict, status: response_status, error } = outcome
  const times =
    next.state === 'pending'
      ? { next_attempt_at: next.next_attempt_at, give_up_at: next.give_up_at }
      : { next_attempt_at: delivery.next_attempt_at, give_up_at: delivery.give_up_at }
  const { id, attempts } = delivery
  return { id, attempts, state: next.state, ...times, response_status, error, counts: verdict !== 'interrupted' }
}

function deadEvent(id: string, { id: action_id, name }: Receiver) {
  return { kind: 'delivery.dead', subject_kind: 'delivery', subject_id: id, data: { action_id, name } }
}

function disabledEvent({ id, name }: Receiver) {
  const data = { name, reason: 'the receiver answered 410: it wants no more deliveries' }
  return { kind: 'action.disabled', subject_kind: 'action', subject_id: id, data }
}
