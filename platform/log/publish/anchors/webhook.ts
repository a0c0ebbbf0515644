// Whoever wants to hear of each checkpoint: it is posted as it is signed.
import type { Anchor, Surroundings } from './anchor.js'

/** `http://…` or `https://…`; null for anything else. Throws for an address that must not be called. */
export function webhookAnchor(text: string, { outgoing }: Surroundings): Anchor | null {
  if (!/^https?:\/\/[^/]/.test(text) || !URL.canParse(text)) return null
  const problem = outgoing.targets.problemOf(text)
  if (problem !== null) throw new Error(problem)
  const { host } = new URL(text)
  return {
    // An address may carry a secret, which no log needs.
    name: host,
    keep: async ({ note }) => {
      const headers = { 'content-type': 'text/plain; charset=utf-8' }
      const { status } = await outgoing.post(text, note, headers)
      if (status < 200 || status > 299) throw new Error(`it answers ${status}`)
    },
  }
}
