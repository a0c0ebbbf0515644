// Checks that all processes of a database use the same encryption key, by a sealed constant in the database.
import type { Transaction } from '../db/db.js'
import { keyDiffers, keyInvalid } from './encryption-key.js'
import type { Sealer } from './seal.js'
import { keyCheckUnscoped, replaceKeyCheckUnscoped } from './store.js'

const context = 'encryption_check'
const constant = Buffer.from('svc encryption key check')

/** Stores the check value if the database has none. Rejects with ENCRYPTION_KEY_INVALID for a value that another key sealed. */
export async function checkEncryptionKey(tx: Transaction, sealer: Sealer): Promise<void> {
  const sealed = await keyCheckUnscoped(tx, checkValue(sealer))
  const [, id = ''] = sealed.split(' ')
  if (!sealer.key_ids.includes(id)) throw keyDiffers(id, sealer.key_ids)
  if (!sealer.open(context, sealed).equals(constant)) throw keyDiffers(id, sealer.key_ids)
}

/** Replaces the check value: processes need the first key of this sealer from then on. */
export async function changeEncryptionKey(tx: Transaction, sealer: Sealer): Promise<void> {
  await replaceKeyCheckUnscoped(tx, checkValue(sealer))
}

function checkValue(sealer: Sealer): string {
  const sealed = sealer.seal(context, constant)
  if (sealed === null) throw keyInvalid()
  return sealed
}
