// The configuration of the GitHub App, from environment variables that the program passes in.
import { createPrivateKey } from 'node:crypto'

export interface AppConfig {
  readonly app_id: number
  /** PEM. */
  readonly private_key: string
  /** The current secret, and the previous one during a replacement. */
  readonly webhook_secrets: readonly string[]
  /** Null: the first workspace. */
  readonly workspace: string | null
  /** Lower-case names of accounts besides the owner of the App. */
  readonly accounts: readonly string[]
}

interface AppConfigReading {
  /** Null when the App is off, or when `errors` is not empty. */
  readonly value: AppConfig | null
  /** A message for each variable that is missing or invalid. */
  readonly errors: readonly string[]
}

type Variables = Readonly<Record<string, string | undefined>>

const required = ['SVC_GITHUB_APP_ID', 'SVC_GITHUB_APP_PRIVATE_KEY', 'SVC_GITHUB_APP_WEBHOOK_SECRET'] as const
const optional = ['SVC_GITHUB_APP_WORKSPACE', 'SVC_GITHUB_APP_ACCOUNTS'] as const

/** Reads the configuration of the App; without any of its variables the App is off. Never throws. */
export function readAppConfig(env: Variables): AppConfigReading {
  const textOf = (name: string) => (env[name] ?? '').trim()
  const given = [...required, ...optional].filter((name) => textOf(name) !== '')
  if (given.length === 0) return { value: null, errors: [] }
  const missing = required.filter((name) => textOf(name) === '')
  const errors = missing.map(
    (name) => `${name} is missing: set it too, or remove ${given.join(', ')} to run without the GitHub App`,
  )
  const fail = (name: string, problem: string) => {
    if (textOf(name) !== '') errors.push(`${name} ${problem}`)
  }
  const app_id = textOf('SVC_GITHUB_APP_ID')
  if (!/^[1-9]\d{0,14}$/.test(app_id))
    fail(
      'SVC_GITHUB_APP_ID',
      `must be the App ID that the settings of the App show, such as 123456, found \`${shown(app_id)}\``,
    )
  const private_key = privateKeyIn(textOf('SVC_GITHUB_APP_PRIVATE_KEY'))
  if (private_key === null)
    fail(
      'SVC_GITHUB_APP_PRIVATE_KEY',
      'must be an RSA private key: the .pem file that GitHub gives, with line breaks or `\\n` for them, or that file in base64',
    )
  const secrets = textOf('SVC_GITHUB_APP_WEBHOOK_SECRET').split(/\s+/)
  const problem = secretsProblem(secrets)
  if (problem !== null) fail('SVC_GITHUB_APP_WEBHOOK_SECRET', problem)
  const workspace = textOf('SVC_GITHUB_APP_WORKSPACE')
  if (!/^org_[0-9a-f]+$/.test(workspace))
    fail('SVC_GITHUB_APP_WORKSPACE', `must be the id of a workspace, such as org_1f, found \`${shown(workspace)}\``)
  const accounts = textOf('SVC_GITHUB_APP_ACCOUNTS')
    .split(/[\s,]+/)
    .filter((name) => name !== '')
  for (const name of accounts.filter((one) => !/^[A-Za-z0-9][\w-]{0,99}$/.test(one)))
    errors.push(
      `SVC_GITHUB_APP_ACCOUNTS must list names of GitHub accounts, separated by spaces, found \`${shown(name)}\``,
    )
  if (errors.length > 0 || private_key === null) return { value: null, errors }
  const value = {
    app_id: Number(app_id),
    private_key,
    webhook_secrets: secrets,
    workspace: workspace === '' ? null : workspace,
    accounts: accounts.map((name) => name.toLowerCase()),
  }
  return { value, errors: [] }
}

function shown(text: string): string {
  return text.slice(0, 40).replaceAll(/[^!-~]/g, '?')
}

/** The key as PEM; null for text that is not an RSA private key in PKCS #1 or PKCS #8. */
function privateKeyIn(text: string): string | null {
  const isPem = text.includes('-----BEGIN')
  const decoded = isPem ? text : Buffer.from(text, 'base64').toString('latin1')
  const pem = `${decoded.replaceAll('\\n', '\n').replaceAll('\r', '').trim()}\n`
  try {
    const key = createPrivateKey(pem)
    return key.asymmetricKeyType === 'rsa' ? key.export({ type: 'pkcs8', format: 'pem' }).toString() : null
  } catch {
    return null
  }
}

const minSecretLength = 16
/** Probot uses it when no secret is set, so that everyone knows it. */
const publicSecret = 'development'

function secretsProblem(secrets: readonly string[]): string | null {
  if (secrets.length > 2)
    return `must be one secret, or \`NEW OLD\` while it is replaced, found ${secrets.length} of them`
  if (secrets.includes(publicSecret))
    return 'is a default that everyone knows: make one with `openssl rand -hex 32`, and set it here and in the settings of the App'
  if (secrets.some((secret) => secret.length < minSecretLength))
    return `must have at least ${minSecretLength} characters: make one with \`openssl rand -hex 32\`, and set it here and in the settings of the App`
  return null
}
