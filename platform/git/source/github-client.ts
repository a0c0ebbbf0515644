// Requests to the REST API of GitHub about one repository: credentials, redirects of renamed repositories, rate limits.
import { type Answer, type Outgoing, TooLarge } from '../../outgoing/outgoing.js'
import { type RepositoryAddress, SourceError } from './source.js'

export interface GithubParts {
  readonly outgoing: Outgoing
  readonly api_url: string
  readonly fallback_token: string | null
  readonly clock: () => number
}

/** Whose token a request carries: the caller's own, that of the GitHub App, the operator's for public repositories, or none. */
export type Credential = 'own' | 'app' | 'fallback' | 'none'

export interface GithubAnswer {
  readonly status: number
  readonly etag: string | null
  /** The JSON body; null for 304 and 404. */
  readonly body: unknown
}

export interface GithubClient {
  readonly credential: Credential
  /** Gets a path below the repository. Returns the answers 200, 304 and 404; rejects with SourceError for all others. */
  readonly get: (path: string, options?: GetOptions) => Promise<GithubAnswer>
}

export interface GetOptions {
  readonly etag?: string | null
  readonly maxBytes?: number
}

const maxRedirects = 3

/** The credential that requests for an address carry. */
export function credentialFor(
  { token, app_token }: Pick<RepositoryAddress, 'token' | 'app_token'>,
  { fallback_token }: Pick<GithubParts, 'fallback_token'>,
): Credential {
  if (app_token !== undefined) return 'app'
  if (token !== null) return 'own'
  return fallback_token === null ? 'none' : 'fallback'
}

/** `token` belongs to the credential; null for none. */
export function githubClient(
  parts: GithubParts,
  repository: string,
  credential: Credential,
  token: string | null,
): GithubClient {
  const headers = {
    accept: 'application/vnd.github+json',
    'user-agent': 'svc',
    'x-github-api-version': '2022-11-28',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  }
  return {
    credential,
    get: async (path, { etag = null, maxBytes } = {}) => {
      const sent = etag === null ? headers : { ...headers, 'if-none-match': etag }
      const answer = await follow(parts, `${parts.api_url}/repos/${repository}${path}`, sent, maxBytes)
      if (![200, 304, 404].includes(answer.status)) throw faultOf(answer, credential, parts.clock())
      const body = answer.status === 200 ? jsonOf(answer.text) : null
      return { status: answer.status, etag: answer.headers.etag ?? null, body }
    },
  }
}

/** Follows redirects of renamed repositories below the same address only: the token goes with the request. */
async function follow(
  { outgoing, api_url }: GithubParts,
  first: string,
  headers: Readonly<Record<string, string>>,
  maxBytes: number | undefined,
): Promise<Answer> {
  let url = first
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const answer = await outgoing.get(url, headers, maxBytes).catch((error) => {
      throw unreachable(error)
    })
    if (![301, 302, 307, 308].includes(answer.status)) return answer
    const { location = '' } = answer.headers
    const next = URL.canParse(location, url) ? new URL(location, url).href : ''
    if (!next.startsWith(`${api_url}/`))
      throw new SourceError('rejected', 'GitHub redirects to another host: connect the repository by its new name')
    url = next
  }
  throw new SourceError('fetch_failed', 'GitHub redirects too often')
}

function unreachable(error: unknown): SourceError {
  if (error instanceof TooLarge)
    return new SourceError('too_large', `GitHub sends too much: ${error.message}; use a repository for manifests only`)
  return new SourceError('fetch_failed', `GitHub cannot be reached: ${error instanceof Error ? error.message : error}`)
}

function faultOf({ status, headers }: Answer, credential: Credential, now: number): SourceError {
  const wait = secondsToWait(headers, now)
  if (status === 429 || (status === 403 && wait !== null))
    return new SourceError('fetch_failed', 'the rate limit of GitHub is reached', wait ?? 60)
  if (status === 409) return new SourceError('branch_missing', 'the repository has no commit: push one first')
  if (status !== 401 && status !== 403) return new SourceError('fetch_failed', `GitHub answers with status ${status}`)
  if (credential === 'app') return new SourceError('access_revoked', appDenied)
  if (credential === 'own')
    return new SourceError('access_revoked', 'GitHub rejects the token: create one that may read the repository')
  if (status === 401 && credential === 'fallback')
    return new SourceError('fetch_failed', 'GitHub rejects SVC_GITHUB_FALLBACK_TOKEN: the operator must replace it')
  return new SourceError('private', 'GitHub shows the repository to members only: connect it with your own token')
}

/** What to do when the App that is connected cannot read a repository. */
export const appDenied =
  'the GitHub App cannot read the repository any more: install it for this repository again, or connect it with your own token'

/** Seconds until the rate limit ends; null when the answer is not about one. */
function secondsToWait(headers: Answer['headers'], now: number): number | null {
  const after = Number(headers['retry-after'] ?? Number.NaN)
  if (after >= 0) return Math.ceil(after)
  const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN)
  if (headers['x-ratelimit-remaining'] !== '0' || Number.isNaN(reset)) return null
  return Math.max(1, Math.ceil(reset - now / 1000))
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SourceError('fetch_failed', 'the answer of GitHub is not JSON: check SVC_GITHUB_API_URL')
  }
}
