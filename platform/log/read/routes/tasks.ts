import { type TreeFinding, taskVerifier } from '@svc/proof'
import type { LogEntry } from '@svc/schemas'
import { type Resources, type Transaction, withSnapshot } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { readByIndex } from '../../../db/sql.js'
import { PlatformError } from '../../../errors.js'
import { byReaderOrKey, type Call, route } from '../../../http/route.js'
import { createPace } from '../../../ingest/pace.js'
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
    summary: 'Get the whole chain of a task, in arrival order',
    tag,
    access: byReaderOrKey,
    responses: { 200: 'task-chain' },
    handle: (call, parts: Resources) =>
      withTask(call, parts, async (tx, task_id) => {
        const head = await readHead(call.scope, tx, task_id)
        if (head === null) throw unknownTask()
        if (head.seq > maxChainEntries)
          throw new PlatformError('TOO_LARGE', `the chain has ${head.seq} entries: read it through GET /api/v1/logs`)
        const entries = await readChain(call.scope, tx, task_id)
        const body = { task_id, agent_id: head.agent_id, entries, head: { seq: head.seq, hash: head.hash } }
        return { status: 200, body }
      }),
  }),
  route({
    method: 'get',
    path: '/api/v1/tasks/{task_id}/verify',
    summary: 'Verify the integrity and the order of a task',
    tag,
    access: byReaderOrKey,
    responses: { 200: 'verification' },
    handle: (call, parts: Resources) =>
      withTask(call, parts, async (tx, task_id) => {
        const verifier = taskVerifier(call.scope.org_id, task_id)
        const erased = await erasedOf(call.scope, tx, task_id)
        const pace = createPace()
        const log_indexes: number[] = []
        for await (const { entry, payload, leaf, published } of readTaskVerbatim(call.scope, tx, task_id)) {
          await pace()
          verifier.add(entry, payload, leaf, { published, is_erased: erased.covers })
          log_indexes.push(entry.log_index)
        }
        const head = await readHead(call.scope, tx, task_id)
        if (head === null && log_indexes.length === 0) throw unknownTask()
        const inTree = await findInTree(call.scope, tx, [...log_indexes, ...erased.log_indexes])
        return { status: 200, body: verifier.finish(head, inTree) }
      }),
  }),
]

/** A chain is returned whole or rejected; pages of the log and verification have no limit. */
const maxChainEntries = 100_000

/** The entries of a task, in pages, so that other requests are answered between them. */
async function readChain(scope: Scope, tx: Transaction, task_id: string): Promise<LogEntry[]> {
  const pace = createPace()
  const entries: LogEntry[] = []
  for (;;) {
    const page = await readLogs(scope, tx, { task_id }, chainPage, entries.at(-1)?.seq ?? null)
    entries.push(...page)
    if (page.length < chainPage) return entries
    await pace()
  }
}

const chainPage = 200

/** Compares the leaves at these log indexes with the last signed tree. */
async function findInTree(scope: Scope, tx: Transaction, log_indexes: readonly number[]): Promise<TreeFinding> {
  const latest = await latestCheckpoint(scope, tx)
  const covered = log_indexes.filter((index) => index < (latest?.size ?? 0)).sort((a, b) => a - b)
  if (latest === null || covered.length === 0) return { anchoring: 'none', not_signed: null }
  const anchoring = covered.length === log_indexes.length ? 'whole' : 'partly'
  return { anchoring, not_signed: await firstNotSigned(scope, tx, covered, latest) }
}

/** Reads one task in one snapshot. An API key gets NOT_FOUND for the tasks of other keys' agents, as for unknown ones. */
async function withTask<T>(
  { scope, principal, params }: Call<'{task_id}'>,
  { db }: Resources,
  read: (tx: Transaction, task_id: string) => Promise<T>,
): Promise<T> {
  const { task_id } = params
  return withSnapshot(db, scope, async (tx) => {
    // Plans must not depend on statistics, which are missing or old after an import.
    await readByIndex(tx)
    const own = principal.kind !== 'key' || (await taskBelongsToKey(scope, tx, task_id, principal.key.key_id))
    if (!own) throw unknownTask()
    return read(tx, task_id)
  })
}

function unknownTask(): PlatformError {
  return new PlatformError('NOT_FOUND', 'no such task')
}
