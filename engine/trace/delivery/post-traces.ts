// Sends lines of a trace to POST /api/v1/traces of a platform.
import { endpointOf } from '../../source/fetch.js'
import { failureOf, post, problemIn, textOf } from './post.js'
import type { Delivery } from './sender.js'
import { type TraceRequest, traceOutcome, traceRequest } from './trace-request.js'

export interface TracePlatform {
  readonly url: string
  readonly api_key: string
  readonly agent_key: string
}

/** A platform under load takes its time for five hundred steps. */
const postTimeoutMs = 30_000

/** One request; never rejects. No message contains the key or a payload. */
export async function postTraces(
  { url, api_key, agent_key }: TracePlatform,
  lines: readonly Buffer[],
  stopping: AbortSignal,
): Promise<Delivery> {
  const { href, origin } = endpointOf(url, 'api/v1/traces')
  const request = traceRequest(lines, agent_key)
  const { body } = request
  if (body === null) return outcomeOf(request, lines.length, Buffer.alloc(0), origin)
  const answer = await post({ href, api_key, body, timeout_ms: postTimeoutMs, noun: 'traces' }, stopping)
  if ('problem' in answer) return { kind: 'failed', ...answer }
  const { status } = answer
  if (status === 200) return outcomeOf(request, lines.length, answer.bytes, origin)
  const { code, detail } = problemIn(answer)
  // A proxy limits the size of requests: smaller ones pass.
  const is_final = status === 413 || ([400, 415, 422].includes(status) && code !== undefined)
  if (is_final) {
    const problem = `${origin} rejects a line of the trace (${status}${code === undefined ? '' : ` ${code}`})`
    return { kind: 'rejected', problem, detail: textOf(detail) }
  }
  const problem = problemOf(status, detail, origin, agent_key)
  return { kind: 'failed', ...failureOf(answer, problem, Date.now()) }
}

function outcomeOf(request: TraceRequest, count: number, bytes: Buffer, origin: string): Delivery {
  const asFailure = (problem: string) => ({ problem: `${origin}: ${problem}`, retry_after: null, is_away: false })
  const outcome = traceOutcome(request, count, bytes, asFailure)
  if (outcome !== null) return { kind: 'delivered', ...outcome }
  const problem = `SVC_API_URL is wrong: ${origin} does not answer as a platform does`
  return { kind: 'failed', problem, retry_after: null, is_away: false }
}

/** The setting to correct, for an answer of the platform that a wrong setting causes. */
function problemOf(status: number, detail: unknown, origin: string, agent_key: string): string {
  if (status === 401) return `SVC_API_KEY is wrong: ${origin} rejects the key (401)`
  if (status === 403) return `SVC_API_KEY is wrong: the key may not send traces (403); it needs the scope \`ingest\``
  // The platform has one code for an unknown agent and an unknown path; only the detail names the agent.
  if (status === 404 && /\bagent/.test(String(detail)))
    return `${origin} has no agent \`${agent_key}\` of this API key (404): register it with POST /api/v1/agents, or set SVC_AGENT_KEY (or --agent-key) to an agent that this key registered`
  if (status === 404 || status === 405)
    return `SVC_API_URL is wrong, or the platform is older: ${origin} takes no traces (${status})`
  if (status >= 300 && status < 400)
    return `SVC_API_URL is wrong: ${origin} redirects (${status}); set it to the final address of the platform`
  return `${origin} answered ${status}`
}
