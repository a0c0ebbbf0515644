// Steps of senders that give them no numbers: an id of the sender recognises a step that is sent again. The log must be locked.
import { createHmac } from 'node:crypto'
import type { StoredEntry } from '@svc/proof'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { derivedKey } from '../ledger/subjects.js'
import type { Sealer } from '../secrets/seal.js'
import type { StepRequest } from './step-request.js'
import { findOrigins, insertOrigins, type OriginRow } from './store/origins.js'

type Sent = { readonly request: StepRequest }

export interface OriginsOfBatch {
  /** The entry that has the identity of the item; undefined for a new step. */
  readonly entryOf: (item: Sent) => Pick<OriginRow, 'step' | 'log_index'> | undefined
  /** Remembers the ids of an appended item. */
  readonly note: (item: Sent, entry: StoredEntry) => void
  /** The entries that were known when the batch was opened. */
  readonly known: readonly Pick<OriginRow, 'task_id' | 'step'>[]
  readonly write: (scope: Scope, tx: Transaction) => Promise<void>
}

/** Reads what is known of the ids of these items. */
export async function openOrigins(
  scope: Scope,
  tx: Transaction,
  sealer: Sealer,
  items: readonly Sent[],
): Promise<OriginsOfBatch> {
  const named = items.filter(({ request }) => request.origins !== undefined)
  const digest = named.length === 0 ? null : keyed(await derivedKey(scope, tx, sealer, 'origins'))
  const rowsOf = ({ request: { task_id, origins = [] } }: Sent) =>
    digest === null ? [] : origins.map((origin) => ({ task_id, origin: digest(task_id, origin) }))
  const known = await findOrigins(
    scope,
    tx,
    named.flatMap((item) => rowsOf(item).slice(0, 1)),
  )
  const steps = new Map(known.map((row) => [keyOf(row), row]))
  const added: OriginRow[] = []
  return {
    entryOf: (item) => {
      const [identity] = rowsOf(item)
      return identity && steps.get(keyOf(identity))
    },
    note: (item, { step, log_index }) => {
      for (const row of rowsOf(item)) {
        if (steps.has(keyOf(row))) continue
        const fresh = { ...row, step, log_index }
        steps.set(keyOf(row), fresh)
        added.push(fresh)
      }
    },
    known,
    write: (own, writing) => insertOrigins(own, writing, added),
  }
}

function keyed(key: string) {
  return (task_id: string, origin: string) => createHmac('sha256', key).update(`${task_id}\0${origin}`).digest()
}

function keyOf({ task_id, origin }: Pick<OriginRow, 'task_id' | 'origin'>): string {
  return `${origin.toString('hex')} ${task_id}`
}
