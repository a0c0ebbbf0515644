// All processes of one database must use the same encryption key: a sealed constant in the database shows whether they do.
import type { Transaction } from '../db/db.js'
import { keyDiffers, keyInvalid } from './encryption-key.js'
import type { Sealer } from './seal.js'
import { keyCheckUnscoped, replaceKeyCheckUnscoped } from './store.js'

const place = 'encryption_check'
const constant = Buffer.from('svc encryption key check')

/** The first process stores the check value. Rejects with ENCRYPTION_KEY_INVALID when it is sealed by an unknown key. */
export async function checkEncryptionKey(tx: Transaction, sealer: Sealer): Promise<void> {
  const sealed = await keyCheckUnscoped(tx, checkValue(sealer))
  const [, id = ''] = sealed.split(' ')
  if (!sealer.key_ids.includes(id)) throw keyDiffers(id, sealer.key_ids)
  if (!sealer.open(place, sealed).equals(constant)) throw keyDiffers(id, sealer.key_ids)
}

/** From now on processes need the first key of this sealer. */
export async function changeEncryptionKey(tx: Transaction, sealer: Sealer): Promise<void> {
  await replaceKeyCheckUnscoped(tx, checkValue(sealer))
}

function checkValue(sealer: Sealer): string {
  const sealed = sealer.seal(place, constant)
  if (sealed === null) throw keyInvalid()
  return sealed
}
