// The jobs that check pull requests and merge groups. Waiting checks of the same pull request are one job.
import {
  type Database,
  defineJob,
  type InstalledRow,
  installedRepositories,
  type Job,
  type JobData,
  type Scope,
  type Send,
  withTransaction,
} from '@svc/platform'
import type { InstalledAt } from './github/repository-client.js'
import { asJob } from './github/retry-later.js'

/** What runs a check. Rejects with SourceError, or GithubError. */
export interface CheckRuns {
  readonly pullRequest: (target: CheckTarget, number: number) => Promise<void>
  readonly mergeGroup: (target: CheckTarget, head_sha: string, base_sha: string) => Promise<void>
  /** The open pull requests whose head is the commit. */
  readonly pullRequestsAt: (target: CheckTarget, head_sha: string) => Promise<readonly number[]>
}

/** A repository of an installation, and a connection of it. */
export interface CheckTarget extends InstalledAt {
  readonly repo_id: number
}

interface Parts {
  readonly db: Database
  readonly scope: Scope
  readonly runs: CheckRuns
}

const pullRequestName = 'check-pull-request'
const mergeGroupName = 'check-merge-group'
const headName = 'check-head'

/** Most of the time a check waits for GitHub. */
const concurrency = 2
const timeout_seconds = 600

type Named<More extends JobData> = More & { readonly org_id: string; readonly repo_id: number }

export function checkJobs({ db, scope, runs }: Parts): Job[] {
  /** A job for a repository that is no longer connected does nothing. */
  const define = <More extends JobData>(
    name: string,
    key: (data: Named<More>) => string,
    work: (target: CheckTarget, data: Named<More>, send: Send) => Promise<void>,
  ) =>
    defineJob<Named<More>>({
      name,
      key: (data) => `${data.repo_id}/${key(data)}`,
      concurrency,
      timeout_seconds,
      retries: 5,
      run: async (data, _signal, send) => {
        const target = data.org_id === scope.org_id ? await targetOf(db, scope, data.repo_id) : null
        if (target === null) return
        await asJob(work(target, data, send), (after_seconds) => send(name, data, { after_seconds }))
      },
    })
  return [
    define<{ readonly number: number }>(
      pullRequestName,
      ({ number }) => String(number),
      (target, { number }) => runs.pullRequest(target, number),
    ),
    define<{ readonly head_sha: string; readonly base_sha: string }>(
      mergeGroupName,
      ({ head_sha }) => head_sha,
      (target, { head_sha, base_sha }) => runs.mergeGroup(target, head_sha, base_sha),
    ),
    define<{ readonly head_sha: string }>(
      headName,
      ({ head_sha }) => head_sha,
      async (target, { head_sha }, send) => {
        for (const number of await runs.pullRequestsAt(target, head_sha))
          await sendPullRequest(send, scope, target.repo_id, number)
      },
    ),
  ]
}

export function sendPullRequest(send: Send, { org_id }: Scope, repo_id: number, number: number): Promise<void> {
  return send(pullRequestName, { org_id, repo_id, number }, { isUrgent: true })
}

export function sendMergeGroup(
  send: Send,
  { org_id }: Scope,
  repo_id: number,
  head_sha: string,
  base_sha: string,
): Promise<void> {
  return send(mergeGroupName, { org_id, repo_id, head_sha, base_sha }, { isUrgent: true })
}

export function sendHead(send: Send, { org_id }: Scope, repo_id: number, head_sha: string): Promise<void> {
  return send(headName, { org_id, repo_id, head_sha }, { isUrgent: true })
}

async function targetOf(db: Database, scope: Scope, repo_id: number): Promise<CheckTarget | null> {
  const rows = await withTransaction(db, scope, (tx) => installedRepositories(scope, tx, { ids: [repo_id] }))
  return rows.map(targetIn)[0] ?? null
}

function targetIn({ id: repo_id, owner, name, installation_id, github_id }: InstalledRow): CheckTarget | null {
  return installation_id === null || github_id === null ? null : { repo_id, owner, name, installation_id, github_id }
}
