// Other people's word for a log: each new checkpoint is shown to witnesses, which sign it when it continues the last one
// they saw (C2SP tlog-witness). Theirs is what holds against whoever has this installation's own key.
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

/** `URL#KEY`, the key as the witness prints it; null for anything else. */
export function parseWitness(text: string): WitnessAddress | null {
  const [url = '', written = ''] = text.split(/#(.*)/s)
  const key = parseVerifier(written)
  return /^https?:\/\/[^/]/.test(url) && key?.kind === 'witness' ? { url: url.replace(/\/+$/, ''), key } : null
}

export interface Witnesses {
  /** Shows the checkpoint to all of them; never rejects. Signatures that come join its note. */
  readonly show: (scope: Scope, checkpoint: StoredCheckpoint) => Promise<void>
}

/** `report` is told once of what a witness answers instead of a signature, until it signs again. */
export function createWitnesses(
  db: Database,
  witnesses: readonly WitnessAddress[],
  { post }: Outgoing,
  report: (message: string) => void,
): Witnesses {
  /** What each is known to have seen last, by witness and log. */
  const seen = new Map<string, number>()
  const told = new Map<string, string>()

  const ask = async (scope: Scope, { url, key }: WitnessAddress, checkpoint: StoredCheckpoint) => {
    const known = `${key.name} ${scope.org_id} ${checkpoint.incarnation}`
    for (let tries = 0; tries < 2; tries++) {
      const old = seen.get(known) ?? 0
      const { status, text } = await post(`${url}/add-checkpoint`, await requestFor(db, scope, old, checkpoint))
      if (status === 200) {
        const signature = signatureOf(text, key, checkpoint)
        if (signature === null) throw new Error('it answers with a signature that is not its own')
        seen.set(known, checkpoint.size)
        return signature
      }
      const size = Number(/^\d{1,15}\n$/.exec(text)?.[0] ?? Number.NaN)
      // It has seen another size than was thought here, which is no fault: what it saw is where the proof must begin.
      if (status !== 409 || !(size <= checkpoint.size) || size === old)
        throw new Error(`it answers ${status}: ${short(text)}`)
      seen.set(known, size)
    }
    throw new Error('it is shown this log by somebody else as well')
  }

  const show = async (scope: Scope, checkpoint: StoredCheckpoint) => {
    const shown = await Promise.all(
      witnesses.map(async (witness) => {
        const known = `${witness.key.name} ${scope.org_id}`
        try {
          const signature = await ask(scope, witness, checkpoint)
          await withTransaction(db, scope, (tx) => addSignature(scope, tx, checkpoint, signatureLine(signature)))
          return { known, trouble: null }
        } catch (error) {
          return { known, trouble: error instanceof Error ? error.message : String(error) }
        }
      }),
    )
    for (const { known, trouble } of shown) {
      if (trouble === null) told.delete(known)
      else if (told.get(known) !== trouble) {
        told.set(known, trouble)
        report(`witness ${known.split(' ')[0]} has not signed checkpoint ${checkpoint.size}: ${trouble}`)
      }
    }
  }
  return { show }
}

async function requestFor(db: Database, scope: Scope, old: number, { size, note }: StoredCheckpoint): Promise<string> {
  const read = parseNote(note)
  if (read === null) throw new Error('the stored note is none')
  const proof =
    old === 0 ? [] : await withSnapshot(db, scope, (tx) => hashesOf(scope, tx, consistencyRanges(old, size)))
  return formatAddCheckpoint(old, proof, read)
}

/** The witness's signature on the note, once it is known to be one. */
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
