// A witness: it remembers how far each log had come, and signs for nothing that is not a continuation.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine'
import {
  evaluateAddCheckpoint,
  formatVerifier,
  parseAddCheckpoint,
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
  /** Its key, for those who trust it to write down. */
  readonly key: string
  /** Answers a request as C2SP tlog-witness has it. */
  readonly add: (request: string) => WitnessAnswer
}

export interface WitnessParts {
  /** Where its key and its memory are. */
  readonly folder: string
  readonly name: string
  /** Keys of the logs it watches; the name of a key is the origin of its log. */
  readonly logs: readonly Verifier[]
  /** ms since 1970 */
  readonly clock: () => number
}

/** Opens the witness that lives in the folder, or makes one. Throws when what is there is not its own. */
export function openWitness({ folder, name, logs, clock }: WitnessParts): Witness {
  const signer = signerIn(join(folder, 'witness-key'), name)
  return {
    key: formatVerifier(signer.verifier),
    add: (text) => {
      const request = parseAddCheckpoint(text)
      if (request === null) return refusals.malformed
      const { checkpoint, note } = request
      const keys = logs.filter((key) => key.name === checkpoint.origin)
      if (keys.length === 0) return answer(404, 'this witness does not watch that log')
      const path = join(folder, 'seen', `${encodeURIComponent(checkpoint.origin)}.json`)
      const verdict = evaluateAddCheckpoint(request, keys, seenIn(path))
      if (verdict.kind !== 'sign') return refusalOf(verdict)
      // INVARIANT (signed means remembered): written down before anybody can see the signature.
      const root = Buffer.from(checkpoint.root).toString('hex')
      replaceFile(path, JSON.stringify({ origin: checkpoint.origin, size: checkpoint.size, root }))
      return answer(200, signatureLine(signText(note.text, signer, Math.floor(clock() / 1000))))
    },
  }
}

function answer(status: WitnessAnswer['status'], body: string): WitnessAnswer {
  return { status, type: 'text/plain; charset=utf-8', body: body.endsWith('\n') ? body : `${body}\n` }
}

const refusals = {
  malformed: answer(400, 'this is no request to add a checkpoint'),
  unsigned: answer(403, 'no signature of a key this witness knows of that log'),
  inconsistent: answer(422, 'the proof does not show that the log has only grown'),
} as const

function refusalOf(verdict: Exclude<Verdict, { kind: 'sign' }>): WitnessAnswer {
  if (verdict.kind === 'stale') return { status: 409, type: 'text/x.tlog.size', body: `${verdict.size}\n` }
  return refusals[verdict.kind]
}

function signerIn(path: string, name: string): Signer {
  const text = readIfThere(path)
  if (text !== null && !/^[0-9a-f]{64}\n$/.test(text))
    throw new Error(`\`${path}\` is no key: put the key of this witness back`)
  const seed = text === null ? randomBytes(32) : Buffer.from(text.trim(), 'hex')
  const signer = signerOf(name, 'witness', seed)
  if (text === null) replaceFile(path, `${seed.toString('hex')}\n`)
  return signer
}

/** What was seen last; null when nothing was. Throws when it cannot be told: then nothing may be signed. */
function seenIn(path: string): Seen | null {
  const text = readIfThere(path)
  if (text === null) return null
  try {
    const { size, root } = JSON.parse(text) as { size?: number; root?: string }
    if (Number.isSafeInteger(size) && /^[0-9a-f]{64}$/.test(root ?? ''))
      return { size: size as number, root: Buffer.from(root as string, 'hex') }
  } catch {
    // Answered below, like a file of another shape.
  }
  throw new Error(`\`${path}\` is damaged: it says how far the log had come, and nothing is signed without it`)
}
