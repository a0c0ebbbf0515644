// `svc-platform admin release` for a person.
import type { Writable } from 'node:stream'
import { releaseAccount } from './commands/release-account.js'
import { onDatabase } from './operator.js'

/** Returns the exit code. */
export function release(email: string, env: NodeJS.ProcessEnv, out: Writable, err: Writable): Promise<0 | 1> {
  return onDatabase(env, err, async ({ db }) => {
    await releaseAccount(db, email, Date.now())
    out.write(`${email}: may come in\n`)
  })
}
