// What all requests to the REST API of GitHub share: their headers, redirects of renamed repositories, and the waits of limits.
import type { Answer } from '../../outgoing/outgoing.js'
import { SourceError } from './source.js'

/** The headers of a request; `token` is null for one without credentials. */
export function githubHeaders(token: string | null): Record<string, string> {
  return {
    accept: 'application/vnd.github+json',
    'user-agent': 'svc',
    'x-github-api-version': '2022-11-28',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  }
}

const maxRedirects = 3

interface Following {
  /** By default `GET`. */
  readonly method?: string
  readonly api_url: string
  readonly send: (url: string) => Promise<Answer>
  /** Makes the error of a redirect that is not followed. */
  readonly astray: (reason: 'other_host' | 'too_often') => Error
}

/** The first answer without a redirect, which a renamed repository gives; the token goes below the address of the API only. */
export async function followRedirects(first: string, following: Following): Promise<Answer> {
  const { method = 'GET', api_url, send, astray } = following
  // RFC 9110: only the last two keep the method and the body.
  const statuses = method === 'GET' ? [301, 302, 307, 308] : [307, 308]
  let url = first
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const answer = await send(url)
    if (!statuses.includes(answer.status)) return answer
    const { location = '' } = answer.headers
    const next = URL.canParse(location, url) ? new URL(location, url).href : ''
    if (!next.startsWith(`${api_url}/`)) throw astray('other_host')
    url = next
  }
  throw astray('too_often')
}

/** Seconds until the request may be sent again; null when the answer asks for no wait. `now` in ms since 1970. */
export function secondsToWait(headers: Answer['headers'], now: number): number | null {
  const after = Number(headers['retry-after'] ?? Number.NaN)
  if (after >= 0) return Math.ceil(after)
  const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN)
  if (headers['x-ratelimit-remaining'] !== '0' || Number.isNaN(reset)) return null
  return Math.max(1, Math.ceil(reset - now / 1000))
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
