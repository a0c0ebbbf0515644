// Takes a delivery: its signature is checked before anything is parsed, and it is stored with its job before it is acknowledged.
// GitHub's signature covers the body alone. A body that is sent again with a new delivery id cannot be told from a new delivery,
// and that is harmless: a payload only says where to look, and what is there is read afresh.

import { type Database, PlatformError, type Send, type Transaction, withUnscopedTransaction } from '@svc/platform'
import type { GithubReceipt } from '@svc/schemas'
import {
  insertDeliveryUnscoped,
  type NewDelivery,
  repeatDeliveryUnscoped,
  waitingDeliveriesUnscoped,
} from './deliveries-store.js'
import { deliveryIn } from './delivery.js'
import { handleName } from './handle-job.js'
import { type Header, type SignatureProblem, signatureProblem } from './signature.js'

export interface ReceiverParts {
  readonly db: Database
  readonly clock: () => number
  readonly send: Send
  readonly secrets: readonly string[]
  /** True if a handler takes the event. */
  readonly isHandled: (event: string, action: string | null) => boolean
}

interface Receipt {
  readonly status: 200 | 202
  readonly outcome: GithubReceipt['outcome']
}

/** Deliveries that may wait; GitHub shows the rejected ones as failed, and they are asked for again. */
const maxWaiting = 1000
const retryAfterSeconds = 60

/** Rejects with UNAUTHENTICATED, UNSUPPORTED_MEDIA_TYPE, MALFORMED, INVALID, and UNAVAILABLE when too many deliveries wait. */
export async function receive(parts: ReceiverParts, raw: Uint8Array, header: Header): Promise<Receipt> {
  const problem = signatureProblem(parts.secrets, raw, header)
  if (problem !== null) throw new PlatformError('UNAUTHENTICATED', problems[problem])
  const delivery = deliveryIn(raw, header)
  if (delivery.event === 'ping') return { status: 200, outcome: 'pong' }
  if (!parts.isHandled(delivery.event, delivery.action)) return { status: 202, outcome: 'ignored' }
  const isNew = await withUnscopedTransaction(parts.db, (tx) => store(parts, tx, delivery))
  return isNew ? { status: 202, outcome: 'accepted' } : { status: 200, outcome: 'seen' }
}

/** Stores the delivery and its job; false for one that was received before and has not failed. */
async function store({ clock, send }: ReceiverParts, tx: Transaction, delivery: NewDelivery): Promise<boolean> {
  const isNew = (await insertDeliveryUnscoped(tx, clock(), delivery)) || (await repeatDeliveryUnscoped(tx, delivery))
  if (!isNew) return false
  if ((await waitingDeliveriesUnscoped(tx, maxWaiting + 1)) > maxWaiting) throw tooMany()
  await send(handleName, { delivery_id: delivery.delivery_id }, { tx })
  return true
}

function tooMany(): PlatformError {
  const headers = { 'retry-after': String(retryAfterSeconds) }
  return new PlatformError(
    'UNAVAILABLE',
    `more than ${maxWaiting} deliveries wait: GitHub is asked for this one later`,
    {
      headers,
    },
  )
}

const setSecret = 'set the same secret in SVC_GITHUB_APP_WEBHOOK_SECRET and in the settings of the App'
const problems: Readonly<Record<SignatureProblem, string>> = {
  unsigned: `the header \`X-Hub-Signature-256\` is missing: ${setSecret}`,
  sha1_only: 'the delivery is signed with SHA-1 only: send the header `X-Hub-Signature-256`',
  unknown_algorithm: 'the header `X-Hub-Signature-256` must begin with `sha256=`',
  malformed: 'the header `X-Hub-Signature-256` must be `sha256=` and 64 hexadecimal digits in lower case',
  wrong: `the signature is wrong: ${setSecret}`,
}
