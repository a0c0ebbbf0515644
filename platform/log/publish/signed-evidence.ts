// The signed checkpoints of a log, from the signer's folder, the database and `file:` anchors. Write access to the database is
// enough to delete some of them, but not to forge one.
import { hexOf, parseCheckpoint, parseNote, parseTrustPolicy, signedByLog } from '@svc/proof'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { notesInAnchor } from './anchors/file.js'
import { originOf } from './origin.js'
import type { SignedSize } from './signed-state.js'
import type { LogSigner } from './signer.js'
import { notesAfter, notesUpTo } from './store/checkpoints.js'

export interface EvidenceParts {
  readonly signer: LogSigner
  readonly log_host: string
  /** Anchors as they are configured. */
  readonly anchors: readonly string[]
}

/** The signed sizes of the latest epoch of a log. */
export interface SignedEvidence {
  readonly origin: string
  /** The highest epoch that the signer or a signed checkpoint names. */
  readonly epoch: number
  /** Ascending. */
  readonly sizes: readonly SignedSize[]
}

/** Collects the signed sizes to compare a log of `size` entries with. */
export async function signedEvidence(
  { signer, log_host, anchors }: EvidenceParts,
  scope: Scope,
  tx: Transaction,
  size: number,
): Promise<SignedEvidence> {
  const own = signer.epochOf(scope.org_id)
  const origin = originOf(log_host, scope.org_id, own)
  const later = (await notesAfter(scope, tx, own)).find(({ epoch, note }) => {
    return signedSize(signer, originOf(log_host, scope.org_id, epoch), note) !== null
  })
  const state = signer.last(origin)
  const stored = [
    ...(await notesUpTo(scope, tx, own, Number.MAX_SAFE_INTEGER)),
    ...(await notesUpTo(scope, tx, own, size)),
    ...anchors.flatMap((anchor) => notesInAnchor(anchor, origin, size)),
  ]
  const notes = [...new Set(stored)].flatMap((note) => signedSize(signer, origin, note) ?? [])
  const remembered = state === null ? [] : [...state.earlier, { size: state.size, root: state.root }]
  const sizes = [...remembered, ...notes].sort((a, b) => a.size - b.size)
  return { origin, epoch: later?.epoch ?? own, sizes }
}

/** The checkpoint of a note; null unless a key of the log has signed it for this origin. */
function signedSize(signer: LogSigner, origin: string, text: string): SignedSize | null {
  const note = parseNote(text)
  const checkpoint = note === null ? null : parseCheckpoint(note.text)
  if (note === null || checkpoint === null || checkpoint.origin !== origin) return null
  const { value: policy } = parseTrustPolicy(
    signer
      .everyVerifierOf(origin)
      .map((key) => `log ${key}\n`)
      .join(''),
  )
  if (signedByLog(note, origin, policy) === null) return null
  return { size: checkpoint.size, root: hexOf(checkpoint.root) }
}
