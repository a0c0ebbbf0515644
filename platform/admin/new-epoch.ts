// `svc-platform new-incarnation` for a person.
import type { Writable } from 'node:stream'
import { type RestartedLog, restartLogs } from '../log/publish/commands/restart-log.js'
import { onLog } from './operator.js'
import { trustText } from './rotate-key.js'

export interface IncarnationOptions {
  readonly reason: string
  readonly org?: string
  readonly acceptChangedEntries?: boolean
}

/** Returns the exit code. */
export function newIncarnation(options: IncarnationOptions, env: NodeJS.ProcessEnv, out: Writable, err: Writable) {
  return onLog(env, err, async ({ config, db, signer, log_host }) => {
    const { reason, org = null, acceptChangedEntries: accept_changed = false } = options
    const parts = { db, signer, log_host, clock: Date.now, anchors: config.anchors }
    const all = await restartLogs(parts, org, { reason, accept_changed })
    for (const restarted of all) out.write(restartedText(restarted))
    out.write('give these lines to those who trust the log: its checkpoints have another name from now on\n\n')
    for (const { origin, org_id } of all) out.write(trustText(origin, signer.keysOf(log_host, org_id)))
  })
}

function restartedText({ origin, size, signed, gone, kept, is_changed }: RestartedLog): string {
  const lines = [`${origin}: goes on from ${size} entries; ${signed} were signed for before`]
  const left = signed - gone
  if (gone > 0) lines.push(`  ${gone} entries that were signed for are gone`)
  if (signed > 0) lines.push(`  the first ${kept} entries are as they were signed`)
  if (is_changed) lines.push('  entries that were signed for have changed, and the log says that this was accepted')
  else if (kept < left) lines.push(`  no checkpoint is left to compare the ${left - kept} entries after them with`)
  return lines.map((line) => `${line}\n`).join('')
}
