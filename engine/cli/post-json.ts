// Posting to a platform, patiently: what is sent is safe to send again.
import type { Problem } from '@svc/schemas'

/** How long to keep trying while the platform is away, ms: a restart takes seconds. */
const patience = 120_000

/** The first answer that is accepted. Rejects with the problem's own words, or when the platform stays away. */
export async function postJson<T>(
  url: string,
  api_key: string,
  body: unknown,
  accept: (answer: T) => boolean = () => true,
): Promise<T> {
  const text = JSON.stringify(body)
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
  const started = Date.now()
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(url, { method: 'POST', headers, body: text, redirect: 'error' }).catch(reasonOf)
    const answer =
      response instanceof Response && response.ok ? ((await response.json().catch(() => null)) as T | null) : null
    if (answer !== null && accept(answer)) return answer
    if (response instanceof Response && !response.ok && response.status !== 429 && response.status !== 503) {
      throw new Error(`${url} answered ${response.status}: ${await detailOf(response)}`)
    }
    const reason = response instanceof Response ? `status ${response.status}` : response
    if (Date.now() - started > patience) throw new Error(`${url} does not answer: ${reason}`)
    const asked = response instanceof Response ? Number(response.headers.get('retry-after') ?? 0) * 1000 : 0
    await new Promise((resolve) => setTimeout(resolve, Math.max(asked, Math.min(5000, 100 * 2 ** attempt))))
  }
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string }; message: string }
  return cause?.code ?? message
}

async function detailOf(response: Response): Promise<string> {
  const problem = (await response.json().catch(() => null)) as Partial<Problem> | null
  return problem?.detail ?? response.statusText
}
