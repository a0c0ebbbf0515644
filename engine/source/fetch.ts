// Asking a platform for the policies in effect for one agent.
import { documents, type EffectivePolicies } from '@svc/schemas'
import { createChecker, problemSummary } from '../schema-check.js'

export interface FetchedPolicies {
  readonly body: EffectivePolicies
  /** What the platform called this state of them. */
  readonly etag: string | null
}

export interface PlatformAddress {
  readonly url: string
  readonly api_key: string
  readonly agent_key: string
}

/** How long an answer may take, ms, and how large it may be, bytes. */
const patience = 10_000
const largest = 16 * 1024 * 1024

/** Null when nothing has changed since `etag`. Throws with a sentence that says what to do; the key is never in it. */
export async function fetchPolicies(
  { url, api_key, agent_key }: PlatformAddress,
  etag: string | null,
): Promise<FetchedPolicies | null> {
  const address = new URL(
    `api/v1/policies/effective?agent_key=${encodeURIComponent(agent_key)}`,
    `${url.replace(/\/+$/, '')}/`,
  )
  const headers = { authorization: `Bearer ${api_key}`, ...(etag !== null && { 'if-none-match': etag }) }
  // A key follows nobody to another address.
  const request = { headers, redirect: 'manual' as const, signal: AbortSignal.timeout(patience) }
  const response = await fetch(address, request).catch((error: unknown) => {
    throw new Error(`no answer from ${address.origin}: ${reasonOf(error)}`)
  })
  if (response.status === 304) return null
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(refusal(response.status, address.origin, agent_key))
  }
  return { body: policiesIn(JSON.parse(await textOf(response))), etag: response.headers.get('etag') }
}

/** The value as effective policies. Throws when it is none. */
export function policiesIn(value: unknown): EffectivePolicies {
  const problems = createChecker(Object.values(documents))('effective-policies.json')(value)
  if (problems.length === 0) return value as EffectivePolicies
  const errors = problems.map(({ path, message }) => ({ path: path.join('.'), message }))
  throw new Error(`these are no effective policies: ${problemSummary(errors)}`)
}

function refusal(status: number, origin: string, agent_key: string): string {
  if (status === 401 || status === 403) return `${origin} does not take the key in SVC_API_KEY (${status})`
  if (status === 404) return `${origin} knows no agent \`${agent_key}\` of this key: register it first (404)`
  if (status >= 300 && status < 400) return `${origin} points elsewhere (${status}): set SVC_API_URL to its own address`
  return `${origin} answered ${status}`
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
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } }
  return cause?.code ?? cause?.message ?? message ?? String(error)
}
