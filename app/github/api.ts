// Requests to the REST API of GitHub. A request that fails rejects with GithubError; nothing sleeps, and nothing is sent again:
// jobs do that.
import { type Answer, followRedirects, githubHeaders, type Outgoing, type Sent } from '@svc/platform'
import { type FailedAnswer, faultOf, GithubError } from './errors.js'

/** The door to the network. */
export type Network = Pick<Outgoing, 'send'>

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

/** An answer with a status below 300. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Parsed JSON; null for an answer without a body. */
  readonly body: unknown
}

export type Api = (asking: Asking) => Promise<ApiAnswer>

const maxAnswerBytes = 5 * 1024 * 1024

/** Rejects with GithubError. */
export function createApi({ network, api_url, clock }: ApiParts): Api {
  return async ({ method, path, token, as, body, maxBytes = maxAnswerBytes }) => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = { method, headers: { ...githubHeaders(token), ...type }, ...content }
    const send = (url: string) => network.send(url, sent, maxBytes).catch(throwUnreachable)
    const answer = await followRedirects(`${api_url}${path}`, { method, api_url, send, astray })
    return answerOf(answer, { method, path, as, now: clock() })
  }
}

function astray(reason: 'other_host' | 'too_often'): GithubError {
  return reason === 'too_often'
    ? new GithubError('unavailable', 'GitHub redirects too often')
    : new GithubError('rejected', 'GitHub redirects to another host: check SVC_GITHUB_API_URL')
}

function answerOf({ status, headers, text }: Answer, asked: Parameters<typeof faultOf>[1]): ApiAnswer {
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
