// Sends incidents as a JSON list to an HTTP address, such as POST /api/v1/incidents of a platform.
import { jsonList } from './body.js'
import { failureOf, isTaken, objectIn, post, problemIn, type Receiver } from './post.js'
import type { Delivery, Rejection } from './sender.js'

const postTimeoutMs = 10_000
/** The receiver cannot take these lines, now or later. */
const finalStatuses = [400, 413, 415, 422]

/** One request; never rejects. No message contains the key. */
export async function postLines(
  receiver: Receiver,
  lines: readonly Buffer[],
  stopping: AbortSignal,
): Promise<Delivery> {
  const { href, api_key } = receiver
  const { origin } = new URL(href)
  const body = jsonList(lines.map((line) => [line]))
  const answer = await post({ ...receiver, body, timeout_ms: postTimeoutMs, noun: 'incidents' }, stopping)
  if ('problem' in answer) return { kind: 'failed', ...answer }
  const { status } = answer
  if (isTaken(answer)) {
    const rejected = api_key === null ? [] : rejectedIn(answer.bytes)
    return { kind: 'delivered', taken: lines.length, rejected, later: null }
  }
  const { detail } = problemIn(answer)
  const why = typeof detail === 'string' ? `: ${detail.slice(0, maxDetail)}` : ''
  const problem = `${origin} does not take incidents (${status})${why}`
  if (finalStatuses.includes(status)) return { kind: 'rejected', problem, detail: why }
  return { kind: 'failed', ...failureOf(answer, remedyOf(status, origin, api_key) ?? problem, Date.now()) }
}

const maxDetail = 300

/** The variable to change, for what the platform answers while it is wrong. */
function remedyOf(status: number, origin: string, api_key: string | null): string | null {
  if (api_key === null) return null
  if (status === 401) return `SVC_API_KEY is wrong: ${origin} rejects the key (401)`
  if (status === 403)
    return `SVC_API_KEY is wrong: the key may not report incidents (403); it needs the scope \`ingest\``
  if (status === 404 || status === 405)
    return `SVC_API_URL is wrong, or the platform is older: ${origin} takes no incidents (${status})`
  return null
}

/** Those that the platform does not take, with its reason. */
function rejectedIn(bytes: Buffer): Rejection[] {
  const results = objectIn(bytes)?.results
  if (!Array.isArray(results)) return []
  return results.flatMap((result, line) => {
    const { status, problem } = Object(result) as { status?: unknown; problem?: { detail?: unknown } }
    const detail = String(problem?.detail)
    return typeof status === 'number' && status >= 400
      ? [{ line, problem: `an incident was rejected (${status}): ${detail}`, detail }]
      : []
  })
}
