// `svc-platform rotate-secrets`.
import type { Writable } from 'node:stream'
import { withUnscopedTransaction } from '../db/db.js'
import { encryptionKeys, twoKeysNeeded } from '../secrets/encryption-key.js'
import { changeEncryptionKey } from '../secrets/key-check.js'
import { createSealer } from '../secrets/seal.js'
import { sealAgainUnscoped } from '../secrets/store.js'
import { onDatabase } from './operator.js'

/** Returns the exit code. */
export function rotateSecrets(env: NodeJS.ProcessEnv, out: Writable, err: Writable): Promise<0 | 1> {
  return onDatabase(env, err, async ({ config, db }) => {
    if (config.encryption_key === null) throw twoKeysNeeded()
    const sealer = createSealer(encryptionKeys(config))
    const changed = await withUnscopedTransaction(db, async (tx) => {
      const count = await sealAgainUnscoped(tx, sealer)
      await changeEncryptionKey(tx, sealer)
      return count
    })
    const secrets = changed === 1 ? '1 secret was' : `${changed} secrets were`
    out.write(`${secrets} sealed again with the first key of SVC_ENCRYPTION_KEY: the other keys can be removed\n`)
  })
}
