import { type TreeFinding, taskVerifier } from '@svc/proof'
import { type Resources, type Transaction, withSnapshot } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { PlatformError } from '../../../errors.js'
import { byEither, type Call, route } from '../../../http/route.js'
import { readHead } from '../../../ledger/log.js'
import { latestCheckpoint } from '../../publish/store/checkpoints.js'
import { firstNotSigned } from '../../publish/store/tree-check.js'
import { erasedOf } from '../store/erasures.js'
import { readLogs } from '../store/logs.js'
import { readTaskVerbatim, taskBelongsToKey } from '../store/tasks.js'

const tag = 'Tasks'

export const taskRoutes = [
  route({
    method: 'get',
    path: '/api/v1/tasks/{task_id}/chain',
    summary: "A task's whole chain, in arrival order",
    tag,
    access: byEither,
    responses: { 200: 'task-chain' },
    handle: (call, parts: Resources) =>
      withTask(call, parts, async (tx, task_id) => {
        const head = await readHead(call.scope, tx, task_id)
        if (head === null) throw noTask()
        if (head.seq > longestChain)
          throw new PlatformError('TOO_LARGE', `the chain has ${head.seq} entries: read it through GET /api/v1/logs`)
        const entries = await readLogs(call.scope, tx, { task_id }, longestChain, null)
        const body = { task_id, agent_id: head.agent_id, entries, head: { seq: head.seq, hash: head.hash } }
        return { status: 200, body }
      }),
  }),
  route({
    method: 'get',
    path: '/api/v1/tasks/{task_id}/verify',
    summary: 'Has the task been altered, and did it arrive in order',
    tag,
    access: byEither,
    responses: { 200: 'verification' },
    handle: (call, parts: Resources) =>
      withTask(call, parts, async (tx, task_id) => {
        const verifier = taskVerifier(call.scope.org_id, task_id)
        const erased = await erasedOf(call.scope, tx, task_id)
        const places: number[] = []
        for await (const { entry, payload, leaf, published } of readTaskVerbatim(call.scope, tx, task_id)) {
          verifier.add(entry, payload, leaf, { published, is_erased: erased.covers })
          places.push(entry.log_index)
        }
        const head = await readHead(call.scope, tx, task_id)
        if (head === null && places.length === 0) throw noTask()
        return { status: 200, body: verifier.finish(head, await inTree(call.scope, tx, [...places, ...erased.places])) }
      }),
  }),
]

/** A chain is answered whole or not at all; a longer one is read through the log's pages, and verified at any length. */
const longestChain = 100_000

/** How the leaves at these places stand in the tree that was signed last. */
async function inTree(scope: Scope, tx: Transaction, places: readonly number[]): Promise<TreeFinding> {
  const latest = await latestCheckpoint(scope, tx)
  const covered = places.filter((place) => place < (latest?.size ?? 0)).sort((a, b) => a - b)
  if (latest === null || covered.length === 0) return { anchoring: 'none', not_signed: null }
  const anchoring = covered.length === places.length ? 'whole' : 'partly'
  return { anchoring, not_signed: await firstNotSigned(scope, tx, covered, latest) }
}

/** Runs a read of one task in one snapshot; a key sees its own agents' tasks only, and no hint of others. */
async function withTask<T>(
  { scope, principal, params }: Call<'{task_id}'>,
  { db }: Resources,
  read: (tx: Transaction, task_id: string) => Promise<T>,
): Promise<T> {
  const { task_id } = params
  return withSnapshot(db, scope, async (tx) => {
    const own = principal.kind !== 'key' || (await taskBelongsToKey(scope, tx, task_id, principal.key.key_id))
    if (!own) throw noTask()
    return read(tx, task_id)
  })
}

function noTask(): PlatformError {
  return new PlatformError('NOT_FOUND', 'no such task')
}
