// Fetches the policies in effect for one agent from a platform.
import { parseJson } from '@svc/proof'
import { documents, type EffectivePolicies } from '@svc/schemas'
import { createChecker, problemSummary } from '../check/schema-check.js'
import { bytesOf, reasonOf, waitOf, withinTime } from './answer.js'

export interface PlatformAddress {
  readonly url: string
  readonly api_key: string
  readonly agent_key: string
}

export interface FetchedPolicies {
  readonly body: EffectivePolicies
  readonly etag: string | null
  /** ms since 1970 */
  readonly fetched_at: number
}

/**
 * Policies, or no change, or a problem with its remedy and the wait that the platform asks for, ms. `holds`: the platform holds
 * requests until the policies change. `is_cut`: the platform did not answer, so that the connection or a proxy may be the cause.
 * `is_rejected`: the platform rejects the key, the agent or the path, which no later attempt changes by itself.
 */
export type FetchResult =
  | { readonly kind: 'fetched'; readonly fetched: FetchedPolicies; readonly holds: boolean }
  | { readonly kind: 'unchanged'; readonly holds: boolean }
  | {
      readonly kind: 'failed'
      readonly problem: string
      readonly retry_after: number | null
      readonly is_cut: boolean
      readonly is_rejected: boolean
    }

export interface FetchOptions {
  /** The entity tag of the policies in effect. */
  readonly etag: string | null
  /** ms since 1970 */
  readonly now: () => number
  /** Aborts the request. */
  readonly signal: AbortSignal
  /** The longest time for which the platform may hold the request until the policies change, seconds; 0 for an answer at once. */
  readonly wait: number
}

const fetchTimeoutMs = 10_000
/** Answers of proxies that gave up on a request in progress. */
const ofProxies: ReadonlySet<number> = new Set([408, 499, 502, 504])
const rejecting: ReadonlySet<number> = new Set([401, 403, 404])

/** One request; never rejects. No message contains the key. */
export async function fetchPolicies(
  { url, api_key, agent_key }: PlatformAddress,
  { etag, now, signal, wait }: FetchOptions,
): Promise<FetchResult> {
  const { href, origin } = addressOf(url, agent_key)
  const headers = {
    authorization: `Bearer ${api_key}`,
    ...(etag !== null && { 'if-none-match': etag }),
    ...(wait > 0 && { prefer: `wait=${wait}` }),
  }
  const timeout = fetchTimeoutMs + wait * 1000
  try {
    return await withinTime(timeout, signal, async (stop) => {
      // A redirect would send the key to another address.
      const response = await fetch(href, { headers, redirect: 'manual', signal: stop })
      const { status } = response
      const holds = /(^|,)\s*wait\b/i.test(response.headers.get('preference-applied') ?? '')
      if (status === 304 && etag !== null) return { kind: 'unchanged', holds }
      if (status === 200) {
        const body = policiesIn(parsed(await bytesOf(response)))
        return { kind: 'fetched', fetched: { body, etag: response.headers.get('etag'), fetched_at: now() }, holds }
      }
      const retry_after = waitOf(response, now())
      const problem = statusProblem(status, await detailOf(response), origin, agent_key)
      return { kind: 'failed', problem, retry_after, is_cut: ofProxies.has(status), is_rejected: rejecting.has(status) }
    })
  } catch (error) {
    return {
      kind: 'failed',
      problem: `policies cannot be fetched from ${origin}: ${reasonOf(error, timeout)}`,
      retry_after: null,
      is_cut: true,
      is_rejected: false,
    }
  }
}

const check = createChecker(Object.values(documents))

/** The value as effective policies. Throws when it does not match their schema. */
export function policiesIn(value: unknown): EffectivePolicies {
  const problems = check('effective-policies.json')(value)
  if (problems.length === 0) return value as EffectivePolicies
  const errors = problems.map(({ path, message }) => ({ path: path.join('.'), message }))
  throw new Error(`the effective policies are invalid: ${problemSummary(errors)}`)
}

function addressOf(url: string, agent_key: string): URL {
  return endpointOf(url, `api/v1/policies/effective?agent_key=${encodeURIComponent(agent_key)}`)
}

/** The address of an endpoint of the platform at `url`, which may have a path of its own. */
export function endpointOf(url: string, path: string): URL {
  return new URL(path, `${url.replace(/\/+$/, '')}/`)
}

/** The problem, and the variable to change. `detail` comes from the platform; it is empty when another server answered. */
function statusProblem(status: number, detail: string, origin: string, agent_key: string): string {
  if (status === 401)
    return `SVC_API_KEY is wrong: ${origin} rejects the key (401); set it to a key of the workspace that is not revoked or expired`
  if (status === 403)
    return `SVC_API_KEY is wrong: ${origin} does not let the key read policies (403); set it to a key with the scope \`read\``
  // The platform has one code for an unknown agent and an unknown path; only the detail names the agent.
  if (status === 404 && /\bagent\b/.test(detail))
    return `SVC_AGENT_KEY is wrong: ${origin} has no agent \`${agent_key}\` of this API key (404); register it with POST /api/v1/agents, or set SVC_AGENT_KEY (or --agent-key) to an agent that this key registered`
  if (status === 404)
    return `SVC_API_URL is wrong: ${origin} has no policies at this path (404); set it to the base address of the platform, without /api`
  if (status >= 300 && status < 400)
    return `SVC_API_URL is wrong: ${origin} redirects (${status}); set it to the final address of the platform`
  return `${origin} answered ${status}`
}

/** The detail of a problem document (RFC 9457); empty when a proxy or another server answered. */
async function detailOf(response: Response): Promise<string> {
  if (response.status !== 404 || !/^application\/problem\+json/.test(response.headers.get('content-type') ?? '')) {
    await response.body?.cancel()
    return ''
  }
  const { detail } = Object(parsed(await bytesOf(response))) as { detail?: unknown }
  return typeof detail === 'string' ? detail : ''
}

/** Throws its own message: the parser's quotes the answer. */
function parsed(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString('utf8'))
  } catch {
    throw new Error('the answer is not JSON')
  }
}
