// Requests to the REST API of GitHub about one repository: credentials, redirects of renamed repositories, rate limits.
import { parseJson } from '@svc/proof'
import { type Answer, type Outgoing, TooLarge } from '../../outgoing/outgoing.js'
import { followRedirects, githubHeaders, secondsToWait } from './github-rest.js'
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

/** GitHub rejects a token of the App, which was valid when it was given: another one is needed. */
export class TokenRejected extends SourceError {
  override readonly code = 'fetch_failed' as const
  readonly token: string

  constructor(token: string) {
    super('fetch_failed', 'GitHub rejects the token of the installation: it was revoked')
    this.token = token
  }
}

export interface GetOptions {
  readonly etag?: string | null
  readonly maxBytes?: number
}

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
  const headers = githubHeaders(token)
  const { outgoing, api_url, clock } = parts
  return {
    credential,
    get: async (path, { etag = null, maxBytes } = {}) => {
      const sent = etag === null ? headers : { ...headers, 'if-none-match': etag }
      const send = (url: string) => outgoing.get(url, sent, maxBytes).catch(throwUnreachable)
      const answer = await followRedirects(`${api_url}/repos/${repository}${path}`, { api_url, send, astray })
      if (answer.status === 401 && credential === 'app' && token !== null) throw new TokenRejected(token)
      if (![200, 304, 404].includes(answer.status)) throw faultOf(answer, credential, clock())
      const body = answer.status === 200 ? jsonOf(answer.text) : null
      return { status: answer.status, etag: answer.headers.etag ?? null, body }
    },
  }
}

function astray(reason: 'other_host' | 'too_often'): SourceError {
  return reason === 'too_often'
    ? new SourceError('fetch_failed', 'GitHub redirects too often')
    : new SourceError('rejected', 'GitHub redirects to another host: connect the repository by its new name')
}

function throwUnreachable(error: unknown): never {
  if (error instanceof TooLarge)
    throw new SourceError('too_large', `GitHub sends too much: ${error.message}; use a repository for manifests only`)
  throw new SourceError('fetch_failed', `GitHub cannot be reached: ${error instanceof Error ? error.message : error}`)
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

function jsonOf(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw new SourceError('fetch_failed', 'the answer of GitHub is not JSON: check SVC_GITHUB_API_URL')
  }
}
