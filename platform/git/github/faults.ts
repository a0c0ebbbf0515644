// Errors for answers of GitHub without a result: the one table from a status to an error with its remedy.
import { quote } from '@svc/engine/parts'
import { SourceError, type SourceFault } from '../source/source.js'

/**
 * Whose token a request carries. For sources: the caller's own, that of the GitHub App, the operator's for public repositories, or
 * none. For the App: its own (`jwt`), or that of an installation.
 */
export type Credential = 'own' | 'app' | 'fallback' | 'none' | 'jwt' | 'installation'

interface FailedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly credential: Credential
  /** ms since 1970, by this machine. */
  readonly now: number
}

type Fault = readonly [code: SourceFault, message: string]

/** True for requests of the App itself, whose errors are for the operator. */
export function isOfApp(credential: Credential): boolean {
  return credential === 'jwt' || credential === 'installation'
}

/** The error of an answer with a status of 300 or more. The message contains no credential. */
export function faultOf(answer: FailedAnswer, asked: Asked): SourceError {
  const { status } = answer
  const wait = secondsToWait(answer.headers, asked.now)
  if (status === 429 || (status === 403 && wait !== null))
    return new SourceError('fetch_failed', 'the rate limit of GitHub is reached', wait ?? 60, status)
  const [code, message] = problemOf(answer, asked)
  return new SourceError(code, message, status >= 500 ? wait : null, status)
}

function problemOf(answer: FailedAnswer, asked: Asked): Fault {
  const { status } = answer
  const what = `${asked.method} ${quote(asked.path)}`
  if (status === 401 || status === 403) return deniedTo[asked.credential](answer, asked)
  if (status === 404 && asked.credential === 'jwt' && membersIn(answer).message === 'Integration not found')
    return ['access_revoked', 'GitHub has no App with this id: compare SVC_GITHUB_APP_ID with the settings of the App']
  if (status === 404 || status === 410)
    return ['repository_missing', `GitHub has no such object, or the App may not see it: ${what}`]
  if (status === 409 && !isOfApp(asked.credential))
    return ['branch_missing', 'the repository has no commit: push one first']
  if (status >= 500 || !isOfApp(asked.credential)) return ['fetch_failed', `GitHub answers with status ${status}`]
  return ['rejected', `GitHub rejects ${what} with status ${status}: ${messageOf(answer)}`]
}

/** The answers 401 and 403. */
const deniedTo: Readonly<Record<Credential, (answer: FailedAnswer, asked: Asked) => Fault>> = {
  own: () => ['access_revoked', 'GitHub rejects the token: create one that may read the repository'],
  app: ({ status }) => (status === 401 ? revoked : ['access_revoked', appDenied]),
  fallback: ({ status }) =>
    status === 401
      ? ['fetch_failed', 'GitHub rejects SVC_GITHUB_FALLBACK_TOKEN: the operator must replace it']
      : membersOnly,
  none: () => membersOnly,
  jwt: (answer, asked) => [
    'access_revoked',
    answer.status === 401 ? keyProblem(answer, asked) : permissionProblem(answer, asked),
  ],
  installation: (answer, asked) =>
    answer.status === 401 ? revoked : ['access_revoked', permissionProblem(answer, asked)],
}

// The next request uses a new token, which GitHub refuses to give when the installation is gone.
const revoked: Fault = ['fetch_failed', 'GitHub rejects the token of the installation: it was revoked']
const membersOnly: Fault = ['private', 'GitHub shows the repository to members only: connect it with your own token']

/** The remedy if the App that is connected cannot read a repository. */
export const appDenied =
  'the GitHub App cannot read the repository any more: install it for this repository again, or connect it with your own token'

/** GitHub rejects a token of the App that is signed with another key, and one that is not valid at its own time. */
function keyProblem({ headers }: FailedAnswer, { now }: Asked): string {
  const ahead = Math.round((now - Date.parse(headers.date ?? '')) / 1000)
  if (Math.abs(ahead) > maxSkewSeconds)
    return `the clock of this machine is ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead of' : 'behind'} the clock of GitHub: set it, for example with NTP`
  return 'GitHub rejects the key of the App: compare SVC_GITHUB_APP_ID with the settings of the App, and set SVC_GITHUB_APP_PRIVATE_KEY to a key that they list'
}

const maxSkewSeconds = 30

function permissionProblem(answer: FailedAnswer, { method, path }: Asked): string {
  const needed = answer.headers['x-accepted-github-permissions'] ?? ''
  const wanted = /^[\w=;, -]{1,200}$/.test(needed) ? `the permission ${quote(needed)}` : 'a permission'
  const settings =
    'grant it in the settings of the App under `Permissions & events`, then let the owner of each installation accept it'
  return `the App lacks ${wanted} for ${method} ${quote(path)} (${messageOf(answer)}): ${settings}`
}

/** GitHub's own message on one line. */
function messageOf(answer: FailedAnswer): string {
  const { message, errors } = membersIn(answer)
  const details = Array.isArray(errors) ? errors.slice(0, 3).map((one) => detailOf(one)) : []
  const said = [typeof message === 'string' ? message : 'no reason given', ...details].join('; ')
  return quote(said.slice(0, 300))
}

function detailOf(error: unknown): string {
  if (typeof error === 'string') return error
  const { field, code, message } = (error ?? {}) as Readonly<Record<string, unknown>>
  return [field, message ?? code].filter((part) => typeof part === 'string').join(': ')
}

function membersIn({ body }: FailedAnswer): { readonly message?: unknown; readonly errors?: unknown } {
  return (body ?? {}) as ReturnType<typeof membersIn>
}

/** Seconds until the request may be sent again; null when the answer asks for no wait. `now` in ms since 1970. */
function secondsToWait(headers: FailedAnswer['headers'], now: number): number | null {
  const after = Number(headers['retry-after'] ?? Number.NaN)
  if (after >= 0) return Math.ceil(after)
  const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN)
  if (headers['x-ratelimit-remaining'] !== '0' || Number.isNaN(reset)) return null
  return Math.max(1, Math.ceil(reset - now / 1000))
}
