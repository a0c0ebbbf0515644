// The jobs that check pull requests, merge groups and commits. Waiting checks of the same one are one job.
import {
  defineJob,
  type InstalledRow,
  installedRepositories,
  type Job,
  type JobData,
  type Scope,
  type Send,
  SourceError,
  withTransaction,
} from '@svc/platform'
import {
  checkHead,
  checkMergeGroup,
  checkPullRequest,
  type MergeGroup,
  unfinishedChecks,
} from './check/check-pull-request.js'
import { type CheckingParts, checkParts, followPush } from './check-parts.js'
import type { InstalledAt } from './github/repository-client.js'
import type { Repeats } from './github/retry-later.js'

const pullRequestName = 'check-pull-request'
const mergeGroupName = 'check-merge-group'
const headName = 'check-head'
const pushName = 'follow-push'
const unfinishedName = 'find-unfinished-checks'

/** Most of the time a check waits for GitHub, or for the thread that replays. */
const concurrency = 2
const timeout_seconds = 600
/** Until another process has read the branch. */
const readAgainSeconds = 1

/** `tries`: how often GitHub did not answer. */
type Named<More extends JobData> = More & { readonly org_id: string; readonly repo_id: number; readonly tries?: number }

interface Parts extends CheckingParts {
  readonly repeats: Repeats
}

/** The head that the event named, or an empty text. */
type PullRequestData = Named<{ readonly number: number; readonly head: string }>

export function checkJobs(parts: Parts): Job[] {
  const { send } = parts.reading
  const check = (target: InstalledAt, signal: AbortSignal) => checkParts(parts, target, signal)
  const define = <More extends JobData>(
    name: string,
    key: (data: Named<More>) => string,
    work: (target: InstalledAt, data: Named<More>, signal: AbortSignal) => Promise<void>,
  ) =>
    defineJob<Named<More>>({
      name,
      key: (data) => `${data.repo_id}/${key(data)}`,
      concurrency,
      timeout_seconds,
      retries: 5,
      run: async (data, signal) => {
        const target = await targetOf(parts, data)
        // The repository is no longer connected.
        if (target === null) return
        const { tries = 0 } = data
        const again = (after_seconds: number) => sendAgain(send, name, { ...data, tries: tries + 1 }, after_seconds)
        await parts.repeats.asJob(work(target, data, signal), again, tries)
      },
    })
  return [
    define<PullRequestData>(
      pullRequestName,
      ({ number }) => String(number),
      (target, { number, head }, signal) => checkPullRequest(check(target, signal), number, head === '' ? null : head),
    ),
    define<Named<{ readonly head_sha: string; readonly base_sha: string; readonly base_ref: string }>>(
      mergeGroupName,
      ({ head_sha }) => head_sha,
      (target, { head_sha, base_sha, base_ref }, signal) =>
        checkMergeGroup(check(target, signal), { head_sha, base_sha, base_ref }),
    ),
    define<Named<{ readonly head_sha: string }>>(
      headName,
      ({ head_sha }) => head_sha,
      (target, { head_sha }, signal) => checkHead(check(target, signal), head_sha),
    ),
    define<Named<JobData>>(
      unfinishedName,
      () => '',
      async (target, { repo_id }, signal) => {
        for (const { number, head_sha } of await orNone(unfinishedChecks(check(target, signal))))
          await sendPullRequest(send, parts.scope, repo_id, number, head_sha)
      },
    ),
    define<Named<JobData>>(
      pushName,
      () => '',
      async (target, data) => {
        const { repo_id } = data
        if (!(await followPush(parts, target, repo_id))) await sendPush(send, parts.scope, repo_id, readAgainSeconds)
      },
    ),
  ]
}

/** A push to the branch of a connection. */
export function sendPush(send: Send, { org_id }: Scope, repo_id: number, after_seconds = 0): Promise<void> {
  return send(pushName, { org_id, repo_id }, { isUrgent: true, after_seconds })
}

/** For a repository that the App can read again: nothing was delivered meanwhile, and no check could be completed. */
export function sendUnfinished(send: Send, { org_id }: Scope, repo_id: number): Promise<void> {
  return send(unfinishedName, { org_id, repo_id })
}

/** `head`: the commit that the event named; null without one. */
export function sendPullRequest(
  send: Send,
  { org_id }: Scope,
  repo_id: number,
  number: number,
  head: string | null,
): Promise<void> {
  return send(pullRequestName, { org_id, repo_id, number, head: head ?? '' }, { isUrgent: true })
}

export function sendMergeGroup(send: Send, { org_id }: Scope, repo_id: number, group: MergeGroup): Promise<void> {
  const { head_sha, base_sha, base_ref } = group
  return send(mergeGroupName, { org_id, repo_id, head_sha, base_sha, base_ref }, { isUrgent: true })
}

export function sendHead(send: Send, { org_id }: Scope, repo_id: number, head_sha: string): Promise<void> {
  return send(headName, { org_id, repo_id, head_sha }, { isUrgent: true })
}

/** Without access nothing can be completed; when there is access again, this is asked again. */
async function orNone<T>(work: Promise<readonly T[]>): Promise<readonly T[]> {
  return work.catch((error) => {
    if (error instanceof SourceError && ['access_revoked', 'repository_missing'].includes(error.code)) return []
    throw error
  })
}

/** A waiting check of the same pull request can be about a later head: then this head is checked beside it. */
function sendAgain(send: Send, name: string, data: Named<JobData>, after_seconds: number): Promise<void> {
  const { org_id, repo_id, tries = 0, head: head_sha = '' } = data as Named<{ readonly head?: string }>
  return name === pullRequestName && head_sha !== ''
    ? send(headName, { org_id, repo_id, head_sha, tries }, { after_seconds })
    : send(name, data, { after_seconds })
}

async function targetOf({ reading, scope }: CheckingParts, { org_id, repo_id }: Named<JobData>) {
  if (org_id !== scope.org_id) return null
  const find = (tx: Parameters<typeof installedRepositories>[1]) => installedRepositories(scope, tx, { ids: [repo_id] })
  const [row] = await withTransaction(reading.db, scope, find)
  return row === undefined ? null : installedAt(row)
}

function installedAt({ owner, name, installation_id, github_id }: InstalledRow): InstalledAt | null {
  return installation_id === null || github_id === null ? null : { owner, name, installation_id, github_id }
}
