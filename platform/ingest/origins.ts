// Steps of senders that give them no numbers: an id of the sender recognises a step that is sent again. The log must be locked.
import { createHmac } from 'node:crypto'
import type { StoredEntry } from '@svc/proof'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { derivedKey } from '../ledger/subjects.js'
import type { Sealer } from '../secrets/seal.js'
import { type Pace, paced } from './pace.js'
import type { StepRequest } from './step-request.js'
import { findOrigins, insertOrigins, type OriginRow } from './store/origins.js'

type Sent = { readonly request: StepRequest }
type Wanted = Pick<OriginRow, 'task_id' | 'origin'>

export interface OriginsOfBatch {
  /** The entry that has the identity of the item; undefined for a new step. */
  readonly entryOf: (item: Sent) => Pick<OriginRow, 'step' | 'log_index'> | undefined
  /** Remembers the ids of an appended item. */
  readonly note: (item: Sent, entry: StoredEntry) => void
  /** The entries that were known when the batch was opened. */
  readonly known: readonly Pick<OriginRow, 'task_id' | 'step'>[]
  /** True if there are ids to write. */
  readonly hasNew: () => boolean
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
  const rowOf = (task_id: string, origin: string): Wanted[] =>
    digest === null ? [] : [{ task_id, origin: digest(task_id, origin) }]
  const rowsOf = ({ request: { task_id, origins = [] } }: Sent) => origins.flatMap((origin) => rowOf(task_id, origin))
  /** The other view of the step, and whether it stands for a step already. */
  const sharedOf = ({ request: { task_id, same_as } }: Sent) =>
    same_as === undefined ? [] : [same_as, `used ${same_as}`].flatMap((origin) => rowOf(task_id, origin))
  const known = await findOrigins(
    scope,
    tx,
    named.flatMap((item) => [...rowsOf(item).slice(0, 1), ...sharedOf(item)]),
  )
  const steps = new Map(known.map((row) => [keyOf(row), row]))
  const added: OriginRow[] = []
  const sharedEntry = (item: Sent) => {
    const [shared, used] = sharedOf(item)
    return shared && used && !steps.has(keyOf(used)) ? steps.get(keyOf(shared)) : undefined
  }
  return {
    entryOf: (item) => {
      const [identity] = rowsOf(item)
      return identity && (steps.get(keyOf(identity)) ?? sharedEntry(item))
    },
    note: (item, { step, log_index }) => {
      for (const row of [...rowsOf(item), ...sharedOf(item).slice(1)]) {
        if (steps.has(keyOf(row))) continue
        const fresh = { ...row, step, log_index }
        steps.set(keyOf(row), fresh)
        added.push(fresh)
      }
    },
    known,
    hasNew: () => added.length > 0,
    write: (own, writing) => insertOrigins(own, writing, added),
  }
}

/** Origins of one query. */
const maxWanted = 2_000

/** Those of the origins that steps of the task have. The log need not be locked: an origin is never taken away from a step. */
export async function knownOrigins(
  { sealer, pace }: { readonly sealer: Sealer; readonly pace: Pace },
  scope: Scope,
  tx: Transaction,
  task_id: string,
  origins: readonly string[],
): Promise<Set<string>> {
  if (origins.length === 0) return new Set()
  const digest = keyed(await derivedKey(scope, tx, sealer, 'origins'))
  const wanted = await paced(pace, origins, (origin) => ({ task_id, origin: digest(task_id, origin) }))
  const found = new Set<string>()
  for (let first = 0; first < wanted.length; first += maxWanted)
    for (const row of await findOrigins(scope, tx, wanted.slice(first, first + maxWanted))) found.add(keyOf(row))
  return new Set(origins.filter((_, index) => found.has(keyOf(wanted[index] as Wanted))))
}

function keyed(key: string) {
  return (task_id: string, origin: string) => createHmac('sha256', key).update(`${task_id}\0${origin}`).digest()
}

function keyOf({ task_id, origin }: Wanted): string {
  return `${origin.toString('hex')} ${task_id}`
}
