// Sends incidents as a JSON list to an HTTP address, such as POST /api/v1/incidents of a platform.
import {
  type Answer,
  failureOf,
  isPage,
  isTaken,
  objectIn,
  post,
  problemIn,
  type Receiver,
  resultIn,
  textOf,
} from './post.js'
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
  const body = `[${lines.join()}]`
  const answer = await post({ ...receiver, body, timeout_ms: postTimeoutMs, noun: 'incidents' }, stopping)
  if ('problem' in answer) return { kind: 'failed', ...answer }
  const { status } = answer
  if (isTaken(answer)) return outcomeOf(answer, lines.length, api_key !== null, origin)
  const { detail, code } = problemIn(answer)
  const problem = `${origin} does not take incidents (${status}${code === undefined ? '' : ` ${code}`})`
  if (finalStatuses.includes(status)) return { kind: 'rejected', problem, detail: textOf(detail) }
  return { kind: 'failed', ...failureOf(answer, remedyOf(status, origin, api_key) ?? problem, Date.now()) }
}

/** The platform has a result for each line; any other receiver says nothing about them. A page is from neither. */
function outcomeOf(answer: Answer, count: number, is_platform: boolean, origin: string): Delivery {
  const results = objectIn(answer.bytes)?.results
  const is_whole = is_platform ? Array.isArray(results) && results.length === count : !isPage(answer)
  if (is_whole)
    return {
      kind: 'delivered',
      taken: count,
      rejected: is_platform ? rejectedIn(results as unknown[]) : [],
      later: null,
    }
  const problem = `${origin} does not answer as a receiver of incidents does`
  return { kind: 'failed', problem, retry_after: null, is_away: false }
}

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
function rejectedIn(results: readonly unknown[]): Rejection[] {
  return results.flatMap((result, line) => {
    const { status, code, detail } = resultIn(result) ?? { status: 0 }
    return status >= 400 ? [{ line, problem: `an incident was rejected (${status}${code})`, detail: detail ?? '' }] : []
  })
}
