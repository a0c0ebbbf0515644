// The one client of GitHub's REST API, for sources of manifests and for the GitHub App. A request that fails rejects with
// SourceError; nothing sleeps, and nothing is sent again: jobs do that.
import { parseJson } from '@svc/proof'
import { type Answer, type Outgoing, type Sent, TooLarge } from '../../outgoing/outgoing.js'
import { SourceError } from '../source/source.js'
import { type Credential, faultOf, isOfApp } from './faults.js'

export interface GithubParts {
  readonly outgoing: Pick<Outgoing, 'send'>
  /** The REST API without a slash at its end. */
  readonly api_url: string
  readonly clock: () => number
}

export interface GithubRequest {
  /** By default `GET`. */
  readonly method?: Sent['method']
  /** Below the address of the API, with its query. */
  readonly path: string
  readonly body?: object
  /** The validator of an answer that is known: the answer can be 304. */
  readonly etag?: string | null
  /** Bytes of the answer; 5 MiB by default. */
  readonly maxBytes?: number
}

export interface GithubAnswer {
  /** Below 300, or 304 for a request with `etag`. */
  readonly status: number
  readonly headers: Answer['headers']
  /** Parsed JSON; null for an answer without a body. */
  readonly body: unknown
}

/** Rejects with SourceError. */
export type AskGithub = (request: GithubRequest) => Promise<GithubAnswer>

/** Requests with a credential and its token; null for none. */
export type GithubApi = (credential: Credential, token: string | null, request: GithubRequest) => Promise<GithubAnswer>

const maxAnswerBytes = 5 * 1024 * 1024

export function createGithubApi(parts: GithubParts): GithubApi {
  return async (credential, token, request) => {
    const { method = 'GET', path, body, etag = null } = request
    const headers = {
      accept: 'application/vnd.github+json',
      'user-agent': 'svc',
      'x-github-api-version': '2022-11-28',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(etag === null ? {} : { 'if-none-match': etag }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const { text, ...answer } = await followed(parts, sent, request, credential)
    const { status } = answer
    const read = jsonIn(text, status)
    if (status >= 300 && (status !== 304 || etag === null))
      throw faultOf({ ...answer, body: read }, { method, path, credential, now: parts.clock() })
    if (read === undefined)
      throw new SourceError('fetch_failed', 'the answer of GitHub is not JSON: check SVC_GITHUB_API_URL', null, status)
    return { ...answer, body: read }
  }
}

/** Requests with tokens of an installation. One that was revoked is replaced once: GitHub has done nothing with it yet. */
export function askWith(
  api: GithubApi,
  credential: Credential,
  tokenOf: (rejected?: string) => Promise<string | null>,
): AskGithub {
  return async (request) => {
    const first = await tokenOf()
    try {
      return await api(credential, first, request)
    } catch (error) {
      const isRevoked = error instanceof SourceError && error.status === 401
      if (!isRevoked || first === null || (credential !== 'app' && credential !== 'installation')) throw error
      return api(credential, await tokenOf(first), request)
    }
  }
}

/** The result, or null if GitHub has no such object. */
export async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof SourceError && error.code === 'repository_missing') return null
    throw error
  }
}

const maxRedirects = 3

/** The first answer without a redirect, which a renamed repository gives; the token goes below the address of the API only. */
async function followed(
  { outgoing, api_url }: GithubParts,
  sent: Sent,
  { path, maxBytes = maxAnswerBytes }: GithubRequest,
  credential: Credential,
): Promise<Answer> {
  // RFC 9110: only the last two keep the method and the body.
  const statuses = sent.method === 'GET' ? [301, 302, 307, 308] : [307, 308]
  let url = `${api_url}${path}`
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const answer = await outgoing.send(url, sent, maxBytes).catch((error) => {
      throw unreachable(error, credential)
    })
    if (!statuses.includes(answer.status)) return answer
    const { location = '' } = answer.headers
    url = URL.canParse(location, url) ? new URL(location, url).href : ''
    if (!url.startsWith(`${api_url}/`))
      throw new SourceError('rejected', `GitHub redirects to another host: ${remedyOf(credential)}`)
  }
  throw new SourceError('fetch_failed', 'GitHub redirects too often')
}

function remedyOf(credential: Credential): string {
  return isOfApp(credential) ? 'check SVC_GITHUB_API_URL' : 'connect the repository by its new name'
}

function unreachable(error: unknown, credential: Credential): SourceError {
  const reason = error instanceof Error ? error.message : String(error)
  if (!(error instanceof TooLarge)) return new SourceError('fetch_failed', `GitHub cannot be reached: ${reason}`)
  const remedy = isOfApp(credential) ? '' : '; use a repository for manifests only'
  return new SourceError('too_large', `GitHub sends too much: ${reason}${remedy}`)
}

/** Undefined for text that is not JSON. */
function jsonIn(text: string, status: number): unknown {
  if (text === '' && status !== 200) return null
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** The SHA in an answer. Throws SourceError. */
export function shaIn(value: unknown): string {
  if (typeof value === 'string' && /^[0-9a-f]{40}$/.test(value)) return value
  throw new SourceError('fetch_failed', 'GitHub sent no SHA: check SVC_GITHUB_API_URL')
}

/** The path of a branch below the repository; its name must be valid. */
export function refPath(branch: string): string {
  return `/git/ref/heads/${branch.split('/').map(encodeURIComponent).join('/')}`
}
