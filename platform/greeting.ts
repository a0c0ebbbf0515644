// The text that a start prints: the address, how to sign in, and three commands that work as printed.
import { isLoopback } from './config.js'
import { type Config, credentialsPath, type RunningPlatform } from './index.js'
import { addressOf } from './listener.js'

interface Greeted {
  /** A sign-in link; null when it must not be printed. */
  readonly link: string | null
  readonly isTerminal: boolean
  /** True if the first API key is still valid. */
  readonly isKeyValid: boolean
}

/**
 * Secrets are printed only on a terminal of a platform on loopback: other output may be stored or read by others. There the
 * text names the file with the secrets.
 */
export function greeting(platform: RunningPlatform, config: Config, greeted: Greeted): string {
  const url = addressOf(platform.listener)
  const own = config.public_url ?? url
  const file = credentialsPath(config)
  const head = `
svc platform is running at ${url}  (${databases[platform.database]}, data in ${config.data_dir})

  sign in         ${greeted.link ?? `as ${config.owner_email} at ${own}/sign-in`}
`
  const foot = `\nAPI description: ${own}/docs      stop: Ctrl+C\n`
  if (!isLoopback(config)) return `${head}${unshown(file)}${foot}`
  const { api_key } = platform.credentials
  const operator_token =
    config.operator_token === null
      ? shown(greeted, file, 'operator_token', platform.credentials.operator_token)
      : '$SVC_OPERATOR_TOKEN'
  const once = `                  (valid once, for 15 minutes; ${url}/sign-in prints a new link here)\n`
  const known = `${head}${greeted.link === null ? '' : once}`
  const where = `  stored in       ${file} (only you can read it)\n`
  // Without a valid key the commands would fail, and are not printed.
  if (api_key === null || !greeted.isKeyValid) {
    const why = api_key === null ? 'created by another process of this database' : 'rolled or revoked'
    const line = greeted.isTerminal ? operator_token : `in ${file} (only you can read it)`
    return `${known}  API key         ${why}: create one with \`npx --no-install svc key create NAME\`\n  operator token  ${line}\n${foot}`
  }
  const key = shown(greeted, file, 'api_key', api_key)
  const lines = greeted.isTerminal
    ? `  API key         ${key}  (for agents)\n  operator token  ${operator_token}  (for you)\n${where}`
    : unshown(file)
  return `${known}${lines}${firstCommands(url, key, operator_token)}${foot}`
}

const databases = { pglite: 'embedded database', postgresql: 'PostgreSQL' }

function unshown(file: string): string {
  return `  API key and operator token are in ${file} (only you can read it)\n`
}

/** A secret, or shell text that reads it from the file. */
function shown({ isTerminal }: Greeted, file: string, name: string, secret: string): string {
  return isTerminal ? secret : `$(node -p 'require("${file}").${name}')`
}

function firstCommands(url: string, api_key: string, operator_token: string): string {
  const post = (path: string, body: string) =>
    `curl -s ${url}${path} -H "Authorization: Bearer ${api_key}" -H 'Content-Type: application/json' -d '${body}'`
  const step =
    '{"agent_key":"my-agent","task_id":"first-task","step":1,"step_type":"task.start","timestamp":"2026-01-05T09:00:00Z"}'
  return `
Try it:

  1. register an agent
     ${post('/api/v1/agents', '{"agent_key":"my-agent","owner_id":"me","purpose":"a first try"}')}

  2. log the first step of a task
     ${post('/api/v1/logs', step)}

  3. verify that nothing in the log of the task was altered
     curl -s ${url}/api/v1/tasks/first-task/verify -H "Authorization: Bearer ${operator_token}"
`
}
