// The only module that makes outgoing calls. An address is checked when it is saved and again at each connection, because a name
// may resolve to another address by then. Redirects are not followed; time and size are limited.
import { Agent, buildConnector, request } from 'undici'
import { TargetError, type Targets } from './targets.js'

export interface Reply {
  readonly status: number
  readonly text: string
}

/** A reply with its headers, names in lower case. */
export interface Answer extends Reply {
  readonly headers: Readonly<Record<string, string>>
}

export interface Outgoing {
  readonly targets: Targets
  /** Posts the body and returns the response. Rejects with a message for the operator. */
  readonly post: (url: string, body: string, headers?: Readonly<Record<string, string>>) => Promise<Reply>
  /** Sends a request and returns the response, with at most `maxBytes` of body. Rejects as `post` does, and with TooLarge. */
  readonly send: (url: string, sent: Sent, maxBytes?: number) => Promise<Answer>
  readonly close: () => Promise<void>
}

export interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Ends the call early. */
  readonly signal?: AbortSignal
}

/** A response with more bytes than the caller takes. */
export class TooLarge extends Error {
  readonly code = 'RESPONSE_TOO_LARGE'
}

const maxResponseBytes = 1024 * 1024

/** `timeoutMs` limits a whole call. */
export function createOutgoing(targets: Targets, timeoutMs = 10_000): Outgoing {
  const connect = buildConnector({ timeout: 5_000, lookup: targets.lookup })
  const agent = new Agent({
    connect: (options, done) => {
      const problem = targets.hostProblem(options.hostname)
      if (problem !== null) done(new TargetError(problem), null)
      else connect(options, done)
    },
    pipelining: 1,
  })
  const call = async (url: string, options: Sent, maxBytes = maxResponseBytes): Promise<Answer> => {
    const problem = targets.problemOf(url)
    if (problem !== null) throw new TargetError(problem)
    try {
      const { signal: given, ...sent } = options
      const limit = AbortSignal.timeout(timeoutMs)
      const signal = given === undefined ? limit : AbortSignal.any([limit, given])
      const response = await request(url, { ...sent, dispatcher: agent, signal })
      const text = await readBody(response.body, maxBytes)
      return { status: response.statusCode, text, headers: plainHeaders(response.headers) }
    } catch (error) {
      throw describe(error, timeoutMs)
    }
  }
  return {
    targets,
    post: async (url, body, headers = {}) => {
      const { status, text } = await call(url, { method: 'POST', body, headers })
      return { status, text }
    },
    send: call,
    close: () => agent.close(),
  }
}

function plainHeaders(headers: Readonly<Record<string, string | readonly string[] | undefined>>) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value ?? '')]))
}

async function readBody(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > maxBytes) throw new TooLarge(`the response has more than ${maxBytes / 1024 / 1024} MiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function describe(error: unknown, timeoutMs: number): Error {
  if (error instanceof TargetError || error instanceof TooLarge) return error
  const { code, name, message } = error as { code?: string; name?: string; message?: string }
  if (name === 'TimeoutError') return new Error(`no response within ${timeoutMs / 1000} s`)
  return code === undefined ? new Error(message ?? 'no reason given') : new Error(`no response: ${code}`)
}
