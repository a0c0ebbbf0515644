// Cosignatures of a log: each new checkpoint is sent to witnesses, which sign it when it continues the last one they saw (C2SP
// tlog-witness). They protect against misuse of this installation's own key.
import {
  consistencyRanges,
  formatAddCheckpoint,
  parseNote,
  parseVerifier,
  readSignature,
  type Signature,
  signatureLine,
  type Verifier,
  verifySignature,
} from '@svc/proof'
import { type Database, withSnapshot, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import type { Outgoing } from '../../outgoing/outgoing.js'
import { addSignature, type StoredCheckpoint } from './store/checkpoints.js'
import { hashesOf } from './store/tree.js'

export interface WitnessAddress {
  readonly url: string
  readonly key: Verifier
}

/** `URL#KEY`, with the key as the witness prints it; null for anything else. */
export function parseWitness(text: string): WitnessAddress | null {
  const [url = '', written = ''] = text.split(/#(.*)/s)
  const key = parseVerifier(written)
  return /^https?:\/\/[^/]/.test(url) && key?.kind === 'witness'
    ? { url: url.replace(/\/+$|\/+add-checkpoint\/*$/, ''), key }
    : null
}

export interface Witnesses {
  /** Sends the checkpoint to every witness and adds the signatures to its note. Never rejects. */
  readonly cosign: (scope: Scope, checkpoint: StoredCheckpoint) => Promise<void>
}

/** `report` is called once per problem of a witness, until the witness signs again. */
export function createWitnesses(
  db: Database,
  witnesses: readonly WitnessAddress[],
  { post }: Outgoing,
  report: (message: string) => void,
): Witnesses {
  /** The last size that each witness has seen, by witness and log. */
  const seen = new Map<string, number>()
  const reported = new Map<string, string>()

  const request = async (scope: Scope, { url, key }: WitnessAddress, checkpoint: StoredCheckpoint) => {
    const log = `${key.name} ${scope.org_id} ${checkpoint.epoch}`
    for (let tries = 0; tries < 2; tries++) {
      const old = seen.get(log) ?? 0
      const { status, text } = await post(`${url}/add-checkpoint`, await requestFor(db, scope, old, checkpoint))
      if (status === 200) {
        const signature = signatureOf(text, key, checkpoint)
        if (signature === null) throw new Error('the signature in its response is not its own')
        seen.set(log, checkpoint.size)
        return signature
      }
      const size = Number(/^\d{1,15}\n$/.exec(text)?.[0] ?? Number.NaN)
      // The witness has seen another size than the one recorded here. This is expected: the proof must begin at that size.
      if (status !== 409 || !(size <= checkpoint.size) || size === old)
        throw new Error(`it responded with status ${status}: ${short(text)}`)
      seen.set(log, size)
    }
    throw new Error('another platform sends it checkpoints of this log as well')
  }

  const cosign = async (scope: Scope, checkpoint: StoredCheckpoint) => {
    const results = await Promise.all(
      witnesses.map(async (witness) => {
        const log = `${witness.key.name} ${scope.org_id}`
        try {
          const signature = await request(scope, witness, checkpoint)
          await withTransaction(db, scope, (tx) => addSignature(scope, tx, checkpoint, signatureLine(signature)))
          return { witness, log, problem: null }
        } catch (error) {
          return { witness, log, problem: error instanceof Error ? error.message : String(error) }
        }
      }),
    )
    for (const { witness, log, problem } of results) {
      if (problem === null) reported.delete(log)
      else if (reported.get(log) !== problem) {
        reported.set(log, problem)
        report(`witness \`${witness.key.name}\` has not signed checkpoint ${checkpoint.size}: ${problem}`)
      }
    }
  }
  return { cosign }
}

async function requestFor(db: Database, scope: Scope, old: number, { size, note }: StoredCheckpoint): Promise<string> {
  const read = parseNote(note)
  if (read === null) throw new Error('the stored note of the checkpoint is damaged')
  const proof =
    old === 0 ? [] : await withSnapshot(db, scope, (tx) => hashesOf(scope, tx, consistencyRanges(old, size)))
  return formatAddCheckpoint(old, proof, read)
}

/** The valid signature of the witness on the note; null when the text has none. */
function signatureOf(text: string, key: Verifier, { note }: StoredCheckpoint): Signature | null {
  const read = parseNote(note)
  const signatures = text.split('\n').map(readSignature)
  return (
    signatures.find((one) => one !== null && read !== null && verifySignature(read.text, one, key) !== null) ?? null
  )
}

function short(text: string): string {
  return text.trim().slice(0, 120)
}
