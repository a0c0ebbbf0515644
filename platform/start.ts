// Starting the platform for a person: what to do next is on the screen.
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import {
  type Config,
  createPlatform,
  credentialsPath,
  isLoopback,
  PlatformError,
  type RunningPlatform,
  readConfig,
} from './index.js'
import { version } from './version.js'

/** Runs until told to stop; returns the exit code. */
export async function start(env: NodeJS.ProcessEnv, out: Writable, err: Writable): Promise<number> {
  const { value: config, errors } = readConfig(env)
  if (errors.length > 0) {
    err.write(`svc-platform cannot start:\n${errors.map((line) => `  ${line}\n`).join('')}`)
    return 1
  }
  out.write(`svc platform ${version}: ${opening(config)}\n`)
  try {
    const platform = await createPlatform(config, Date.now, (text) => out.write(`${text}\n`))
    await listen(platform, config).catch(async (error) => {
      await platform.close()
      throw error
    })
    const link = isLoopback(config) && config.smtp_url === null ? await platform.ownerLink() : null
    out.write(greeting(platform, config, link, await platform.isFirstKeyGood()))
    await untilToldToStop()
    out.write('stopping: answering what has been accepted\n')
    await platform.close()
    return 0
  } catch (error) {
    err.write(`svc-platform cannot start: ${explain(error, config)}\n`)
    return 1
  }
}

/** What takes the first seconds of a start. */
function opening({ database_url, data_dir }: Config): string {
  if (database_url !== null) return `connecting to the database at ${new URL(database_url).host}`
  const folder = join(data_dir, 'pg')
  return existsSync(folder) ? `opening the database in ${folder}` : `first start: making a database in ${folder}`
}

function listen({ listener }: RunningPlatform, config: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(config.port, config.host, () => resolve())
  })
}

function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
}

function explain(error: unknown, config: Config): string {
  const { code, message } = error as { code?: string; message?: string }
  if (code === 'EADDRINUSE') return `port ${config.port} is taken: stop what uses it, or set SVC_PORT`
  if (error instanceof PlatformError && error.code === 'UNAVAILABLE')
    return 'the database at SVC_DATABASE_URL does not answer'
  return message ?? String(error)
}

/**
 * The address, the key, and three commands that work as they are printed. Secrets are printed where only this machine is
 * reached: elsewhere what is printed is kept and read by others.
 */
function greeting(
  { listener, credentials, database }: RunningPlatform,
  config: Config,
  link: string | null,
  is_key_good: boolean,
): string {
  const { address, port, family } = listener.address() as AddressInfo
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  const own = config.public_url ?? url
  const head = `
svc platform is running at ${url}  (${database}, data in ${config.data_dir})

  sign in         ${link ?? `${own}/sign-in`}
`
  const foot = `\nAPI description: ${own}/docs      stop: Ctrl+C\n`
  if (!isLoopback(config))
    return `${head}  the first API key and the operator token are in ${credentialsPath(config)}\n${foot}`
  const { api_key } = credentials
  const operator_token = config.operator_token === null ? credentials.operator_token : '$SVC_OPERATOR_TOKEN'
  const post = (path: string, body: string) =>
    `curl -s ${url}${path} -H 'Authorization: Bearer ${api_key}' -H 'Content-Type: application/json' -d '${body}'`
  const step = '{"task_id":"first-task","step":1,"step_type":"START_NODE","timestamp":"2026-01-05T09:00:00Z"}'
  const once = `                  (once, within 15 minutes; ${url}/sign-in prints another)\n`
  const known = `${head}${link === null ? '' : once}`
  // A command that cannot work is worse than none.
  if (!is_key_good)
    return `${known}  API key         rolled or revoked: svc key create makes another\n  operator token  ${operator_token}\n${foot}`
  return `${known}  API key         ${api_key}
  operator token  ${operator_token}
  both are kept in ${credentialsPath(config)}, readable by you only

Try it:

  1. register an agent
     ${post('/api/v1/agents', '{"agent_key":"my-agent","owner_id":"me","purpose":"a first try"}')}

  2. log its first step
     ${post('/api/v1/logs', step)}

  3. ask whether the log has been altered
     curl -s ${url}/api/v1/tasks/first-task/verify -H "Authorization: Bearer ${operator_token}"
${foot}`
}
