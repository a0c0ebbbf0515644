// Requests to the REST API of GitHub. A request that fails rejects with GithubError; nothing sleeps, and nothing is sent again:
// jobs do that.
import { type FailedAnswer, faultOf, GithubError } from './errors.js'

/** The door to the network, of `platform/outgoing`. */
export interface Network {
  readonly send: (url: string, sent: Sent, maxBytes?: number) => Promise<Received>
}

interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

interface Received {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

export interface ApiParts {
  readonly network: Network
  /** The REST API without a slash at its end. */
  readonly api_url: string
  readonly clock: () => number
}

export interface Asking {
  readonly method: Sent['method']
  /** Below the address of the API, with its query. */
  readonly path: string
  readonly token: string
  readonly as: 'app' | 'installation'
  readonly body?: object
  /** Bytes of the answer; 5 MiB by default. */
  readonly maxBytes?: number
}

/** An answer with a status below 400. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Parsed JSON; null for an answer without a body. */
  readonly body: unknown
}

export type Api = (asking: Asking) => Promise<ApiAnswer>

const maxAnswerBytes = 5 * 1024 * 1024
const maxRedirects = 3

/** Rejects with GithubError. */
export function createApi({ network, api_url, clock }: ApiParts): Api {
  return async ({ method, path, token, as, body, maxBytes = maxAnswerBytes }) => {
    const sent = {
      method,
      headers: headersWith(token, body),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }
    let url = `${api_url}${path}`
    for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
      const received = await network.send(url, sent, maxBytes).catch(throwUnreachable)
      const next = method === 'GET' ? redirectOf(received, url, api_url) : null
      if (next === null) return answerOf(received, { method, path, as, now: clock() })
      url = next
    }
    throw new GithubError('unavailable', 'GitHub redirects too often')
  }
}

function headersWith(token: string, body: object | undefined): Record<string, string> {
  return {
    accept: 'application/vnd.github+json',
    'user-agent': 'svc',
    'x-github-api-version': '2022-11-28',
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
}

/** A renamed repository redirects; the token goes below the same address only. */
function redirectOf({ status, headers }: Received, url: string, api_url: string): string | null {
  if (![301, 302, 307, 308].includes(status)) return null
  const { location = '' } = headers
  const next = URL.canParse(location, url) ? new URL(location, url).href : ''
  if (next.startsWith(`${api_url}/`)) return next
  throw new GithubError('rejected', 'GitHub redirects to another host: check SVC_GITHUB_API_URL', { status })
}

function answerOf({ status, headers, text }: Received, asked: Parameters<typeof faultOf>[1]): ApiAnswer {
  const answer: FailedAnswer = { status, headers, body: parsed(text) }
  if (status >= 300) throw faultOf(answer, asked)
  if (answer.body === undefined)
    throw new GithubError('unavailable', 'the answer of GitHub is not JSON: check SVC_GITHUB_API_URL', { status })
  return answer
}

/** Undefined for text that is not JSON. */
function parsed(text: string): unknown {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function throwUnreachable(error: unknown): never {
  if ((error as { code?: unknown }).code === 'RESPONSE_TOO_LARGE')
    throw new GithubError('too_large', 'GitHub sends more than is read at once')
  const reason = error instanceof Error ? error.message : String(error)
  throw new GithubError('unavailable', `GitHub cannot be reached: ${reason}`)
}
