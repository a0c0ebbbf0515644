// Attempts of deliveries and their results. The queue runs one job of an action at a time.
import { type Action, isoTime } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { readByIndex } from '../../../db/sql.js'

/** An action as an attempt uses it; times are ms since 1970. */
export interface Receiver {
  readonly id: string
  readonly name: string
  readonly kind: Action['kind']
  readonly config: { readonly to?: readonly string[] }
  readonly sealed_target: string | null
  readonly sealed_secret: string | null
  readonly sealed_previous_secret: string | null
  readonly previous_secret_until: number | null
  readonly failures: number
  readonly retry_at: number | null
}

export interface Begun {
  readonly id: string
  readonly subject_id: string
  readonly body: string
  readonly attempts: number
  readonly next_attempt_at: number
  readonly give_up_at: number | null
}

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`

const receiverColumns = `id, name, kind, config, sealed_target, sealed_secret, sealed_previous_secret,
  ${ms('previous_secret_until')} as previous_secret_until, failures, ${ms('retry_at')} as retry_at`

/** The receiver of an action, locked until the transaction ends; null while it is disabled or deleted. */
export async function lockReceiver({ org_id }: Scope, tx: Transaction, id: string): Promise<Receiver | null> {
  const text = `select ${receiverColumns} from actions where org_id = $1 and id = $2 and enabled for update`
  const [receiver] = await tx.query<Receiver>(text, [org_id, id])
  return receiver ?? null
}

/** The receiver of an action that is not deleted. */
export async function findReceiver({ org_id }: Scope, tx: Transaction, id: string): Promise<Receiver | null> {
  const text = `select ${receiverColumns} from actions where org_id = $1 and id = $2 and deleted_at is null`
  const [receiver] = await tx.query<Receiver>(text, [org_id, id])
  return receiver ?? null
}

/** No earlier delivery of the same action about the same subject is pending. */
const isFirst = `not exists (select 1 from deliveries e where e.org_id = d.org_id and e.action_id = d.action_id
  and e.subject_id = d.subject_id and e.state = 'pending' and e.position < d.position)`

/**
 * Begins attempts of up to `max` deliveries of an action that are due, each the first of its subject, those with the fewest attempts
 * before others. The receiver must be locked.
 */
export async function beginAttempts(
  scope: Scope,
  tx: Transaction,
  action_id: string,
  now: number,
  max: number,
): Promise<Begun[]> {
  // With 10,000 waiting, an order by attempts reads all of them; those without an attempt are found in an index.
  const first = { max, except: [], among: 'd.attempts = 0', order: 'd.position' }
  const fresh = await beginInOrder(scope, tx, action_id, now, first)
  const except = fresh.map(({ id }) => id)
  const more = { max: max - fresh.length, except, among: 'd.attempts > 0', order: 'd.attempts, d.position' }
  return more.max === 0 ? fresh : [...fresh, ...(await beginInOrder(scope, tx, action_id, now, more))]
}

interface Choice {
  readonly max: number
  readonly except: readonly string[]
  readonly among: string
  readonly order: string
}

async function beginInOrder(
  { org_id }: Scope,
  tx: Transaction,
  action_id: string,
  now: number,
  { max, except, among, order }: Choice,
): Promise<Begun[]> {
  await readByIndex(tx)
  return tx.query<Begun>(
    `with due as (
       select d.id from deliveries d
       where d.org_id = $1 and d.action_id = $2 and d.state = 'pending' and d.next_attempt_at <= $3 and ${among}
         and d.id <> all($4::text[]) and ${isFirst} order by ${order} limit ${max})
     update deliveries d set attempts = d.attempts + 1, last_attempt_at = $3
     from due where d.org_id = $1 and d.id = due.id
     returning d.id, d.subject_id, d.body, d.attempts, ${ms('d.next_attempt_at')} as next_attempt_at,
       ${ms('d.give_up_at')} as give_up_at`,
    [org_id, action_id, isoTime(now), except],
  )
}

/** Seconds until the next delivery of an action is due; null without one. */
export async function secondsUntilDue(
  { org_id }: Scope,
  tx: Transaction,
  action_id: string,
  now: number,
): Promise<number | null> {
  const [row] = await tx.query<{ seconds: number | null }>(
    `select greatest(extract(epoch from min(d.next_attempt_at) - $3::timestamptz), 0)::float8 as seconds
     from deliveries d where d.org_id = $1 and d.action_id = $2 and d.state = 'pending' and ${isFirst}`,
    [org_id, action_id, isoTime(now)],
  )
  return row?.seconds ?? null
}

export interface Ended {
  readonly id: string
  /** Of the delivery, with this one: a later attempt stores its own result. */
  readonly attempts: number
  readonly state: 'pending' | 'delivered' | 'dead'
  readonly next_attempt_at: number
  readonly give_up_at: number | null
  readonly response_status: number | null
  readonly error: string | null
  /** False for an interrupted attempt, which does not count. */
  readonly counts: boolean
}

/** Stores the results of attempts at `now`; returns the ids of those that are still the last of a pending delivery. */
export async function endAttempts(
  { org_id }: Scope,
  tx: Transaction,
  now: number,
  ended: readonly Ended[],
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `update deliveries d set state = u.state, next_attempt_at = u.next_attempt_at, give_up_at = u.give_up_at,
       response_status = case when u.counts then u.response_status else d.response_status end,
       error = case when u.counts then u.error else d.error end, attempts = d.attempts - case when u.counts then 0 else 1 end,
       ended_at = case when u.state = 'pending' then null else $2::timestamptz end
     from unnest($3::text[], $4::int[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::int[], $9::text[], $10::boolean[])
       as u(id, attempts, state, next_attempt_at, give_up_at, response_status, error, counts)
     where d.org_id = $1 and d.id = u.id and d.attempts = u.attempts and d.state = 'pending' returning d.id`,
    [
      org_id,
      isoTime(now),
      ended.map((one) => one.id),
      ended.map((one) => one.attempts),
      ended.map((one) => one.state),
      ended.map((one) => isoTime(one.next_attempt_at)),
      ended.map((one) => (one.give_up_at === null ? null : isoTime(one.give_up_at))),
      ended.map((one) => one.response_status),
      ended.map((one) => one.error),
      ended.map((one) => one.counts),
    ],
  )
  return rows.map(({ id }) => id)
}

/** Stores whether the receiver can be reached. */
export async function setReceiver(
  { org_id }: Scope,
  tx: Transaction,
  id: string,
  {
    failures,
    retry_at,
    error,
  }: { readonly failures: number; readonly retry_at: number | null; readonly error: string | null },
): Promise<void> {
  await tx.query(
    `update actions set failures = $3, retry_at = $4, receiver_error = $5
     where org_id = $1 and id = $2 and (failures, retry_at, receiver_error) is distinct from ($3, $4::timestamptz, $5)`,
    [org_id, id, failures, retry_at === null ? null : isoTime(retry_at), error],
  )
}

/** Starting the time of 10,000 deliveries takes 160 ms, during which the log is locked; the next probe starts that of the others. */
const maxStarted = 2000

/**
 * Starts the time of the due deliveries that wait for a receiver which cannot be reached, and ends those whose time is up, at most
 * `max`; returns their ids.
 */
export async function giveUpWaiting(
  { org_id }: Scope,
  tx: Transaction,
  action_id: string,
  {
    now,
    give_up_at,
    error,
    max,
  }: { readonly now: number; readonly give_up_at: number; readonly error: string; readonly max: number },
): Promise<string[]> {
  await tx.query(
    `update deliveries set give_up_at = $4 where org_id = $1 and id = any(array(
       select id from deliveries where org_id = $1 and action_id = $2 and state = 'pending' and give_up_at is null
         and next_attempt_at <= $3 order by position limit ${maxStarted})) and state = 'pending'`,
    [org_id, action_id, isoTime(now), isoTime(give_up_at)],
  )
  const rows = await tx.query<{ id: string }>(
    `update deliveries set state = 'dead', ended_at = $3, error = $4
     where org_id = $1 and id in (select id from deliveries where org_id = $1 and action_id = $2 and state = 'pending'
       and give_up_at <= $3 order by position limit ${max}) and state = 'pending' returning id`,
    [org_id, action_id, isoTime(now), error],
  )
  return rows.map(({ id }) => id)
}
