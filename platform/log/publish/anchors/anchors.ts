// The kinds of anchors, and keeping a checkpoint at all that are configured. A new kind is one file here and one line in `kinds`.
import type { Anchor, Anchored, Surroundings } from './anchor.js'
import { fileAnchor } from './file.js'
import { gitAnchor } from './git.js'
import { webhookAnchor } from './webhook.js'

/** Makes an anchor of what stands behind `file:`, `git:` or is an address; null for what it cannot be. */
type Kind = (text: string, around: Surroundings) => Anchor | null

const kinds: readonly Kind[] = [fileAnchor, gitAnchor, webhookAnchor]

/** `file:FOLDER`, `git:FOLDER` or `https://…`; null for anything else. Throws for what must not be called. */
export function parseAnchor(text: string, around: Surroundings): Anchor | null {
  for (const kind of kinds) {
    const anchor = kind(text, around)
    if (anchor !== null) return anchor
  }
  return null
}

export interface Anchors {
  /** Never rejects. */
  readonly keep: (checkpoint: Anchored) => Promise<void>
}

/** `report` is told once of what went wrong with an anchor, until it works again. */
export function createAnchors(anchors: readonly Anchor[], report: (message: string) => void): Anchors {
  const told = new Map<string, string>()
  const keepAt = async (anchor: Anchor, checkpoint: Anchored) => {
    try {
      await anchor.keep(checkpoint)
      told.delete(anchor.name)
    } catch (error) {
      const trouble = (error instanceof Error ? error.message : String(error)).slice(0, 300)
      if (told.get(anchor.name) === trouble) return
      told.set(anchor.name, trouble)
      report(`anchor ${anchor.name} has not kept checkpoint ${checkpoint.size}: ${trouble}`)
    }
  }
  return {
    keep: async (checkpoint) => {
      await Promise.all(anchors.map((anchor) => keepAt(anchor, checkpoint)))
    },
  }
}
