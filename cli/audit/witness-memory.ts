// A witness: it remembers the last checkpoint of each log, and signs only checkpoints that continue it.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, replaceFile, sharedFolderProblem } from '@svc/engine/parts'
import {
  evaluateAddCheckpoint,
  formatVerifier,
  parseAddCheckpoint,
  parseJson,
  type Seen,
  type Signer,
  signatureLine,
  signerOf,
  signText,
  type Verdict,
  type Verifier,
} from '@svc/proof'

export interface WitnessAnswer {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422
  readonly type: 'text/plain; charset=utf-8' | 'text/x.tlog.size'
  readonly body: string
}

export interface Witness {
  /** Its key, for trust policies. */
  readonly key: string
  /** Answers a request (C2SP tlog-witness). */
  readonly add: (request: string) => WitnessAnswer
}

export interface WitnessParts {
  /** Folder of its key and its memory. */
  readonly folder: string
  readonly name: string
  /** Keys of the logs that it watches; the name of a key is the origin of its log. */
  readonly logs: readonly Verifier[]
  /** ms since 1970 */
  readonly clock: () => number
}

/** Opens the witness of the folder, or creates one. Throws when the key in the folder is damaged, or others can write there. */
export function openWitness({ folder, name, logs, clock }: WitnessParts): Witness {
  const problem = sharedFolderProblem(folder)
  if (problem !== null) throw new Error(problem)
  const signer = signerIn(join(folder, 'witness-key'), name)
  return {
    key: formatVerifier(signer.verifier),
    add: (text) => {
      const request = parseAddCheckpoint(text)
      if (request === null) return rejections.malformed
      const { checkpoint, note } = request
      const keys = logs.filter((key) => key.name === checkpoint.origin)
      if (keys.length === 0) return answer(404, 'this witness does not watch that log')
      const path = join(folder, 'seen', `${encodeURIComponent(checkpoint.origin)}.json`)
      const verdict = evaluateAddCheckpoint(request, keys, seenIn(path))
      if (verdict.kind !== 'sign') return rejectionOf(verdict)
      // INVARIANT (signed means remembered): the checkpoint is on disk before the signature is returned.
      const root = Buffer.from(checkpoint.root).toString('hex')
      replaceFile(path, JSON.stringify({ origin: checkpoint.origin, size: checkpoint.size, root }))
      return answer(200, signatureLine(signText(note.text, signer, Math.floor(clock() / 1000))))
    },
  }
}

function answer(status: WitnessAnswer['status'], body: string): WitnessAnswer {
  return { status, type: 'text/plain; charset=utf-8', body: body.endsWith('\n') ? body : `${body}\n` }
}

const rejections = {
  malformed: answer(400, 'the body is not an add-checkpoint request (C2SP tlog-witness)'),
  unsigned: answer(403, 'the checkpoint has no signature by a key that this witness knows for that log'),
  inconsistent: answer(422, 'the consistency proof does not show that the log has only grown'),
} as const

function rejectionOf(verdict: Exclude<Verdict, { kind: 'sign' }>): WitnessAnswer {
  if (verdict.kind === 'stale') return { status: 409, type: 'text/x.tlog.size', body: `${verdict.size}\n` }
  return rejections[verdict.kind]
}

function signerIn(path: string, name: string): Signer {
  const text = readIfThere(path)
  if (text !== null && !/^[0-9a-f]{64}\n$/.test(text))
    throw new Error(`\`${path}\` does not hold a key: restore the key of this witness`)
  const seed = text === null ? randomBytes(32) : Buffer.from(text.trim(), 'hex')
  const signer = signerOf(name, 'witness', seed)
  if (text === null) replaceFile(path, `${seed.toString('hex')}\n`)
  return signer
}

/** The last checkpoint; null before the first. Throws when the file is damaged: nothing may be signed then. */
function seenIn(path: string): Seen | null {
  const text = readIfThere(path)
  if (text === null) return null
  try {
    const { size, root } = parseJson(text) as { size?: number; root?: string }
    if (Number.isSafeInteger(size) && /^[0-9a-f]{64}$/.test(root ?? ''))
      return { size: size as number, root: Buffer.from(root as string, 'hex') }
  } catch {
    // Rejected below, as is JSON of another shape.
  }
  throw new Error(`\`${path}\` is damaged: it holds the last checkpoint of the log, and nothing is signed without it`)
}
