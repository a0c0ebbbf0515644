// `svc-platform new-incarnation` for a person.
import type { Writable } from 'node:stream'
import { restartLogs } from './commands/restart-log.js'
import { readConfig } from './config.js'
import { openSigner } from './log/signer.js'
import { migrate } from './migrations/index.js'
import { logIdentityUnscoped } from './store/checkpoints.js'
import { openDatabase, withUnscopedTransaction } from './store/db.js'

export interface IncarnationOptions {
  readonly reason: string
  readonly org?: string
}

/** Returns the exit code. */
export async function newIncarnation(
  { reason, org }: IncarnationOptions,
  env: NodeJS.ProcessEnv,
  out: Writable,
  err: Writable,
): Promise<number> {
  const { value: config, errors } = readConfig(env)
  if (errors.length > 0) {
    err.write(`svc-platform: ${errors.join('; ')}\n`)
    return 1
  }
  try {
    const db = await openDatabase(config)
    try {
      await migrate(db)
      const signer = openSigner(config.log_key_dir)
      const { public_key } = signer
      const proposed = { log_host: config.log_host ?? 'localhost', public_key }
      const identity = await withUnscopedTransaction(db, (tx) => logIdentityUnscoped(tx, proposed))
      if (identity.public_key !== public_key)
        throw new Error('the key here is not the one that signs this log; see SVC_LOG_KEY_DIR')
      const parts = { db, signer, log_host: identity.log_host, clock: Date.now }
      for (const { origin, signed, size } of await restartLogs(parts, org ?? null, reason))
        out.write(`${origin}: goes on from ${size} entries; ${signed} were signed for before\n`)
      out.write('tell those who trust this log: its checkpoints have another name and key from now on\n')
      return 0
    } finally {
      await db.close()
    }
  } catch (error) {
    err.write(`svc-platform: ${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}
