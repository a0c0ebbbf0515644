// Every environment variable of svc with its meaning. The engine, the command and the platform check names against this list.
import { didYouMean } from './check/nearest.js'

/** Name to meaning; complete for all code of this repository. */
export const variables: Readonly<Record<string, string>> = {
  SVC_AGENT_KEY: 'the agent whose policies `svc serve` fetches from the platform',
  SVC_ALLOW_PRIVATE_TARGETS:
    'private networks that may be called, such as `10.1.0.0/16`; `1` for all, also without TLS',
  SVC_ANCHORS: 'where checkpoints are also kept: `file:FOLDER`, `git:FOLDER` or an address',
  SVC_API_KEY: 'the API key for the platform',
  SVC_API_URL: 'the address of the platform',
  SVC_ASK_TIMEOUT_SECONDS:
    'seconds after which a question to a person whose step is not recorded is reported; `0` for never, default 604800',
  SVC_ARCHIVE_DIR: 'the folder for bundles of pruned entries',
  SVC_ARCHIVE_ENTRIES: 'the maximum number of entries in one archive',
  SVC_CACHE_DIR: 'the folder for the last valid policies, for an outage of the platform',
  SVC_CHECKPOINT_SECONDS: 'seconds between checkpoints of a growing log; `0` publishes none',
  SVC_CONFIG_DIR: 'the folder for the session of `svc login`',
  SVC_DATABASE_URL: 'a PostgreSQL 14+ server instead of the embedded database',
  SVC_DATA_DIR: 'the folder for the embedded database, its lock, the local credentials, traces and the memory index',
  SVC_DRAIN_SECONDS: 'seconds for which a stopping platform still answers, with /readyz 503',
  SVC_ENCRYPTION_KEY: '32 bytes in base64 or hex that encrypt secrets; required with a server',
  SVC_FAIL_CLOSED: '`1` blocks every step while no policy is in effect',
  SVC_GITHUB_API_URL: 'the GitHub REST API, for GitHub Enterprise Server',
  SVC_GITHUB_APP_ACCOUNTS: 'accounts besides the owner of the GitHub App whose installations are accepted',
  SVC_GITHUB_APP_ID: 'the number of the GitHub App',
  SVC_GITHUB_APP_PRIVATE_KEY: 'the private key of the GitHub App: PEM, or base64 of it',
  SVC_GITHUB_APP_WEBHOOK_SECRET: 'the webhook secret of the GitHub App; `NEW OLD` while it is replaced',
  SVC_GITHUB_APP_WORKSPACE: 'the workspace that the installations of the GitHub App belong to; default: the first one',
  SVC_GITHUB_FALLBACK_TOKEN: 'a GitHub token that reads public repositories for callers without a token of their own',
  SVC_GIT_FILE_ROOTS: 'folders whose Git repositories may be connected as `file://` URLs',
  SVC_HOST: 'the address that the platform listens on',
  SVC_INCIDENT_FORMAT:
    '`behavior` delivers incidents as the steps that raised them, with the incident in `meta`; default `incident`',
  SVC_INCIDENT_LOCATION:
    'where `svc serve` delivers incidents: `trace` (default), `stdout`, `file:PATH`, `api` (the platform) or an address',
  SVC_LOCAL_TOKEN: 'the token that callers of `svc serve` must send',
  SVC_LOG_FORMAT: '`entry` writes traces as bodies of POST /api/v1/logs; default `behavior`',
  SVC_LOG_HOST: 'the name of this installation in checkpoints',
  SVC_LOG_KEY_DIR: 'the folder for the key that signs checkpoints',
  SVC_LOG_KEY_LOST:
    '`1` when no process has the signing key any more: entries are taken, and no checkpoint covers them',
  SVC_LOG_LEVEL: 'how much the platform logs, from `trace` to `silent`',
  SVC_LOG_LOCATION:
    'where `svc serve` writes traces: `auto` (default), `api` (the platform), `file:PATH`, `stdout`, `otlp:URL` or `none`',
  SVC_LOG_PAYLOADS: '`metadata_only` leaves inputs, outputs and all other content out of traces; default `all`',
  SVC_MAIL_FROM: 'the sender of mails',
  SVC_OPERATOR_TOKEN: 'the operator token, instead of a generated one',
  SVC_OWNER_EMAIL: 'the owner of the first workspace',
  SVC_POLICY_TTL_SECONDS: 'seconds for which a local engine may use fetched policies',
  SVC_PORT: 'the port that the platform listens on',
  SVC_PUBLIC_URL: 'the address of the platform in mails',
  SVC_RATE_LIMIT_ADDRESS: 'attempts to sign in and wrong credentials per network address in 15 minutes',
  SVC_RATE_LIMIT_KEY: 'requests per API key in a minute',
  SVC_RATE_LIMIT_MAILBOX: 'sign-in links per mailbox in 15 minutes',
  SVC_RECORD_TIMEOUT_SECONDS:
    'seconds after which a decision whose step is not recorded is reported; `0` for never, default 600',
  SVC_REGISTRATION_CAP: 'accounts beyond this number are waitlisted',
  SVC_RESYNC_SECONDS: 'seconds between two readings of a branch of manifests',
  SVC_SEED_API_KEY: 'an API key to admit at the start',
  SVC_SMTP_URL: 'the mail server',
  SVC_SPOOL_MIB: 'the disk for traces of `svc serve` that wait for the platform, in MiB',
  SVC_TAKEOVER_SECONDS:
    'seconds without a sign of life after which a process is taken for killed, and others run its jobs',
  SVC_TASK_TIMEOUT_SECONDS: 'seconds after which a task without an end counts as unfinished',
  SVC_TRUSTED_PROXIES: 'addresses and networks of proxies whose `X-Forwarded-For` is trusted',
  SVC_WITNESSES: 'the witnesses of checkpoints, each as `URL#KEY`',
}

/** One warning for each unknown variable that begins with `SVC_`: a misspelt one would have no effect, silently. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.keys(variables)
  const unknown = Object.keys(env).filter((name) => name.startsWith('SVC_') && !known.includes(name))
  return unknown.sort().map((name) => {
    const shown = name.slice(0, 100).replaceAll(/[^!-~]/g, '?')
    return `the environment variable \`${shown}\` is unknown and has no effect${didYouMean(name, known)}`
  })
}
