// The request of a log to a witness, and its evaluation (C2SP tlog-witness): a witness signs only a checkpoint that continues
// the one it saw last, so that a log cannot show two histories.

import { emptyTree, type Hash, verifyConsistency } from '../tree/merkle.js'
import {
  type Checkpoint,
  formatNote,
  type Note,
  parseCheckpoint,
  parseNote,
  type Signature,
  type Verifier,
  verifySignature,
} from './note.js'

export interface AddCheckpoint {
  /** Size of the checkpoint that the witness saw last, as far as the log knows. */
  readonly old: number
  readonly proof: readonly Hash[]
  readonly note: Note
  readonly checkpoint: Checkpoint
}

/** The protocol's limit on the hashes of a proof. */
const maxHashes = 63

/** The body of a request to POST /add-checkpoint. */
export function formatAddCheckpoint(old: number, proof: readonly Hash[], note: Note): string {
  const lines = proof.map((hash) => `${Buffer.from(hash).toString('base64')}\n`)
  return `old ${old}\n${lines.join('')}\n${formatNote(note)}`
}

/** Reads a request; null when it is malformed. */
export function parseAddCheckpoint(text: string): AddCheckpoint | null {
  const end = text.indexOf('\n\n')
  if (end < 0) return null
  const [first = '', ...lines] = text.slice(0, end).split('\n')
  const old = /^old (0|[1-9]\d{0,15})$/.exec(first)?.[1]
  const proof = lines.map((line) => Buffer.from(line, 'base64'))
  const canonical = proof.every((hash, index) => hash.length === 32 && hash.toString('base64') === lines[index])
  const note = parseNote(text.slice(end + 2))
  const checkpoint = note === null ? null : parseCheckpoint(note.text)
  if (old === undefined || !canonical || proof.length > maxHashes || note === null || checkpoint === null) return null
  return { old: Number(old), proof, note, checkpoint }
}

/** The last checkpoint of a log that a witness has signed. */
export interface Seen {
  readonly size: number
  readonly root: Hash
}

/** `sign`: the witness may sign. Every other kind is a reason to reject the request. */
export type Verdict =
  | { readonly kind: 'sign' }
  | { readonly kind: 'stale'; readonly size: number }
  | { readonly kind: 'malformed' | 'unsigned' | 'inconsistent' }

/** Evaluates a request against the keys of the log and the last checkpoint that was seen; null for a new log. */
export function evaluateAddCheckpoint(request: AddCheckpoint, keys: readonly Verifier[], seen: Seen | null): Verdict {
  const { old, proof, note, checkpoint } = request
  const signs = (signature: Signature) => keys.some((key) => verifySignature(note.text, signature, key) !== null)
  if (!note.signatures.some(signs)) return { kind: 'unsigned' }
  if (old > checkpoint.size) return { kind: 'malformed' }
  const known = seen?.size ?? 0
  if (old !== known) return { kind: 'stale', size: known }
  const root = Buffer.from(seen?.root ?? emptyTree)
  if (known === checkpoint.size && root.compare(checkpoint.root) !== 0) return { kind: 'stale', size: known }
  if (seen === null || known === 0) return proof.length === 0 ? { kind: 'sign' } : { kind: 'inconsistent' }
  const continues = verifyConsistency(known, checkpoint.size, proof, seen.root, checkpoint.root)
  return { kind: continues ? 'sign' : 'inconsistent' }
}
