// `svc-platform rotate-key` for a person.
import type { Writable } from 'node:stream'
import { keyLines } from '@svc/proof'
import type { LogKey } from '@svc/schemas'
import { withUnscopedTransaction } from '../db/db.js'
import { announceKey } from '../log/publish/commands/announce-key.js'
import { publicKeyOf, rotateKeys, signingKeysIn } from '../log/publish/signing-keys.js'
import { setLogKeyUnscoped } from '../log/publish/store/checkpoints.js'
import { onLog } from './operator.js'

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
    const { seed } = rotateKeys(config.log_key_dir, now, now + days * day)
    await withUnscopedTransaction(db, (tx) => setLogKeyUnscoped(tx, publicKeyOf(seed)))
    const rotation = { now, reason, previous, until: now + days * day }
    for (const { origin, org_id } of await announceKey({ db, signer, log_host }, rotation))
      out.write(trustText(`${origin} signs with a new key`, signer.keysOf(log_host, org_id)))
    const along = days === 0 ? 'from now on only the new key signs' : `until ${iso(rotation.until)} both keys sign`
    out.write(`# give these lines to those who trust this log: ${along}\n`)
  })
}

/** The keys of a log as a trust policy takes them, under a remark of what they are for. */
export function trustText(remark: string, keys: readonly LogKey[]): string {
  return [`# ${remark}`, ...keyLines(keys)].map((line) => `${line}\n`).join('')
}

function iso(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
