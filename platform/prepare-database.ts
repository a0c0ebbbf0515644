// Prepares the database before it is used: rights, migrations, and the keys of its secrets.
import type { Config } from './config.js'
import { type Database, withUnscopedTransaction } from './db/db.js'
import { migrate } from './db/migrations/index.js'
import { assertRights } from './db/rights.js'
import { keyMissing } from './secrets/encryption-key.js'
import { checkEncryptionKey } from './secrets/key-check.js'
import { isKeyFromFile, keyFilePath, otherFile, otherTokens } from './secrets/key-file.js'
import type { Sealer } from './secrets/seal.js'
import { sealingKeysUnscoped } from './secrets/store.js'

interface Preparing {
  readonly db: Database
  readonly config: Config
  readonly sealer: Sealer
  readonly warn: (message: string) => void
}

/** Rejects with CONFLICT or ENCRYPTION_KEY_INVALID when rights or keys are missing. */
export async function prepareDatabase({ db, config, sealer, warn }: Preparing): Promise<void> {
  await assertRights(db)
  await migrate(db)
  // The key file of an embedded database can be replaced until a secret is encrypted with it.
  if (db.kind === 'postgresql') await withUnscopedTransaction(db, (tx) => checkEncryptionKey(tx, sealer))
  const used = await withUnscopedTransaction(db, sealingKeysUnscoped)
  const missing = used.filter(({ id }) => !sealer.key_ids.includes(id))
  const ids = [...new Set(missing.map(({ id }) => id))]
  if (missing.length > 0 && !isKeyFromFile(config)) throw keyMissing(ids)
  if (missing.some(({ is_replaceable }) => !is_replaceable)) throw otherFile(keyFilePath(config), ids)
  if (missing.length > 0) warn(otherTokens(keyFilePath(config)))
}
