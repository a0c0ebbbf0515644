// The kinds of anchors, and storing a checkpoint in every configured one. A new kind is one file here and one line in `kinds`.
import type { Anchor, AnchorContext, Anchored } from './anchor.js'
import { fileAnchor } from './file.js'
import { gitAnchor } from './git.js'
import { webhookAnchor } from './webhook.js'

/** Creates an anchor from an item of SVC_ANCHORS; null for an item of another kind. */
type Kind = (text: string, context: AnchorContext) => Anchor | null

const kinds: readonly Kind[] = [fileAnchor, gitAnchor, webhookAnchor]

/** The forms of an item. */
export const anchorForms = '`file:FOLDER`, `git:FOLDER` or `https://…`'

/** The anchor of an item; null for an item in none of `anchorForms`. Throws for an address that must not be called. */
export function parseAnchor(text: string, context: AnchorContext): Anchor | null {
  for (const kind of kinds) {
    const anchor = kind(text, context)
    if (anchor !== null) return anchor
  }
  return null
}

export interface Anchors {
  /** Stores the checkpoint in every anchor. Never rejects. */
  readonly store: (checkpoint: Anchored) => Promise<void>
}

/** `report` is called once per problem of an anchor, until the anchor works again. */
export function createAnchors(anchors: readonly Anchor[], report: (message: string) => void): Anchors {
  const reported = new Map<string, string>()
  const storeIn = async (anchor: Anchor, checkpoint: Anchored) => {
    try {
      await anchor.store(checkpoint)
      reported.delete(anchor.name)
    } catch (error) {
      const problem = (error instanceof Error ? error.message : String(error)).slice(0, 300)
      if (reported.get(anchor.name) === problem) return
      reported.set(anchor.name, problem)
      report(`anchor \`${anchor.name}\` has not stored checkpoint ${checkpoint.size}: ${problem}`)
    }
  }
  return {
    store: async (checkpoint) => {
      await Promise.all(anchors.map((anchor) => storeIn(anchor, checkpoint)))
    },
  }
}
