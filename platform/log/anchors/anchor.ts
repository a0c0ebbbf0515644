// Places outside this installation where checkpoints are kept, so that nobody can later claim another past. A new kind is one
// file here and one line in `kinds`.
import type { Outgoing } from '../../outgoing/outgoing.js'
import { fileAnchor } from './file.js'
import { gitAnchor } from './git.js'
import { webhookAnchor } from './webhook.js'

export interface Anchored {
  readonly origin: string
  readonly size: number
  /** The signed note, with the signatures of its witnesses. */
  readonly note: string
}

export interface Anchor {
  /** Where it is, as it is configured. */
  readonly name: string
  /** Keeps the checkpoint; rejects when that was not possible. The next one comes anyway. */
  readonly keep: (checkpoint: Anchored) => Promise<void>
}

/** Makes an anchor of what stands behind `file:`, `git:` or is an address; null for what it cannot be. */
type Kind = (text: string, around: Surroundings) => Anchor | null

export interface Surroundings {
  /** What programs that are started here may know of this process's own environment. */
  readonly env: Readonly<Record<string, string>>
  readonly outgoing: Outgoing
}

const kinds: readonly Kind[] = [fileAnchor, gitAnchor, webhookAnchor]

/** `file:FOLDER`, `git:FOLDER` or `https://…`; null for anything else. Throws for what must not be called. */
export function parseAnchor(text: string, around: Surroundings): Anchor | null {
  for (const kind of kinds) {
    const anchor = kind(text, around)
    if (anchor !== null) return anchor
  }
  return null
}

/** A file name of its own for each log. */
export function fileNameOf(origin: string): string {
  return encodeURIComponent(origin).replaceAll('.', '%2E')
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
