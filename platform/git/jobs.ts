// The jobs of this room: each branch is read after a push, by a timer, and at the start (docs/design/git.md §3).
import { baseline } from '@svc/library'
import { withUnscopedTransaction } from '../db/db.js'
import { scopeOf } from '../db/scope.js'
import { defineJob, type Job } from '../jobs/job.js'
import { markBaselinesUnscoped } from '../policies/store/assignments.js'
import { bundledLibrary } from './commands/connect-library.js'
import type { ReadingParts } from './parts.js'
import { reconcileName, sendReading } from './read-soon.js'
import { reconcile } from './reconcile.js'
import { dueRepositoriesUnscoped, outdatedLibrariesUnscoped } from './store/repositories.js'

/** Branches that one process reads at once: most of the time they wait for a host. */
const concurrency = 8
/** Until a reading of the workspace has ended. */
const busySeconds = 2
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
      isSerial: true,
      concurrency,
      timeout_seconds: 300,
      // A branch that cannot be read is due again; only an internal error or an outage of the database repeats the job.
      retries: 3,
      run: async ({ org_id, repo_id }) => {
        const scope = scopeOf(org_id, { kind: 'system', id: 'resync' })
        if ((await reconcile(parts, scope, repo_id)) === 'busy')
          await sendReading(parts, scope, repo_id, { after_seconds: busySeconds })
      },
    }),
    defineJob({
      name: 'find-due-repositories',
      schedule: '* * * * *',
      at_start_seconds: 0,
      timeout_seconds: 60,
      run: () => sendDue(parts),
    }),
  ]
}

/** Lets every branch be read when it is due, so that the readings of many repositories are spread over the interval. */
async function sendDue(parts: ReadingParts): Promise<void> {
  const { db, clock } = parts
  const now = clock()
  const due = await withUnscopedTransaction(db, (tx) => dueRepositoriesUnscoped(tx, now + aheadMs, maxDue))
  for (const { org_id, id: repo_id, next_check_at } of due) {
    const after_seconds = Math.max(0, Math.round((Date.parse(next_check_at) - now) / 1000))
    await sendReading(parts, { org_id }, repo_id, { after_seconds })
  }
}

/** Work of the start: reads the library of this build into every workspace that has it. */
export async function startGit(parts: ReadingParts): Promise<void> {
  const { db, sources } = parts
  const library = await sources.open(bundledLibrary, 'library').resolve(null)
  await withUnscopedTransaction(db, (tx) => markBaselinesUnscoped(tx, baseline().blob_sha))
  const outdated = await withUnscopedTransaction(db, (tx) => outdatedLibrariesUnscoped(tx, library.commit_sha))
  for (const { org_id, id } of outdated) await sendReading(parts, { org_id }, id)
}
