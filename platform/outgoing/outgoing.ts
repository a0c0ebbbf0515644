// The only module that makes outgoing calls. An address is checked when it is saved and again at each connection, because a name
// may resolve to another address by then. Redirects are not followed; time and size are limited.
import { Agent, buildConnector, request } from 'undici'
import { TargetError, type Targets } from './targets.js'

export interface Reply {
  readonly status: number
  readonly text: string
}

export interface Outgoing {
  readonly targets: Targets
  /** Posts the body and returns the response. Rejects with a message for the operator. */
  readonly post: (url: string, body: string, headers?: Readonly<Record<string, string>>) => Promise<Reply>
  readonly close: () => Promise<void>
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
  return {
    targets,
    post: async (url, body, headers = {}) => {
      const problem = targets.problemOf(url)
      if (problem !== null) throw new TargetError(problem)
      try {
        const signal = AbortSignal.timeout(timeoutMs)
        const response = await request(url, { method: 'POST', body, headers, dispatcher: agent, signal })
        return { status: response.statusCode, text: await readBody(response.body) }
      } catch (error) {
        throw describe(error, timeoutMs)
      }
    },
    close: () => agent.close(),
  }
}

async function readBody(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > maxResponseBytes) throw new Error('the response has more than 1 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function describe(error: unknown, timeoutMs: number): Error {
  if (error instanceof TargetError) return error
  const { code, name, message } = error as { code?: string; name?: string; message?: string }
  if (name === 'TimeoutError') return new Error(`no response within ${timeoutMs / 1000} s`)
  return code === undefined ? new Error(message ?? 'no reason given') : new Error(`no response: ${code}`)
}
