// `svc-platform new-incarnation` for a person.
import type { Writable } from 'node:stream'
import { restartLogs } from './commands/restart-log.js'
import { onLog } from './operator.js'

export interface IncarnationOptions {
  readonly reason: string
  readonly org?: string
}

/** Returns the exit code. */
export function newIncarnation(
  { reason, org }: IncarnationOptions,
  env: NodeJS.ProcessEnv,
  out: Writable,
  err: Writable,
) {
  return onLog(env, err, async ({ db, signer, log_host }) => {
    for (const { origin, signed, size } of await restartLogs(
      { db, signer, log_host, clock: Date.now },
      org ?? null,
      reason,
    ))
      out.write(`${origin}: goes on from ${size} entries; ${signed} were signed for before\n`)
    out.write('tell those who trust this log: its checkpoints have another name and key from now on\n')
  })
}
