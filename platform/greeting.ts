// What a start prints for a person: the address, how to get in, and three commands that work as they are printed.
import type { AddressInfo } from 'node:net'
import { isLoopback } from './config.js'
import { type Config, credentialsPath, type RunningPlatform } from './index.js'

export interface Greeted {
  /** A sign-in link; null where none may be printed. */
  readonly link: string | null
  readonly isTerminal: boolean
  /** Whether the first API key is still valid. */
  readonly isKeyGood: boolean
}

/**
 * Secrets are printed only on a terminal of the machine that alone reaches the platform: elsewhere what is printed is kept and
 * read by others, and the text names the file that holds them.
 */
export function greeting(platform: RunningPlatform, config: Config, greeted: Greeted): string {
  const { address, port, family } = platform.listener.address() as AddressInfo
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  const own = config.public_url ?? url
  const file = credentialsPath(config)
  const head = `
svc platform is running at ${url}  (${platform.database}, data in ${config.data_dir})

  sign in         ${greeted.link ?? `${own}/sign-in`}
`
  const foot = `\nAPI description: ${own}/docs      stop: Ctrl+C\n`
  if (!isLoopback(config)) return `${head}  the first API key and the operator token are in ${file}\n${foot}`
  const { api_key } = platform.credentials
  const operator_token =
    config.operator_token === null
      ? shown(greeted, file, 'operator_token', platform.credentials.operator_token)
      : '$SVC_OPERATOR_TOKEN'
  const once = `                  (once, within 15 minutes; ${url}/sign-in prints another)\n`
  const known = `${head}${greeted.link === null ? '' : once}`
  const where = `  ${config.operator_token === null ? 'both are' : 'the key is'} kept in ${file}, readable by you only\n`
  // A command that cannot work is worse than none.
  if (api_key === null || !greeted.isKeyGood) {
    const why = api_key === null ? 'made by another process of this database' : 'rolled or revoked'
    const line = greeted.isTerminal ? operator_token : `in ${file}, readable by you only`
    return `${known}  API key         ${why}: svc key create makes another\n  operator token  ${line}\n${foot}`
  }
  const key = shown(greeted, file, 'api_key', api_key)
  const lines = greeted.isTerminal
    ? `  API key         ${key}\n  operator token  ${operator_token}\n${where}`
    : unshown(file)
  return `${known}${lines}${firstCommands(url, key, operator_token)}${foot}`
}

function unshown(file: string): string {
  return `  API key and operator token are in ${file}, readable by you only\n`
}

/** A secret, or shell text that reads it where a command needs it. */
function shown({ isTerminal }: Greeted, file: string, name: string, secret: string): string {
  return isTerminal ? secret : `$(node -p 'require("${file}").${name}')`
}

function firstCommands(url: string, api_key: string, operator_token: string): string {
  const post = (path: string, body: string) =>
    `curl -s ${url}${path} -H "Authorization: Bearer ${api_key}" -H 'Content-Type: application/json' -d '${body}'`
  const step = '{"task_id":"first-task","step":1,"step_type":"START_NODE","timestamp":"2026-01-05T09:00:00Z"}'
  return `
Try it:

  1. register an agent
     ${post('/api/v1/agents', '{"agent_key":"my-agent","owner_id":"me","purpose":"a first try"}')}

  2. log its first step
     ${post('/api/v1/logs', step)}

  3. ask whether the log has been altered
     curl -s ${url}/api/v1/tasks/first-task/verify -H "Authorization: Bearer ${operator_token}"
`
}
