// The checkpoint of the cut-off as a report shows it, and those published in the period.
import { formatNote, hexOf, type Note, parseCheckpoint, parseNote, parseVerifier, verifySignature } from '@svc/proof'
import type { ReportCheckpoint, ReportPlan, TableFacts } from '@svc/report'
import { maxCheckpoints } from '@svc/report'
import { isoTime, type LogKey } from '@svc/schemas'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import {
  type CheckpointKey,
  type CheckpointPage,
  type PublishedCheckpoint,
  readCutOff,
  readPublished,
} from '../../log/publish/store/period-checkpoints.js'
import type { Read } from './reading.js'

export interface SignedCutOff {
  readonly epoch: number
  readonly checkpoint: ReportCheckpoint
  readonly is_signed: boolean
}

/** Rejects with CONFLICT when the checkpoint of the plan is not in the database any more. */
export async function cutOffOf(
  read: Read,
  scope: Scope,
  { cut_off: size, root }: ReportPlan,
  keys: readonly LogKey[],
): Promise<SignedCutOff> {
  const found = await read((tx) => readCutOff(scope, tx, size, root))
  if (found === null)
    throw new PlatformError('CONFLICT', `the checkpoint of ${size} entries is not published: request the report again`)
  const { epoch, note: text, published_at } = found
  const note = parseNote(text)
  const signed = note === null ? null : parseCheckpoint(note.text)
  const isOf = signed !== null && signed.size === size && hexOf(signed.root) === root
  const origin = signed?.origin ?? ''
  const own = isOf ? signaturesOf(note as Note, origin, keys) : []
  const named = own.map(({ key: { key, fingerprint } }) => ({ name: key.split('+', 1)[0] ?? '', fingerprint }))
  const signatures = own.map(({ signature }) => signature)
  return {
    epoch,
    is_signed: own.length > 0,
    checkpoint: {
      origin,
      size,
      root,
      note: isOf ? formatNote({ text: (note as Note).text, signatures }) : '',
      published_at,
      keys: named,
    },
  }
}

/** The signatures of the log: witnesses sign later, and only a reader knows which of them to trust. */
function signaturesOf(note: Note, origin: string, keys: readonly LogKey[]) {
  const named = keys.filter(({ key }) => key.startsWith(`${origin}+`))
  return named.flatMap((key) => {
    const verifier = parseVerifier(key.key)
    const signature = note.signatures.find(
      (one) => verifier !== null && verifySignature(note.text, one, verifier) !== null,
    )
    return signature === undefined ? [] : { key, signature }
  })
}

/** The latest checkpoints published in the period and not after that of the cut-off, and how many others there are. */
export async function publishedIn(
  read: Read,
  scope: Scope,
  { period, cut_off }: ReportPlan,
  as_of: string,
): Promise<TableFacts['checkpoints']> {
  const last = isoTime(Date.parse(as_of) + 1)
  const bounds = { from: period.from, to: period.to < last ? period.to : last, cut_off }
  let rows: PublishedCheckpoint[] = []
  let count = 0
  let next: CheckpointKey | null = { epoch: 0, size: 0, published_at: '1970-01-01T00:00:00Z' }
  while (next !== null) {
    const part: CheckpointPage = await read((tx) => readPublished(scope, tx, bounds, next as CheckpointKey, sizes))
    rows = [...rows, ...part.rows].slice(-maxCheckpoints)
    count += part.count
    next = part.next
  }
  return { rows, more: count - rows.length }
}

/** Rows of the table of checkpoints that are read at once. */
const sizes = { limit: 5000, keep: maxCheckpoints }
