// `svc-platform rotate-key` for a person.
import type { Writable } from 'node:stream'
import { announceKey } from './commands/announce-key.js'
import { publicKeyOf, rotateKeys, signingKeysIn } from './log/signing-keys.js'
import { onLog } from './operator.js'
import { setLogKeyUnscoped } from './store/checkpoints.js'
import { withUnscopedTransaction } from './store/db.js'

export interface RotationOptions {
  readonly reason: string
  /** For how long the old key signs along. */
  readonly days: number
}

const day = 86_400_000

/** Returns the exit code. */
export function rotateKey({ reason, days }: RotationOptions, env: NodeJS.ProcessEnv, out: Writable, err: Writable) {
  return onLog(env, err, async ({ config, db, log_host, signer }) => {
    const now = Date.now()
    const previous = signingKeysIn(config.log_key_dir).seed
    const { seed } = rotateKeys(config.log_key_dir, now + days * day)
    await withUnscopedTransaction(db, (tx) => setLogKeyUnscoped(tx, publicKeyOf(seed)))
    const rotation = { now, reason, previous, until: now + days * day }
    for (const { origin, key } of await announceKey({ db, signer, log_host }, rotation))
      out.write(`${origin}\n  log ${key}\n`)
    out.write(
      `give these lines to those who trust this log: until ${iso(rotation.until)} both keys sign, then only the new one\n`,
    )
  })
}

function iso(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
