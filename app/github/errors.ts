// What GitHub answers instead of a result, as errors with a remedy.
import { quote } from '@svc/engine/parts'
import { SourceError, type SourceFault, secondsToWait } from '@svc/platform'

/**
 * `credential`: GitHub rejects the key of the App; `permission`: the installation does not grant what the request needs;
 * `missing`: not there, or not visible to the App; `rejected`: the request is invalid; `too_large`: more than is read;
 * `rate_limited` and `unavailable` heal by themselves.
 */
export type GithubFault =
  | 'credential'
  | 'permission'
  | 'missing'
  | 'rejected'
  | 'too_large'
  | 'rate_limited'
  | 'unavailable'

/** A request to GitHub that failed. The message names the remedy and contains no credential. */
export class GithubError extends Error {
  readonly code: GithubFault
  /** The status of GitHub's answer; null without an answer. */
  readonly status: number | null
  /** Seconds to wait before the request is sent again; null when GitHub asks for no wait. */
  readonly retry_after: number | null

  constructor(code: GithubFault, message: string, { status = null, retry_after = null }: Extras = {}) {
    super(message)
    this.code = code
    this.status = status
    this.retry_after = retry_after
  }
}

interface Extras {
  readonly status?: number | null
  readonly retry_after?: number | null
}

export interface FailedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

interface Asked {
  readonly method: string
  readonly path: string
  /** ms since 1970, by this machine. */
  readonly now: number
  readonly as: 'app' | 'installation'
}

/** The error of an answer with a status of 400 or more. */
export function faultOf(answer: FailedAnswer, asked: Asked): GithubError {
  const { status } = answer
  const retry_after = secondsToWait(answer.headers, asked.now)
  if (status === 429 || (status === 403 && retry_after !== null))
    return new GithubError('rate_limited', 'the rate limit of GitHub is reached', {
      status,
      retry_after: retry_after ?? 60,
    })
  // The next request uses a new token, which GitHub refuses to give when the installation is gone.
  if (status === 401 && asked.as === 'installation')
    return new GithubError('unavailable', 'GitHub rejects the token of the installation: it was revoked', { status })
  if (status === 401) return new GithubError('credential', credentialProblem(answer, asked), { status })
  const what = `${asked.method} ${quote(asked.path)}`
  if (status === 403) return new GithubError('permission', permissionProblem(answer, what), { status })
  if (status === 404 && asked.as === 'app' && isUnknownApp(answer))
    return new GithubError(
      'credential',
      'GitHub has no App with this id: compare SVC_GITHUB_APP_ID with the settings of the App',
      { status },
    )
  if (status === 404 || status === 410)
    return new GithubError('missing', `GitHub has no such object, or the App may not see it: ${what}`, { status })
  if (status >= 500)
    return new GithubError('unavailable', `GitHub answers with status ${status}`, { status, retry_after })
  return new GithubError('rejected', `GitHub rejects ${what} with status ${status}: ${messageOf(answer)}`, { status })
}

function isUnknownApp({ body }: FailedAnswer): boolean {
  return (body as { message?: unknown } | null)?.message === 'Integration not found'
}

/** GitHub rejects a token of the App that is signed with another key, and one that is not valid at its own time. */
function credentialProblem({ headers }: FailedAnswer, { now }: Asked): string {
  const ahead = Math.round((now - Date.parse(headers.date ?? '')) / 1000)
  if (Math.abs(ahead) > maxSkewSeconds)
    return `the clock of this machine is ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead of' : 'behind'} the clock of GitHub: set it, for example with NTP`
  return 'GitHub rejects the key of the App: compare SVC_GITHUB_APP_ID with the settings of the App, and set SVC_GITHUB_APP_PRIVATE_KEY to a key that they list'
}

const maxSkewSeconds = 30

function permissionProblem({ headers, body }: FailedAnswer, what: string): string {
  const needed = headers['x-accepted-github-permissions'] ?? ''
  const wanted = /^[\w=;, -]{1,200}$/.test(needed) ? `the permission ${quote(needed)}` : 'a permission'
  const settings =
    'grant it in the settings of the App under `Permissions & events`, then let the owner of each installation accept it'
  return `the App lacks ${wanted} for ${what} (${messageOf({ body })}): ${settings}`
}

/** GitHub's own message on one line. */
function messageOf({ body }: Pick<FailedAnswer, 'body'>): string {
  const { message, errors } = (body ?? {}) as { message?: unknown; errors?: unknown }
  const details = Array.isArray(errors) ? errors.slice(0, 3).map((one) => detailOf(one)) : []
  const said = [typeof message === 'string' ? message : 'no reason given', ...details].join('; ')
  return quote(said.slice(0, 300))
}

function detailOf(error: unknown): string {
  if (typeof error === 'string') return error
  const { field, code, message } = (error ?? {}) as Readonly<Record<string, unknown>>
  return [field, message ?? code].filter((part) => typeof part === 'string').join(': ')
}

const sourceFaults: Readonly<Record<GithubFault, SourceFault>> = {
  credential: 'access_revoked',
  permission: 'access_revoked',
  missing: 'repository_missing',
  rejected: 'rejected',
  too_large: 'too_large',
  rate_limited: 'fetch_failed',
  unavailable: 'fetch_failed',
}

/** Rejects with SourceError instead of GithubError, for those who read repositories wherever they are. */
export async function asSource<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof GithubError
      ? new SourceError(sourceFaults[error.code], error.message, error.retry_after)
      : error
  }
}

/** The result, or null when GithubError says that the object is missing. */
export async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof GithubError && error.code === 'missing') return null
    throw error
  }
}
