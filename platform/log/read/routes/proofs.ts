import { consistencyRanges, type Hash, inclusionRanges, verifyConsistency, verifyInclusion } from '@svc/proof'
import type { ConsistencyProof, InclusionProof, LogCheckpoint } from '@svc/schemas'
import { type Database, type Transaction, withSnapshot } from '../../../db/db.js'
import { PlatformError } from '../../../errors.js'
import { byEither, type Call, parameters, route } from '../../../http/route.js'
import type { LogIdentity } from '../../publish/identity.js'
import { originOf } from '../../publish/publish.js'
import { latestCheckpoint, type StoredCheckpoint } from '../../publish/store/checkpoints.js'
import { findLeaf, hashesOf, type LeafPlace, TreeError } from '../../publish/store/tree.js'
import { taskBelongsToKey } from '../store/tasks.js'

const tag = 'Log'

export interface ProofParts {
  readonly db: Database
  readonly log: LogIdentity
}

const count = parameters.id

export const logProofRoutes = [
  route({
    method: 'get',
    path: '/api/v1/log/checkpoint',
    summary: 'The latest signed checkpoint of the log',
    tag,
    access: byEither,
    responses: { 200: 'log-checkpoint' },
    handle: (call, parts: ProofParts) => read(call, parts, async (_, latest) => checkpointView(call, parts, latest)),
  }),
  route({
    method: 'get',
    path: '/api/v1/log/proof/inclusion',
    summary: 'Proof that an entry is in the log as it was signed',
    tag,
    access: byEither,
    query: {
      log_id: parameters.text('the entry, or'),
      log_index: parameters.index('its place in the log'),
      size: count('size of the log the proof is for; default that of the latest checkpoint'),
    },
    responses: { 200: 'inclusion-proof' },
    handle: (call, parts: ProofParts) => read(call, parts, (tx, latest) => inclusion(call, tx, latest)),
  }),
  route({
    method: 'get',
    path: '/api/v1/log/proof/consistency',
    summary: 'Proof that the log has only grown between two sizes',
    tag,
    access: byEither,
    query: {
      first: count('size that somebody has seen'),
      second: count('size since; default that of the latest checkpoint'),
    },
    required: ['first'],
    responses: { 200: 'consistency-proof' },
    handle: (call, parts: ProofParts) => read(call, parts, (tx, latest) => consistency(call, tx, latest)),
  }),
]

async function read(
  call: Call,
  { db }: ProofParts,
  make: (tx: Transaction, latest: StoredCheckpoint) => Promise<unknown>,
) {
  return withSnapshot(db, call.scope, async (tx) => {
    const latest = await latestCheckpoint(call.scope, tx)
    if (latest === null) throw new PlatformError('NOT_FOUND', 'no checkpoint has been published yet')
    return { status: 200, body: await make(tx, latest) }
  })
}

function checkpointView({ scope }: Call, { log }: ProofParts, latest: StoredCheckpoint): LogCheckpoint {
  const { size, root, note, published_at, incarnation } = latest
  const origin = originOf(log.host, scope.org_id, incarnation)
  const keys = [...log.keysOf(scope.org_id)]
  return { origin, size, root, published_at, note, key: log.verifierOf(origin), keys }
}

async function inclusion(call: Call, tx: Transaction, latest: StoredCheckpoint): Promise<InclusionProof> {
  const { log_id, log_index: index, size: asked } = call.query
  if ((log_id === undefined) === (index === undefined)) {
    const message = 'give either `log_id` or `log_index`'
    throw new PlatformError('INVALID', message, { errors: [{ path: 'log_id', message }] })
  }
  const size = sizeWithin('size', asked, latest)
  const leaf = await findLeaf(call.scope, tx, log_id === undefined ? { log_index: Number(index) } : { log_id })
  if (leaf === null || !(await maySee(call, tx, leaf))) throw new PlatformError('NOT_FOUND', 'no such entry')
  const { log_index, leaf_hash } = leaf
  if (log_index >= size)
    throw new PlatformError('NOT_FOUND', `the entry is newer than the checkpoint of ${size} entries: try again shortly`)
  const [root, ...proof] = await hashes(call, tx, [{ from: 0, to: size }, ...inclusionRanges(log_index, size)])
  const sound = verifyInclusion(Buffer.from(leaf_hash, 'hex'), log_index, size, proof, root)
  if (!sound || !isSigned(root, size, latest)) throw notAsSigned()
  return { log_index, leaf_hash, size, root: hex(root), proof: proof.map(hex), note: noteFor(size, latest) }
}

async function consistency(call: Call, tx: Transaction, latest: StoredCheckpoint): Promise<ConsistencyProof> {
  const second = sizeWithin('second', call.query.second, latest)
  const first = sizeWithin('first', call.query.first, { ...latest, size: second })
  const ranges = [{ from: 0, to: second }, { from: 0, to: first }, ...consistencyRanges(first, second)]
  const [root, old, ...proof] = await hashes(call, tx, ranges)
  const sound = verifyConsistency(first, second, proof, old as Hash, root)
  if (!sound || !isSigned(root, second, latest)) throw notAsSigned()
  const roots = { first_root: hex(old as Hash), second_root: hex(root) }
  return { first, second, ...roots, proof: proof.map(hex), note: noteFor(second, latest) }
}

/** A key sees entries of its own agents' tasks; whoever signs in sees every leaf. */
async function maySee({ principal, scope }: Call, tx: Transaction, { task_id }: LeafPlace): Promise<boolean> {
  if (principal.kind !== 'key') return true
  return task_id !== null && taskBelongsToKey(scope, tx, task_id, principal.key.key_id)
}

/** A part of the tree that cannot be read is one that somebody has removed. */
async function hashes(call: Call, tx: Transaction, ranges: Parameters<typeof hashesOf>[2]): Promise<[Hash, ...Hash[]]> {
  try {
    return (await hashesOf(call.scope, tx, ranges)) as [Hash, ...Hash[]]
  } catch (error) {
    if (error instanceof TreeError) throw notAsSigned()
    throw error
  }
}

/** INVARIANT (no false proof): what is handed out leads to the root that was signed, where one was. */
function isSigned(root: Hash, size: number, latest: StoredCheckpoint): boolean {
  return size !== latest.size || hex(root) === latest.root
}

function notAsSigned(): PlatformError {
  return new PlatformError(
    'INTERNAL',
    'the stored log is not the one that was signed: no proof can be made; see the audit trail',
  )
}

function sizeWithin(name: string, said: string | undefined, { size }: { readonly size: number }): number {
  const wanted = said === undefined ? size : Number(said)
  if (wanted <= size) return wanted
  const message = `${wanted} is more than the ${size} entries there are in it`
  throw new PlatformError('INVALID', `\`${name}\`: ${message}`, { errors: [{ path: name, message }] })
}

function noteFor(size: number, latest: StoredCheckpoint): string | null {
  return size === latest.size ? latest.note : null
}

function hex(hash: Hash): string {
  return Buffer.from(hash).toString('hex')
}
