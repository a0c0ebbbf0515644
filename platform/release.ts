// `svc-platform admin release` for a person.
import type { Writable } from 'node:stream'
import { releaseAccount } from './commands/release-account.js'
import { readConfig } from './config.js'
import { migrate } from './migrations/index.js'
import { openDatabase } from './store/db.js'

/** Returns the exit code. */
export async function release(email: string, env: NodeJS.ProcessEnv, out: Writable, err: Writable): Promise<0 | 1> {
  try {
    const { value: config, errors } = readConfig(env)
    if (errors.length > 0) throw new Error(errors.join('; '))
    const db = await openDatabase(config)
    try {
      await migrate(db)
      await releaseAccount(db, email)
      out.write(`${email}: may come in\n`)
      return 0
    } finally {
      await db.close()
    }
  } catch (error) {
    err.write(`svc-platform: ${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}
