// Sends lines as a JSON list to an HTTP address, such as POST /api/v1/incidents of a platform.
import type { Delivery } from './sender.js'

export interface Receiver {
  readonly href: string
  /** Null for an address that is not the platform: it never gets the key. */
  readonly api_key: string | null
}

const postTimeoutMs = 10_000
/** The receiver cannot take these lines, now or later. */
const finalStatuses = [400, 413, 415, 422]

/** One request; never rejects. No message contains the key. */
export async function postLines(
  { href, api_key }: Receiver,
  lines: readonly string[],
  stopping: AbortSignal,
): Promise<Delivery> {
  const { origin } = new URL(href)
  const headers = {
    'content-type': 'application/json',
    ...(api_key !== null && { authorization: `Bearer ${api_key}` }),
  }
  const body = `[${lines.join(',')}]`
  try {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(postTimeoutMs)])
    // A redirect would send the key and the incidents to another address.
    const response = await fetch(href, { method: 'POST', headers, body, redirect: 'manual', signal })
    if (response.ok)
      return { kind: 'delivered', problems: api_key === null ? await none(response) : await problemsIn(response) }
    const detail = await detailOf(response)
    const problem = `${origin} does not take incidents (${response.status})${detail}`
    if (finalStatuses.includes(response.status)) return { kind: 'rejected', problem }
    return {
      kind: 'failed',
      problem: remedyOf(response.status, origin, api_key) ?? problem,
      retry_after: waitOf(response),
    }
  } catch (error) {
    return { kind: 'failed', problem: `incidents cannot be sent to ${origin}: ${reasonOf(error)}`, retry_after: null }
  }
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

async function none(response: Response): Promise<string[]> {
  await response.body?.cancel()
  return []
}

/** Why the platform does not take some of the incidents. */
async function problemsIn(response: Response): Promise<string[]> {
  const { results } = Object(await response.json().catch(() => null)) as { results?: unknown }
  if (!Array.isArray(results)) return []
  return results.flatMap((result) => {
    const { status, problem } = Object(result) as { status?: unknown; problem?: { detail?: unknown } }
    return typeof status === 'number' && status >= 400
      ? [`an incident was rejected (${status}): ${String(problem?.detail)}`]
      : []
  })
}

const maxDetail = 300

async function detailOf(response: Response): Promise<string> {
  if (!/^application\/problem\+json/.test(response.headers.get('content-type') ?? '')) {
    await response.body?.cancel()
    return ''
  }
  const { detail } = Object(await response.json().catch(() => null)) as { detail?: unknown }
  return typeof detail === 'string' ? `: ${detail.slice(0, maxDetail)}` : ''
}

/** ms */
function waitOf(response: Response): number | null {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return seconds > 0 ? seconds * 1000 : null
}

/** The cause of a failed fetch has more detail than its message. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } }
  if (name === 'TimeoutError') return `no answer within ${postTimeoutMs / 1000} s`
  return cause?.code ?? cause?.message ?? message
}
