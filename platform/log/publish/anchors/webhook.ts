// An HTTP endpoint that receives each signed checkpoint by POST.
import type { Anchor, AnchorContext } from './anchor.js'

/** `http://…` or `https://…`; null for anything else. Throws for an address that must not be called. */
export function webhookAnchor(text: string, { outgoing }: AnchorContext): Anchor | null {
  if (!/^https?:\/\/[^/]/.test(text) || !URL.canParse(text)) return null
  const problem = outgoing.targets.problemOf(text)
  if (problem !== null) throw new Error(problem)
  const { host } = new URL(text)
  return {
    // The path of an address may hold a secret, which must not reach the log file.
    name: host,
    store: async ({ note }) => {
      const headers = { 'content-type': 'text/plain; charset=utf-8' }
      const { status } = await outgoing.post(text, note, headers)
      if (status < 200 || status > 299) throw new Error(`it responded with status ${status}`)
    },
  }
}
