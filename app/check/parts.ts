// The reads and writes of a check at GitHub. The clients behind these interfaces can do nothing else.
import type { ImpactReport, ImpactRequest, TreeEntry } from '@svc/platform'

/** An account of GitHub. Of an account that was deleted, and of an author without an account, GitHub sends null. */
export interface Account {
  /** Without regard to case; that of an App ends with `[bot]`. */
  readonly login: string
  /** `User`, `Bot`, `Organization`, `Mannequin`, as GitHub sends it. */
  readonly type: string
}

export interface PullRequest {
  readonly number: number
  readonly is_open: boolean
  readonly author: Account | null
  readonly head_sha: string
  /** The branch that it would be merged into, without `refs/heads/`. */
  readonly base_ref: string
  /** True if the head is in another repository, which may be gone: anyone who reads a public repository can open one. */
  readonly is_fork: boolean
}

export type OpenPullRequest = Pick<PullRequest, 'number' | 'head_sha'>

/** A review as GitHub sends it, such as `APPROVED` at a commit; `commit_id` is null when that commit is gone. */
export interface Review {
  readonly user: Account | null
  readonly state: string
  readonly commit_id: string | null
  /** ms since 1970; 0 where GitHub sends no time. */
  readonly submitted_at: number
}

export interface PullRequestCommit {
  readonly sha: string
  readonly author: Account | null
  readonly committer: Account | null
}

/**
 * Reads one repository; the token is narrowed to contents, pull requests and metadata. Every method rejects with `SourceError`
 * only: `fetch_failed` for what may heal (with `retry_after` when GitHub asks to wait), `access_revoked`, `repository_missing`,
 * `too_large`.
 */
export interface GithubReader {
  /** Null for an unknown number. */
  readonly pullRequest: (number: number) => Promise<PullRequest | null>
  /** Numbers of the open pull requests whose head is this commit: a check run belongs to a commit, not to a pull request. */
  readonly openPullRequests: (head_sha: string) => Promise<readonly number[]>
  /** Up to a hundred, those that changed last first. */
  readonly lastOpenPullRequests: () => Promise<readonly OpenPullRequest[]>
  /** The commits, the oldest first. GitHub lists 250 at most: `is_complete` is false for more. */
  readonly commits: (
    number: number,
  ) => Promise<{ readonly listed: readonly PullRequestCommit[]; readonly is_complete: boolean }>
  /** Every review of every page, the oldest first. */
  readonly reviews: (number: number) => Promise<readonly Review[]>
  /** True if an account may push to the repository: anyone may approve in a public one, also by a login that a person gave up. */
  readonly canPush: (login: string) => Promise<boolean>
  /** When the pull request got another base branch, ms since 1970; 0 where it never did. */
  readonly baseChangedAt: (number: number) => Promise<number>
  /** The commit at the head of a branch now; null for an unknown branch. */
  readonly branchHead: (branch: string) => Promise<string | null>
  /** The commit where the two have parted; null for histories without a common commit. */
  readonly mergeBase: (base_sha: string, head_sha: string) => Promise<string | null>
  /** Every entry of the tree of a commit but folders, as `GitSource.list`. */
  readonly list: (commit_sha: string) => Promise<ReadonlyMap<string, TreeEntry>>
  /** The bytes of blobs, as `GitSource.read`. */
  readonly read: (blob_shas: readonly string[]) => Promise<ReadonlyMap<string, Uint8Array>>
}

/** GitHub lets a required check pass with `success` and `neutral`. */
export type Conclusion = 'success' | 'failure' | 'neutral' | 'action_required' | 'cancelled'

export interface CheckAnnotation {
  readonly path: string
  readonly start_line: number
  readonly end_line: number
  /** Only where both lines are the same. */
  readonly start_column?: number
  readonly end_column?: number
  readonly annotation_level: 'notice' | 'warning' | 'failure'
  readonly title: string
  readonly message: string
}

/** The text of a check run: a title of at most 255 characters, summary and text of at most 65,535 each. */
interface CheckOutput {
  readonly title: string
  readonly summary: string
  readonly text?: string
  /** At most 50; GitHub appends them to those that the check run has. */
  readonly annotations?: readonly CheckAnnotation[]
}

/** The members that are left out stay as they are. Times are ISO 8601. */
export interface CheckRunChange {
  readonly status?: 'in_progress' | 'completed'
  /** Only with `completed`. */
  readonly conclusion?: Conclusion
  readonly started_at?: string
  readonly completed_at?: string
  /** The result that the annotations of the check run belong to. */
  readonly external_id?: string
  readonly output?: CheckOutput
}

export interface CheckRun {
  readonly id: number
  readonly status: string
  readonly external_id: string | null
  /** Annotations that it has already: they cannot be removed. */
  readonly annotations_count: number
}

/** Check runs of one repository; the token is narrowed to `checks: write`. Rejects with `SourceError` only, as the reader. */
export interface Checks {
  /** The latest check run of this App with that name on the commit; null without one. */
  readonly find: (head_sha: string, name: string) => Promise<CheckRun | null>
  /** Returns its id. */
  readonly create: (head_sha: string, name: string, change: CheckRunChange) => Promise<number>
  readonly update: (id: number, change: CheckRunChange) => Promise<void>
}

/** A repository that the workspace has connected. */
export interface FollowedRepository {
  readonly id: number
  readonly owner: string
  readonly name: string
  readonly branch: string
  readonly visibility: 'public' | 'private'
  /** The paths that assignments name. */
  readonly assigned: ReadonlySet<string>
}

/** The parts that a check uses. Nothing here can write but `checks`, and that only check runs. */
export interface CheckParts {
  readonly reader: GithubReader
  readonly checks: Checks
  /** The connected repository that follows this branch; null when none does. */
  readonly followed: (branch: string) => Promise<FollowedRepository | null>
  /** Replays recorded tasks in read-only snapshots of the database. The same seed draws the same sample. */
  readonly impactOf: (request: ImpactRequest, seed: string) => Promise<ImpactReport>
  /** The page of the repository, without a slash at the end, such as `https://github.com/acme/policies`. */
  readonly web_url: string
  /** Tells the operator why a check could not be made. */
  readonly warn: (problem: string) => void
  /** ms since 1970. */
  readonly clock: () => number
}

/** The name of the check run, which rules of branches can require. */
export const checkName = 'svc / policies'

/** Of a pull request that no required check may pass by: a result under `checkName` would count for other branches as well. */
export const otherName = 'svc / other branch'
