// The configuration of a platform. The only module that reads the environment.
import { isIP } from 'node:net'
import { isAbsolute, join, resolve } from 'node:path'
import { parseAddress } from './mail/address.js'
import { isLoopbackName } from './outgoing/targets.js'

export interface Config {
  /** The folder of the embedded database, its lock and the local credentials. */
  readonly data_dir: string
  /** The URL of a PostgreSQL server; null means the embedded database. */
  readonly database_url: string | null
  readonly host: string
  readonly port: number
  readonly seed_api_key: string | null
  readonly operator_token: string | null
  readonly task_timeout_seconds: number
  /** A process of this installation that is silent for so long is taken for killed: others run its jobs. */
  readonly takeover_seconds: number
  /** For how long a stopping platform still answers, so that load balancers notice. */
  readonly drain_seconds: number
  readonly policy_ttl_seconds: number
  readonly log_level: string
  /** Keys of 32 bytes in base64 or hex; with null an install with an embedded database creates one. */
  readonly encryption_key: string | null
  /** The address at which people reach the platform, for links in mails; null means the address it listens on. */
  readonly public_url: string | null
  /** Addresses and networks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trusted_proxies: readonly string[]
  /** Private networks that outgoing calls may reach. */
  readonly private_targets: 'all' | readonly string[]
  readonly smtp_url: string | null
  readonly mail_from: string
  /** The address of the owner of the first workspace. */
  readonly owner_email: string
  readonly rate_limits: RateLimits
  /** Accounts beyond this many are waitlisted; null sets no limit. */
  readonly registration_cap: number | null
  /** The host name of this installation in checkpoints; null lets the first start choose it. */
  readonly log_host: string | null
  /** The folder of the signing key for checkpoints and of its signed state, outside the database. */
  readonly log_key_dir: string
  /** True if no process has the signing key of the database any more. */
  readonly is_log_key_lost: boolean
  /** The folder of the bundles of pruned entries. */
  readonly archive_dir: string
  /** The maximum number of entries of one archive. */
  readonly archive_entries: number
  /** The environment of the programs that the platform starts, without its own variables. */
  readonly inherited: Readonly<Record<string, string>>
  /** Seconds between checkpoints of a growing log; 0 publishes no checkpoints. */
  readonly checkpoint_seconds: number
  /** The witnesses that cosign checkpoints: `URL#KEY` each. */
  readonly witnesses: readonly string[]
  /** Further copies of checkpoints: `file:FOLDER`, `git:FOLDER` or a URL each. */
  readonly anchors: readonly string[]
  /** The GitHub REST API, without a slash at its end. */
  readonly github_api_url: string
  /** Seconds between two readings of a branch of manifests. */
  readonly resync_seconds: number
  /** Reads public repositories of callers without a token of their own. */
  readonly github_fallback_token: string | null
  /** Folders whose repositories may be connected as `file://` URLs. */
  readonly git_file_roots: readonly string[]
}

/** 0 sets no limit. */
export interface RateLimits {
  /** Requests with one API key in a minute. */
  readonly key: number
  /** Attempts to sign in from one network address in 15 minutes. */
  readonly address: number
  /** Sign-in links to one mailbox in 15 minutes. */
  readonly mailbox: number
}

interface ConfigReading {
  readonly value: Config
  /** A message for each invalid variable, whose value is then its default. */
  readonly errors: readonly string[]
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

const publicAddress = { test: (text: string) => /^https?:\/\/[^/\s]+\/?$/i.test(text) && URL.canParse(text) }

/** A token is sent there: without TLS to this machine only. */
const apiAddress = {
  test: (text: string) =>
    /^(https:\/\/[^/\s?#@]+|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?)(\/[\w./-]*)?$/i.test(text) &&
    URL.canParse(text),
}

const mailAddress = { test: (text: string) => parseAddress(text) !== null }

/** Reads the configuration from environment variables; never throws. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): ConfigReading {
  const { textOf, checked, whole, words, networks, errors } = variablesOf(env)
  const log_level = textOf('SVC_LOG_LEVEL') ?? 'info'
  if (!logLevels.includes(log_level))
    errors.push(`SVC_LOG_LEVEL must be one of ${logLevels.join(', ')}, found \`${log_level}\``)
  const data_dir = resolve(textOf('SVC_DATA_DIR') ?? 'data')
  const public_url = checked('SVC_PUBLIC_URL', publicAddress, 'an http:// or https:// URL without a path')
  const githubApi =
    checked('SVC_GITHUB_API_URL', apiAddress, 'an https:// URL, such as https://HOST/api/v3') ??
    'https://api.github.com'
  const roots = words('SVC_GIT_FILE_ROOTS')
  if (roots.some((root) => !isAbsolute(root))) errors.push('SVC_GIT_FILE_ROOTS must list absolute folders')
  const value: Config = {
    data_dir,
    database_url: checked('SVC_DATABASE_URL', /^postgres(ql)?:\/\//, 'a postgres:// URL'),
    host: textOf('SVC_HOST') ?? '127.0.0.1',
    port: whole('SVC_PORT', 8080, 65_535),
    seed_api_key: checked(
      'SVC_SEED_API_KEY',
      /^SvcKey-[A-Za-z0-9_-]{16,200}$/,
      '`SvcKey-` and 16 to 200 url-safe characters',
    ),
    operator_token: checked('SVC_OPERATOR_TOKEN', /^[!-~]{32,200}$/, 'a token of 32 to 200 printable characters'),
    task_timeout_seconds: whole('SVC_TASK_TIMEOUT_SECONDS', 3600, 31_536_000),
    takeover_seconds: whole('SVC_TAKEOVER_SECONDS', 20, 3600, 5),
    drain_seconds: whole('SVC_DRAIN_SECONDS', 0, 300),
    policy_ttl_seconds: whole('SVC_POLICY_TTL_SECONDS', 300, 86_400),
    encryption_key: textOf('SVC_ENCRYPTION_KEY'),
    // In the form of the Origin header: lower case, without a default port.
    public_url: public_url === null ? null : new URL(public_url).origin,
    trusted_proxies: networks('SVC_TRUSTED_PROXIES'),
    private_targets: textOf('SVC_ALLOW_PRIVATE_TARGETS') === '1' ? 'all' : networks('SVC_ALLOW_PRIVATE_TARGETS'),
    smtp_url: checked('SVC_SMTP_URL', /^smtps?:\/\/\S+$/, 'an smtp:// or smtps:// URL'),
    mail_from: textOf('SVC_MAIL_FROM') ?? 'svc <svc@localhost>',
    owner_email: parseAddress(checked('SVC_OWNER_EMAIL', mailAddress, 'a mail address') ?? '') ?? 'owner@localhost',
    rate_limits: {
      key: whole('SVC_RATE_LIMIT_KEY', 0, 1_000_000),
      address: whole('SVC_RATE_LIMIT_ADDRESS', 60, 1_000_000),
      mailbox: whole('SVC_RATE_LIMIT_MAILBOX', 5, 1_000_000),
    },
    registration_cap: textOf('SVC_REGISTRATION_CAP') === null ? null : whole('SVC_REGISTRATION_CAP', 0, 1_000_000_000),
    log_level: logLevels.includes(log_level) ? log_level : 'info',
    log_host: checked('SVC_LOG_HOST', /^[a-z0-9]([a-z0-9.-]{0,252})$/, 'a host name in lower case'),
    log_key_dir: resolve(textOf('SVC_LOG_KEY_DIR') ?? join(data_dir, 'log')),
    is_log_key_lost: textOf('SVC_LOG_KEY_LOST') === '1',
    archive_dir: resolve(textOf('SVC_ARCHIVE_DIR') ?? join(data_dir, 'archive')),
    archive_entries: Math.max(1, whole('SVC_ARCHIVE_ENTRIES', 250_000, 1_000_000)),
    witnesses: words('SVC_WITNESSES'),
    anchors: words('SVC_ANCHORS'),
    resync_seconds: Math.max(1, whole('SVC_RESYNC_SECONDS', 300, 86_400)),
    github_api_url: new URL(githubApi).href.replace(/\/+$/, ''),
    github_fallback_token: checked('SVC_GITHUB_FALLBACK_TOKEN', /^[!-~]{1,1000}$/, 'a token without spaces'),
    git_file_roots: roots,
    inherited: inheritedFrom(env),
    checkpoint_seconds: whole('SVC_CHECKPOINT_SECONDS', 10, 3600),
  }
  return { value, errors }
}

/** Readers of variables by kind; each adds a message to `errors` for an invalid value. */
function variablesOf(env: Readonly<Record<string, string | undefined>>) {
  const errors: string[] = []
  const textOf = (name: string) => (env[name] === undefined || env[name] === '' ? null : env[name])
  const checked = (name: string, pattern: Pick<RegExp, 'test'>, wanted: string) => {
    const value = textOf(name)
    if (value === null || pattern.test(value)) return value
    errors.push(`${name} must be ${wanted}`)
    return null
  }
  const whole = (name: string, fallback: number, max: number, min = 0) => {
    const value = textOf(name)
    if (value === null) return fallback
    const number = Number(value)
    if (Number.isInteger(number) && number >= min && number <= max) return number
    errors.push(`${name} must be a whole number from ${min} to ${max}, found \`${value}\``)
    return fallback
  }
  const words = (name: string) => (textOf(name) ?? '').split(/\s+/).filter((text) => text !== '')
  const networks = (name: string) =>
    words(name).filter((text) => {
      const isValid = isNetwork(text)
      if (!isValid) errors.push(`${name} must list addresses and networks such as 10.0.0.0/8, found \`${text}\``)
      return isValid
    })
  return { textOf, checked, whole, words, networks, errors }
}

/** The variables that started programs inherit. */
function inheritedFrom(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = ['PATH', 'HOME', 'SSH_AUTH_SOCK', 'HTTPS_PROXY', 'SystemRoot']
  const found = names.map((name) => [name, env[name]])
  return Object.fromEntries(found.filter(([, value]) => value !== undefined))
}

function isNetwork(text: string): boolean {
  const [address = '', length = '0', ...rest] = text.split('/')
  const bits = { 4: 32, 6: 128 }[isIP(address)] ?? -1
  return rest.length === 0 && /^\d{1,3}$/.test(length) && Number(length) <= bits
}

/**
 * True while only its own machine can reach the platform. A public address beyond loopback, or a trusted proxy, means that others
 * reach it through a proxy on this machine, also while it listens on loopback.
 */
export function isLoopback({ host, public_url, trusted_proxies }: Config): boolean {
  const isPublic = public_url !== null && !isLoopbackName(new URL(public_url).hostname)
  return ['127.0.0.1', '::1', 'localhost'].includes(host) && !isPublic && trusted_proxies.length === 0
}
