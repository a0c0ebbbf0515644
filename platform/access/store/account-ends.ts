// The rows of an account that ends. Events and records keep its opaque id.
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Person } from './people.js'

/** Erases the address and the name of the account; false for an account that has ended already. */
export async function endPersonUnscoped(tx: Transaction, now: number, person_id: string): Promise<boolean> {
  const rows = await tx.query(
    `update people set email = person_id, name = 'ended account', ended_at = $2
     where person_id = $1 and ended_at is null returning 1`,
    [person_id, isoTime(now)],
  )
  return rows.length > 0
}

/** Erases the address in all other tables, and ends the links, device codes and sessions of the account. */
export async function eraseAddressUnscoped(
  tx: Transaction,
  now: number,
  { person_id, email }: Pick<Person, 'person_id' | 'email'>,
): Promise<void> {
  await tx.query('update offers set email = $2 where email = $1', [email, person_id])
  await tx.query('delete from magic_links where email = $1', [email])
  await tx.query('delete from device_codes where person_id = $1', [person_id])
  await tx.query('update sessions set revoked_at = $2 where person_id = $1 and revoked_at is null', [
    person_id,
    isoTime(now),
  ])
}
