import {
  consistencyRanges,
  type Hash,
  hexOf,
  inclusionRanges,
  type Range,
  trustPolicyLines,
  verifyConsistency,
  verifyInclusion,
} from '@svc/proof'
import type { ConsistencyProof, InclusionProof, LogCheckpoint } from '@svc/schemas'
import { type Database, type Transaction, withSnapshot } from '../../../db/db.js'
import { PlatformError } from '../../../errors.js'
import { byReaderOrKey, type Call, parameters, route } from '../../../http/route.js'
import type { LogIdentity } from '../../publish/identity.js'
import { originOf } from '../../publish/origin.js'
import { latestCheckpoint, type StoredCheckpoint } from '../../publish/store/checkpoints.js'
import { findLeaf, hashesOf, type TaskLeaf, TreeError } from '../../publish/store/tree.js'
import { taskBelongsToKey } from '../store/tasks.js'

const tag = 'Log'
const policyType = 'text/plain; charset=utf-8'

export interface ProofParts {
  readonly db: Database
  readonly log: LogIdentity
}

export const logProofRoutes = [
  route({
    method: 'get',
    path: '/api/v1/log/checkpoint',
    summary: 'Get the latest signed checkpoint of the log',
    tag,
    access: byReaderOrKey,
    responses: { 200: 'log-checkpoint' },
    handle: (call, parts: ProofParts) => read(call, parts, async (_, latest) => checkpointView(call, parts, latest)),
  }),
  route({
    method: 'get',
    path: '/api/v1/log/trust-policy',
    summary:
      'Download the keys of the log as a trust policy, whose fingerprints an auditor compares over another channel',
    tag,
    access: byReaderOrKey,
    responses: {},
    file: policyType,
    handle: async (call, parts: ProofParts) => {
      const { body } = await read(call, parts, async (_, latest) => checkpointView(call, parts, latest))
      const content = Buffer.from(
        trustPolicyLines(body)
          .map((line) => `${line}\n`)
          .join(''),
      )
      const headers = { 'content-disposition': 'attachment; filename="trust.policy"', 'cache-control': 'no-store' }
      return { status: 200, bytes: { type: policyType, content }, headers }
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/log/proof/inclusion',
    summary: 'Get a proof that the signed log includes an entry',
    tag,
    access: byReaderOrKey,
    query: {
      log_id: parameters.text('id of the entry; give this or `log_index`'),
      log_index: parameters.index('log index of the entry'),
      size: parameters.id('size of the log; default: that of the latest checkpoint'),
    },
    responses: { 200: 'inclusion-proof' },
    handle: (call, parts: ProofParts) => read(call, parts, (tx, latest) => inclusion(call, tx, latest)),
  }),
  route({
    method: 'get',
    path: '/api/v1/log/proof/consistency',
    summary: 'Get a proof that the log has only grown between two sizes',
    tag,
    access: byReaderOrKey,
    query: {
      first: parameters.id('the earlier size'),
      second: parameters.id('the later size; default: that of the latest checkpoint'),
    },
    required: ['first'],
    responses: { 200: 'consistency-proof' },
    handle: (call, parts: ProofParts) => read(call, parts, (tx, latest) => consistency(call, tx, latest)),
  }),
]

async function read<Body>(
  call: Call,
  { db }: ProofParts,
  make: (tx: Transaction, latest: StoredCheckpoint) => Promise<Body>,
) {
  return withSnapshot(db, call.scope, async (tx) => {
    const latest = await latestCheckpoint(call.scope, tx)
    if (latest === null) throw new PlatformError('NOT_FOUND', 'no checkpoint has been published yet')
    return { status: 200, body: await make(tx, latest) }
  })
}

function checkpointView({ scope }: Call, { log }: ProofParts, latest: StoredCheckpoint): LogCheckpoint {
  const { size, root, note, published_at, epoch } = latest
  const origin = originOf(log.host, scope.org_id, epoch)
  const keys = [...log.keysOf(scope.org_id)]
  return { origin, size, root, published_at, note, key: log.verifierOf(origin), keys }
}

async function inclusion(call: Call, tx: Transaction, latest: StoredCheckpoint): Promise<InclusionProof> {
  const { log_id, log_index: index, size: requested } = call.query
  if ((log_id === undefined) === (index === undefined)) {
    const message = 'give one of `log_id` and `log_index`'
    throw new PlatformError('INVALID', message, { errors: [{ path: 'log_id', message }] })
  }
  const size = sizeWithin('size', requested, latest)
  const leaf = await findLeaf(call.scope, tx, log_id === undefined ? { log_index: Number(index) } : { log_id })
  if (leaf === null || !(await maySee(call, tx, leaf))) throw new PlatformError('NOT_FOUND', 'no such entry')
  const { log_index, leaf_hash } = leaf
  if (log_index >= size)
    throw new PlatformError('NOT_FOUND', `the entry is newer than the checkpoint of ${size} entries: try again shortly`)
  const [root, ...proof] = await hashes(call, tx, [{ from: 0, to: size }, ...inclusionRanges(log_index, size)])
  const isValid = verifyInclusion(Buffer.from(leaf_hash, 'hex'), log_index, size, proof, root)
  if (!isValid || !isSigned(root, size, latest)) throw notSigned()
  return { log_index, leaf_hash, size, root: hexOf(root), proof: proof.map(hexOf), note: noteFor(size, latest) }
}

async function consistency(call: Call, tx: Transaction, latest: StoredCheckpoint): Promise<ConsistencyProof> {
  const second = sizeWithin('second', call.query.second, latest)
  const first = sizeWithin('first', call.query.first, { ...latest, size: second })
  const [root, old, ...proof] = await hashes(call, tx, [
    { from: 0, to: second },
    { from: 0, to: first },
    ...consistencyRanges(first, second),
  ])
  const isValid = verifyConsistency(first, second, proof, old, root)
  if (!isValid || !isSigned(root, second, latest)) throw notSigned()
  const roots = { first_root: hexOf(old), second_root: hexOf(root) }
  return { first, second, ...roots, proof: proof.map(hexOf), note: noteFor(second, latest) }
}

/** An API key may see entries of its own agents' tasks; a signed-in member may see every leaf. */
async function maySee({ principal, scope }: Call, tx: Transaction, { task_id }: TaskLeaf): Promise<boolean> {
  if (principal.kind !== 'key') return true
  return task_id !== null && taskBelongsToKey(scope, tx, task_id, principal.key.key_id)
}

/** The hashes of ranges; a missing node means that the tree was changed from outside. */
async function hashes<Ranges extends readonly Range[]>(
  call: Call,
  tx: Transaction,
  ranges: readonly [...Ranges],
): Promise<{ [K in keyof Ranges]: Hash }> {
  try {
    return (await hashesOf(call.scope, tx, ranges)) as { [K in keyof Ranges]: Hash }
  } catch (error) {
    if (error instanceof TreeError) throw notSigned()
    throw error
  }
}

/** INVARIANT (no false proof): every proof for a signed size leads to the signed root. */
function isSigned(root: Hash, size: number, latest: StoredCheckpoint): boolean {
  return size !== latest.size || hexOf(root) === latest.root
}

function notSigned(): PlatformError {
  return new PlatformError('INTERNAL', 'the stored log is not the signed one, so no proof exists: see the audit trail')
}

function sizeWithin(name: string, given: string | undefined, { size }: { readonly size: number }): number {
  const wanted = given === undefined ? size : Number(given)
  if (wanted <= size) return wanted
  const message = `${wanted} exceeds the ${size} entries of the log`
  throw new PlatformError('INVALID', `\`${name}\`: ${message}`, { errors: [{ path: name, message }] })
}

function noteFor(size: number, latest: StoredCheckpoint): string | null {
  return size === latest.size ? latest.note : null
}
