// The one door for calls to others: checked when the address is saved and again when it is connected to, because a name may
// lead elsewhere by then. Redirects are not followed, and neither time nor bytes are without end.
import { Agent, buildConnector, request } from 'undici'
import { TargetError, type Targets } from './targets.js'

export interface Answered {
  readonly status: number
  readonly text: string
}

export interface Outgoing {
  readonly targets: Targets
  /** Posts, and reads what is answered. Rejects, with words for an operator, when that is not possible. */
  readonly post: (url: string, body: string, headers?: Readonly<Record<string, string>>) => Promise<Answered>
  readonly close: () => Promise<void>
}

const largestAnswer = 1024 * 1024

/** `patience`: ms for a whole call. */
export function createOutgoing(targets: Targets, patience = 10_000): Outgoing {
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
        const signal = AbortSignal.timeout(patience)
        const answer = await request(url, { method: 'POST', body, headers, dispatcher: agent, signal })
        return { status: answer.statusCode, text: await limited(answer.body) }
      } catch (error) {
        throw readable(error, patience)
      }
    },
    close: () => agent.close(),
  }
}

async function limited(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > largestAnswer) throw new Error('it answers with more than 1 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function readable(error: unknown, patience: number): Error {
  if (error instanceof TargetError) return error
  const { code, name, message } = error as { code?: string; name?: string; message?: string }
  if (name === 'TimeoutError') return new Error(`it does not answer within ${patience / 1000} s`)
  return code === undefined ? new Error(message ?? 'no reason given') : new Error(`it does not answer: ${code}`)
}
