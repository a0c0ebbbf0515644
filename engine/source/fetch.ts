// Asking a platform for the policies in effect for one agent.
import { documents, type EffectivePolicies } from '@svc/schemas'
import { createChecker, problemSummary } from '../check/schema-check.js'

export interface PlatformAddress {
  readonly url: string
  readonly api_key: string
  readonly agent_key: string
}

export interface FetchedPolicies {
  readonly body: EffectivePolicies
  /** What the platform called this state of them. */
  readonly etag: string | null
  /** ms since 1970 */
  readonly fetched_at: number
}

/** Policies, or nothing new, or a sentence that says what to do, with the wait the platform asks for, ms. */
export type FetchResult =
  | { readonly kind: 'fetched'; readonly fetched: FetchedPolicies }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'failed'; readonly trouble: string; readonly retry_after: number | null }

export interface Asking {
  /** What is known already, by the platform's name for it. */
  readonly etag: string | null
  /** ms since 1970 */
  readonly now: number
  /** Gives up when it is aborted. */
  readonly signal: AbortSignal
}

/** How long an answer may take, ms, and how large it may be, bytes. */
const patience = 10_000
const largest = 16 * 1024 * 1024

/** One try; never rejects. The key is in no sentence. */
export async function fetchPolicies(
  { url, api_key, agent_key }: PlatformAddress,
  { etag, now, signal }: Asking,
): Promise<FetchResult> {
  const { href, origin } = addressOf(url, agent_key)
  const headers = { authorization: `Bearer ${api_key}`, ...(etag !== null && { 'if-none-match': etag }) }
  try {
    // A key follows nobody to another address.
    const stop = AbortSignal.any([signal, AbortSignal.timeout(patience)])
    const response = await fetch(href, { headers, redirect: 'manual', signal: stop })
    if (response.status === 304 && etag !== null) return { kind: 'unchanged' }
    if (response.status === 200) {
      const body = policiesIn(parsed(await textOf(response)))
      return { kind: 'fetched', fetched: { body, etag: response.headers.get('etag'), fetched_at: now } }
    }
    const retry_after = waitOf(response.headers.get('retry-after'), now)
    const trouble = refusal(response.status, await detailOf(response), origin, agent_key)
    return { kind: 'failed', trouble, retry_after }
  } catch (error) {
    return { kind: 'failed', trouble: `no policies from ${origin}: ${reasonOf(error)}`, retry_after: null }
  }
}

const check = createChecker(Object.values(documents))

/** The value as effective policies. Throws when it is none. */
export function policiesIn(value: unknown): EffectivePolicies {
  const problems = check('effective-policies.json')(value)
  if (problems.length === 0) return value as EffectivePolicies
  const errors = problems.map(({ path, message }) => ({ path: path.join('.'), message }))
  throw new Error(`these are no effective policies: ${problemSummary(errors)}`)
}

function addressOf(url: string, agent_key: string): URL {
  return endpointOf(url, `api/v1/policies/effective?agent_key=${encodeURIComponent(agent_key)}`)
}

/** Where the platform at `url`, which may stand under a path, answers this. */
export function endpointOf(url: string, path: string): URL {
  return new URL(path, `${url.replace(/\/+$/, '')}/`)
}

/** What is wrong, and which variable to change. `detail` is the platform's own, empty where something else answered. */
function refusal(status: number, detail: string, origin: string, agent_key: string): string {
  if (status === 401)
    return `SVC_API_KEY is wrong: ${origin} rejects the key (401); set it to a key of the workspace that is not revoked or expired`
  if (status === 403)
    return `SVC_API_KEY is wrong: ${origin} does not let the key read policies (403); set it to a key with the scope \`read\``
  if (status === 404 && detail.startsWith('no such agent'))
    return `SVC_AGENT_KEY is wrong: ${origin} has no agent \`${agent_key}\` of this API key (404); register it with POST /api/v1/agents, or set SVC_AGENT_KEY (or --agent-key) to an agent that this key registered`
  if (status === 404)
    return `SVC_API_URL is wrong: ${origin} has no policies at this path (404); set it to the base address of the platform, without /api`
  if (status >= 300 && status < 400)
    return `SVC_API_URL is wrong: ${origin} points elsewhere (${status}); set it to the platform's own address`
  return `${origin} answered ${status}`
}

/** The detail of a problem document (RFC 9457), which a proxy or another server does not send. */
async function detailOf(response: Response): Promise<string> {
  if (response.status !== 404 || !/^application\/problem\+json/.test(response.headers.get('content-type') ?? '')) {
    await response.body?.cancel()
    return ''
  }
  const { detail } = Object(parsed(await textOf(response))) as { detail?: unknown }
  return typeof detail === 'string' ? detail : ''
}

/** Seconds, or a date (RFC 9110 §10.2.3), as ms from now. */
function waitOf(header: string | null, now: number): number | null {
  if (header === null) return null
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return wait > 0 ? wait : null
}

/** The parser's own message would quote the answer. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the answer is not JSON')
  }
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > largest) throw new Error('the answer is larger than 16 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** fetch says little itself; its cause does. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } }
  if (name === 'TimeoutError') return `none within ${patience / 1000} s`
  return cause?.code ?? cause?.message ?? message
}
