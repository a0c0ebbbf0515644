// `svc-platform admin …`: uses the admin socket of a platform that runs on an embedded database, else the database.
import type { Writable } from 'node:stream'
import { type Config, readConfig } from '../config.js'
import { PlatformError } from '../errors.js'
import type { AdminOperation } from './operations.js'
import { onDatabase } from './operator.js'
import { askAdminSocket } from './socket.js'

/** Returns the exit code. */
export async function runAdmin(
  operation: AdminOperation,
  email: string,
  env: NodeJS.ProcessEnv,
  out: Writable,
  err: Writable,
): Promise<0 | 1> {
  const { value: config, errors } = readConfig(env)
  const isEmbedded = config.database_url === null && errors.length === 0
  const answer = isEmbedded ? await askAdminSocket(config.data_dir, { operation: operation.name, email }) : null
  if (answer !== null && 'message' in answer) {
    err.write(`svc-platform: ${answer.message}\n`)
    return 1
  }
  if (answer !== null) return print(answer.lines, out)
  return onDatabase(
    env,
    err,
    async ({ db }) => {
      print(await operation.run({ db, clock: Date.now, url: () => addressOf(config), keyFile: null }, email), out)
    },
    (error) => (isEmbedded ? unreachable(error) : error),
  )
}

function print(lines: readonly string[], out: Writable): 0 {
  out.write(lines.map((line) => `${line}\n`).join(''))
  return 0
}

/** Explains the CONFLICT of a data directory whose process did not answer at the admin socket. */
function unreachable(error: unknown): unknown {
  if (!(error instanceof PlatformError) || error.code !== 'CONFLICT') return error
  const why =
    process.platform === 'win32'
      ? 'on Windows the platform must be stopped for this command'
      : 'the process does not answer at its admin socket: stop it, or wait until its command has finished, and run this command again'
  return new PlatformError('CONFLICT', `${error.message}; ${why}`, { cause: error })
}

/** The address of a platform with this configuration while it runs. */
function addressOf({ public_url, host, port }: Config): string {
  const reached = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
  return public_url ?? `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}
