// Programs that wait for a person to let them in.
import type { Transaction } from '../../db/db.js'
import { secretHash } from './sessions.js'

export type DeviceState = 'pending' | 'approved' | 'denied' | 'used'

const iso = (time: number) => new Date(time).toISOString()
const day = 86_400_000

export async function insertDeviceUnscoped(
  tx: Transaction,
  now: number,
  device: { readonly secret: string; readonly user_code: string; readonly until: number },
): Promise<void> {
  await tx.query('delete from device_codes where expires_at < $1', [iso(now - day)])
  await tx.query(
    `insert into device_codes (device_hash, user_code, state, made_at, expires_at) values ($1, $2, 'pending', $3, $4)`,
    [secretHash(device.secret), device.user_code, iso(now), iso(device.until)],
  )
}

export interface Polled {
  readonly state: DeviceState
  readonly person_id: string | null
  readonly is_over: boolean
  /** Asked again before the interval was over. */
  readonly too_soon: boolean
}

/** What each `slow_down` adds to the interval, seconds (RFC 8628 §3.5). */
const slower = 5

/**
 * What has become of the request; an approved one is used up, and one that is asked for too soon waits longer from then on.
 * Null when there is none.
 */
export async function pollDeviceUnscoped(tx: Transaction, now: number, secret: string): Promise<Polled | null> {
  const [row] = await tx.query<Polled>(
    `select state, person_id, expires_at <= $2 as is_over,
       coalesce(polled_at > $2::timestamptz - make_interval(secs => interval_seconds), false) as too_soon
     from device_codes where device_hash = $1 for update`,
    [secretHash(secret), iso(now)],
  )
  if (row === undefined) return null
  const isHandedOut = row.state === 'approved' && !row.is_over && !row.too_soon
  await tx.query(
    `update device_codes set polled_at = $2, state = $3, interval_seconds = interval_seconds + $4 where device_hash = $1`,
    [secretHash(secret), iso(now), isHandedOut ? 'used' : row.state, row.too_soon ? slower : 0],
  )
  return row
}

/** Decides about the program that shows this code, once; false when there is none. Until it has its tokens, whoever let it in may think again. */
export async function decideDeviceUnscoped(
  tx: Transaction,
  now: number,
  {
    user_code,
    person_id,
    state,
  }: { readonly user_code: string; readonly person_id: string; readonly state: DeviceState },
): Promise<boolean> {
  const rows = await tx.query(
    `update device_codes set state = $3, person_id = $4
     where user_code = $1 and expires_at > $2
       and (state = 'pending' or state = 'approved' and person_id = $4 and $3 = 'denied') returning 1`,
    [user_code, iso(now), state, person_id],
  )
  return rows.length > 0
}
