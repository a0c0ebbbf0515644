// Device authorizations (RFC 8628).
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { secretHash } from '../../secrets/secret-hash.js'

type DeviceState = 'pending' | 'approved' | 'denied' | 'used'

/** The time in which an expired authorization is kept, so that polls can report EXPIRED_TOKEN. */
const keptMs = 86_400_000

export async function insertDeviceUnscoped(
  tx: Transaction,
  now: number,
  device: { readonly secret: string; readonly user_code: string; readonly until: number },
): Promise<void> {
  await tx.query('delete from device_codes where expires_at < $1', [isoTime(now - keptMs)])
  await tx.query(
    `insert into device_codes (device_hash, user_code, state, made_at, expires_at) values ($1, $2, 'pending', $3, $4)`,
    [secretHash(device.secret), device.user_code, isoTime(now), isoTime(device.until)],
  )
}

export interface Polled {
  readonly state: DeviceState
  readonly person_id: string | null
  readonly is_expired: boolean
  /** The program polled before the interval had passed. */
  readonly too_soon: boolean
}

/** Each `slow_down` adds this to the interval (RFC 8628 §3.5). */
const slowDownSeconds = 5

/**
 * The state of the authorization; null for an unknown secret. An approved authorization is used up. Polling too soon makes the
 * interval longer.
 */
export async function pollDeviceUnscoped(tx: Transaction, now: number, secret: string): Promise<Polled | null> {
  const [row] = await tx.query<Polled>(
    `select state, person_id, expires_at <= $2 as is_expired,
       coalesce(polled_at > $2::timestamptz - make_interval(secs => interval_seconds), false) as too_soon
     from device_codes where device_hash = $1 for update`,
    [secretHash(secret), isoTime(now)],
  )
  if (row === undefined) return null
  const isUsed = row.state === 'approved' && !row.is_expired && !row.too_soon
  await tx.query(
    `update device_codes set polled_at = $2, state = $3, interval_seconds = interval_seconds + $4 where device_hash = $1`,
    [secretHash(secret), isoTime(now), isUsed ? 'used' : row.state, row.too_soon ? slowDownSeconds : 0],
  )
  return row
}

/**
 * Approves or denies the program that shows this code; false when no program is waiting with it. The person who approved a
 * program can still deny it before it fetches its tokens.
 */
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
    [user_code, isoTime(now), state, person_id],
  )
  return rows.length > 0
}
