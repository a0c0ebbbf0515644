// Whoever wants to hear of each checkpoint: it is posted as it is signed.
import type { Anchor } from './anchor.js'

const patience = 5_000

/** `http://…` or `https://…`; null for anything else. */
export function webhookAnchor(text: string): Anchor | null {
  if (!/^https?:\/\/[^/]/.test(text) || !URL.canParse(text)) return null
  const { host } = new URL(text)
  return {
    // An address may carry a secret, which no log needs.
    name: host,
    keep: async ({ note }) => {
      const headers = { 'content-type': 'text/plain; charset=utf-8' }
      const signal = AbortSignal.timeout(patience)
      const answer = await fetch(text, { method: 'POST', headers, body: note, redirect: 'manual', signal }).catch(
        (error: unknown) => {
          throw new Error(
            `it does not answer: ${String((error as { cause?: { code?: unknown } }).cause?.code ?? 'no reason given')}`,
          )
        },
      )
      await answer.body?.cancel()
      if (!answer.ok) throw new Error(`it answers ${answer.status}`)
    },
  }
}
