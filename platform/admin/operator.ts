// Shared by the operator's commands: opens the database and the keys of the log without serving requests.
import type { Writable } from 'node:stream'
import { type Config, readConfig } from '../config.js'
import { type Database, openDatabase, withUnscopedTransaction } from '../db/db.js'
import { failureText } from '../db/failure.js'
import { migrate } from '../db/migrations/index.js'
import { assertRights } from '../db/rights.js'
import { type LogSigner, openSigner } from '../log/publish/signer.js'
import { logIdentityUnscoped } from '../log/publish/store/checkpoints.js'
import { assertPrivateFolders } from '../secrets/key-folders.js'

export interface Opened {
  readonly config: Config
  readonly db: Database
}

/**
 * Opens the database of this configuration, runs `work` and returns the exit code: 1 after an error, which is printed.
 * `explain` may replace the error.
 */
export async function onDatabase(
  env: NodeJS.ProcessEnv,
  err: Writable,
  work: (opened: Opened) => Promise<void>,
  explain: (error: unknown) => unknown = (error) => error,
): Promise<0 | 1> {
  const { value: config, errors } = readConfig(env)
  try {
    if (errors.length > 0) throw new Error(errors.join('; '))
    assertPrivateFolders(config)
    const db = await openDatabase(config)
    try {
      await assertRights(db)
      await migrate(db)
      await work({ config, db })
      return 0
    } finally {
      await db.close()
    }
  } catch (thrown) {
    const error = explain(thrown)
    const text = failureText(error, config) ?? (error instanceof Error ? error.message : String(error))
    err.write(`svc-platform: ${text}\n`)
    return 1
  }
}

interface OpenedLog extends Opened {
  readonly signer: LogSigner
  readonly log_host: string
}

/** Opens the database and the key of the log, which must be the signing key of this database. */
export function onLog(env: NodeJS.ProcessEnv, err: Writable, work: (log: OpenedLog) => Promise<void>): Promise<0 | 1> {
  return onDatabase(env, err, async ({ config, db }) => {
    const signer = openSigner(config.log_key_dir, Date.now)
    const proposed = { log_host: config.log_host ?? 'localhost', public_key: signer.public_key }
    const { log_host, public_key } = await withUnscopedTransaction(db, (tx) => logIdentityUnscoped(tx, proposed))
    if (!signer.knows(public_key))
      throw new Error('the key in `SVC_LOG_KEY_DIR` does not sign this log: set the folder that holds its key')
    await work({ config, db, signer, log_host })
  })
}
