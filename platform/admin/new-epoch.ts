// `svc-platform new-epoch`.
import type { Writable } from 'node:stream'
import { type RestartedLog, restartLogs } from '../log/publish/commands/restart-log.js'
import { onLog } from './operator.js'
import { trustText } from './rotate-key.js'

interface EpochOptions {
  readonly reason: string
  readonly org?: string
  readonly acceptChangedEntries?: boolean
}

/** Returns the exit code. */
export function newEpoch(options: EpochOptions, env: NodeJS.ProcessEnv, out: Writable, err: Writable) {
  return onLog(env, err, async ({ config, db, signer, log_host }) => {
    const { reason, org = null, acceptChangedEntries: accept_changed = false } = options
    const parts = { db, signer, log_host, clock: Date.now, anchors: config.anchors }
    const restarted = await restartLogs(parts, org, { reason, accept_changed })
    for (const log of restarted) out.write(restartedText(log))
    out.write(
      'the checkpoints have a new origin: send these lines of the trust policy to everyone who verifies the log\n\n',
    )
    for (const { origin, org_id } of restarted) out.write(trustText(origin, signer.keysOf(log_host, org_id)))
  })
}

function restartedText({ origin, size, signed, missing, kept, is_changed }: RestartedLog): string {
  const lines = [`${origin}: continues from ${size} entries; ${signed} were signed before`]
  const left = signed - missing
  if (missing > 0) lines.push(`  ${missing} signed entries are missing`)
  if (signed > 0) lines.push(`  the first ${kept} entries are as they were signed`)
  if (is_changed) lines.push('  signed entries have changed; the log records that this was accepted')
  else if (kept < left)
    lines.push(`  the ${left - kept} entries after them could not be compared: no checkpoint of them is left`)
  return lines.map((line) => `${line}\n`).join('')
}
