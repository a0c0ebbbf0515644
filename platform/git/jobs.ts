// The jobs of this room: each branch is read after a push, by a timer, and at the start (docs/design/git.md §3).
import { baseline } from '@svc/library'
import { withTransaction, withUnscopedTransaction } from '../db/db.js'
import { type Scope, scopeOf } from '../db/scope.js'
import { defineJob, type Job, type Send, type SendOptions } from '../jobs/job.js'
import { markBaselinesUnscoped } from '../policies/store/assignments.js'
import { bundledLibrary } from './commands/connect-library.js'
import type { GitParts, ReadingParts } from './parts.js'
import { reconcile } from './reconcile.js'
import { dueRepositoriesUnscoped, endLeasesUnscoped, markDue, outdatedLibrariesUnscoped } from './store/repositories.js'

const reconcileName = 'reconcile-repository'
const dueName = 'find-due-repositories'

/** Branches that one process reads at once: most of the time they wait for a host. */
const concurrency = 8
/** Until another process ends its reading of the branch, or a reading of the workspace its own. */
const leasedSeconds = 2
/** The timer looks for branches that are due within the next minute. */
const aheadMs = 60_000
const maxDue = 10_000

interface Named {
  readonly org_id: string
  readonly repo_id: number
  readonly [name: string]: string | number
}

export function gitJobs(parts: ReadingParts): Job[] {
  return [
    defineJob<Named>({
      name: reconcileName,
      key: ({ org_id, repo_id }) => `${org_id}/${repo_id}`,
      concurrency,
      timeout_seconds: 300,
      // A branch that cannot be read is due again; only an internal error or an outage of the database repeats the job.
      retries: 3,
      run: async ({ org_id, repo_id }, _signal, send) => {
        const scope = scopeOf(org_id, { kind: 'system', id: 'resync' })
        const outcome = await reconcile({ ...parts, send }, scope, repo_id)
        if (outcome === 'leased' || outcome === 'busy')
          await sendReading(send, scope, repo_id, { after_seconds: leasedSeconds, isUrgent: outcome === 'leased' })
      },
    }),
    defineJob({
      name: dueName,
      schedule: '* * * * *',
      timeout_seconds: 60,
      run: async (_data, _signal, send) => sendDue(parts, send),
    }),
  ]
}

/** Lets every branch be read when it is due, so that the readings of many repositories are spread over the interval. */
async function sendDue({ db, clock }: ReadingParts, send: Send): Promise<void> {
  const now = clock()
  const due = await withUnscopedTransaction(db, (tx) => dueRepositoriesUnscoped(tx, now + aheadMs, maxDue))
  for (const { org_id, id: repo_id, next_check_at } of due) {
    const after_seconds = Math.max(0, Math.round((Date.parse(next_check_at) - now) / 1000))
    await sendReading(send, { org_id }, repo_id, { after_seconds })
  }
}

/** Sends the reading of one branch. */
export function sendReading(
  send: Send,
  { org_id }: Pick<Scope, 'org_id'>,
  repo_id: number,
  options: SendOptions = {},
): Promise<void> {
  return send(reconcileName, { org_id, repo_id }, options)
}

/** Lets one branch be read soon, also when the process that takes the job is killed. */
export function readSoonBy({ db, clock }: ReadingParts, send: Send): GitParts['readSoon'] {
  return async (scope, repo_id) => {
    await withTransaction(db, scope, (tx) => markDue(scope, tx, repo_id, clock()))
    // A push does not wait for the branches that the timer reads.
    await sendReading(send, scope, repo_id, { isUrgent: true })
  }
}

/** Work of the start: finds what is due, and reads the library of this build into every workspace that has it. */
export async function startGit({ db, sources }: ReadingParts, send: Send): Promise<void> {
  const library = await sources.open(bundledLibrary, 'library').resolve(null)
  // No other process uses an embedded database: what is leased was left by a killed one. On a server, leases end.
  if (db.kind === 'pglite') await withUnscopedTransaction(db, endLeasesUnscoped)
  await withUnscopedTransaction(db, (tx) => markBaselinesUnscoped(tx, baseline().blob_sha))
  const outdated = await withUnscopedTransaction(db, (tx) => outdatedLibrariesUnscoped(tx, library.commit_sha))
  for (const { org_id, id } of outdated) await sendReading(send, { org_id }, id)
  await send(dueName, {})
}
