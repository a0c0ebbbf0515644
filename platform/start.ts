// The command `svc-platform start`.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { unknownVariables, untilStopped } from '@svc/engine/parts'
import { productVersion } from '@svc/schemas'
import { isLoopback } from './config.js'
import { failureText } from './db/failure.js'
import { greeting } from './greeting.js'
import { type Config, createPlatform, type RunningPlatform, readConfig } from './index.js'
import type { ConfigureRoom } from './room.js'

/** Runs until SIGTERM or SIGINT, with the room that `configure` reads from the environment; returns the exit code. */
export async function start(
  env: NodeJS.ProcessEnv,
  out: Writable,
  err: Writable,
  configure: ConfigureRoom,
): Promise<number> {
  for (const warning of unknownVariables(env)) err.write(`warning: ${warning}\n`)
  const { value: config, errors: own } = readConfig(env)
  const { value: room, errors: others } = configure(env)
  const errors = [...own, ...others]
  if (errors.length > 0) {
    err.write(`svc-platform cannot start:\n${errors.map((line) => `  ${line}\n`).join('')}`)
    return 1
  }
  out.write(`svc platform ${productVersion}: ${opening(config)}\n`)
  try {
    const platform = await createPlatform(config, Date.now, (text) => out.write(`${text}\n`), room ?? undefined)
    await listen(platform, config).catch(async (error) => {
      await platform.close()
      throw error
    })
    const stopRequested = untilStopped(env)
    const isTerminal = (out as { isTTY?: boolean }).isTTY === true
    const prints = isTerminal && isLoopback(config) && config.smtp_url === null
    const link = prints ? await platform.ownerLink() : null
    for (const line of platform.not_shared) err.write(`warning: ${line} (docs/several-machines.md)\n`)
    out.write(greeting(platform, config, { link, isTerminal, isKeyValid: await platform.isFirstKeyValid() }))
    if (!isLoopback(config) && config.smtp_url === null) err.write(noMail(config))
    await stopRequested
    out.write('stopping: answering the requests in progress\n')
    await platform.close()
    return 0
  } catch (error) {
    err.write(`svc-platform cannot start: ${explain(error, config)}\n`)
    return 1
  }
}

/** The first step of a start, which takes seconds. */
function opening({ database_url, data_dir }: Config): string {
  if (database_url !== null) return `connecting to the database at ${new URL(database_url).host}`
  const folder = join(data_dir, 'pg')
  return existsSync(folder) ? `opening the database in ${folder}` : `first start: creating a database in ${folder}`
}

function listen({ listener }: RunningPlatform, config: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(config.port, config.host, () => resolve())
  })
}

function explain(error: unknown, config: Config): string {
  const { code, message } = error as { code?: string; message?: string }
  if (code === 'EADDRINUSE') return `port ${config.port} is in use: stop the program that uses it, or set SVC_PORT`
  return failureText(error, config) ?? message ?? String(error)
}

/** Off loopback, sign-in links are mailed and never printed: without mail, only the operator can create one. */
function noMail({ owner_email }: Config): string {
  return `warning: SVC_SMTP_URL is not set, so sign-in links cannot be mailed: run \`svc-platform admin sign-in-link EMAIL\`, first for ${owner_email}\n`
}
