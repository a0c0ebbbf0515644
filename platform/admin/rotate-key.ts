// `svc-platform rotate-key`.
import type { Writable } from 'node:stream'
import { keyLines } from '@svc/proof'
import { isoTime, type LogKey } from '@svc/schemas'
import { withUnscopedTransaction } from '../db/db.js'
import { announceKey } from '../log/publish/commands/announce-key.js'
import { publicKeyOf, rotateKeys, signingKeysIn } from '../log/publish/signing-keys.js'
import { setLogKeyUnscoped } from '../log/publish/store/checkpoints.js'
import { onLog } from './operator.js'

interface RotationOptions {
  readonly reason: string
  /** The time in which the old key signs next to the new one. */
  readonly days: number
}

const day = 86_400_000

/** Returns the exit code. */
export function rotateKey({ reason, days }: RotationOptions, env: NodeJS.ProcessEnv, out: Writable, err: Writable) {
  return onLog(env, err, async ({ config, db, log_host, signer }) => {
    const now = Date.now()
    const previous = signingKeysIn(config.log_key_dir).seed
    const { seed } = rotateKeys(config.log_key_dir, now, now + days * day)
    await withUnscopedTransaction(db, (tx) => setLogKeyUnscoped(tx, publicKeyOf(seed)))
    const rotation = { now, reason, previous, until: now + days * day }
    for (const { origin, org_id } of await announceKey({ db, signer, log_host }, rotation))
      out.write(trustText(`${origin} signs with a new key`, signer.keysOf(log_host, org_id)))
    const signing = days === 0 ? 'only the new key signs from now on' : `both keys sign until ${dateOf(rotation.until)}`
    out.write(`# send these lines to everyone who verifies this log: ${signing}\n`)
  })
}

/** The keys of a log as lines of a trust policy, below a comment. */
export function trustText(comment: string, keys: readonly LogKey[]): string {
  return [`# ${comment}`, ...keyLines(keys)].map((line) => `${line}\n`).join('')
}

function dateOf(time: number): string {
  return isoTime(time).slice(0, 10)
}
