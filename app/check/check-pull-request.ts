// Checks a pull request, a merge group, or a commit whose check is asked for again. GitHub is read afresh: events are hints only.
import { SourceError } from '@svc/platform'
import { isoTime } from '@svc/schemas'
import { runCheck } from './check-run.js'
import { type CheckContent, contentOf } from './content/content.js'
import {
  type CheckParts,
  type Conclusion,
  checkName,
  type FollowedRepository,
  type OpenPullRequest,
  otherName,
  type PullRequest,
} from './parts.js'
import { type Reviewed, readFacts } from './read-facts.js'

/**
 * Checks the head of a pull request as it is now. A check run at `hint`, the head that an event named, does not stay in progress when
 * the pull request has another head meanwhile, or is closed. Rejects where another try can help.
 */
export async function checkPullRequest(parts: CheckParts, number: number, hint: string | null = null): Promise<void> {
  const pull = await parts.reader.pullRequest(number)
  const head_sha = pull?.is_open ? pull.head_sha : null
  if (hint !== null && hint !== head_sha) await endSuperseded(parts, hint)
  // The list of pull requests at a commit can be older than the commit.
  if (head_sha !== null) await checkHead(parts, head_sha, [number])
}

/** Checks a commit, for every open pull request that it is the head of; `known` are some of them. Rejects where another try can help. */
export async function checkHead(parts: CheckParts, head_sha: string, known: readonly number[] = []): Promise<void> {
  const pulls = await pullsAt(parts, head_sha, known)
  const followed: Followed[] = []
  for (const pull of pulls) {
    const repository = await parts.followed(pull.base_ref)
    if (repository !== null) followed.push({ pull, repository })
  }
  if (pulls.length === 0) return endSuperseded(parts, head_sha)
  if (followed.length === 0) return runCheck({ ...parts, name: otherName }, head_sha, async () => unfollowed)
  await runCheck(parts, head_sha, async () => {
    const contents: CheckContent[] = []
    for (const one of followed) contents.push(await contentOfPull(parts, one))
    // A commit has one result, and branches require it: a pull request to another branch must not hide a failure.
    return contents.sort((a, b) => ranks.indexOf(a.conclusion) - ranks.indexOf(b.conclusion))[0] ?? superseded
  })
}

/** The open pull requests, of those that changed last, whose heads have no completed check. Rejects where another try can help. */
export async function unfinishedChecks({ reader, checks }: CheckParts): Promise<readonly OpenPullRequest[]> {
  const unfinished: OpenPullRequest[] = []
  for (const pull of (await reader.lastOpenPullRequests()).slice(0, maxUnfinished)) {
    const run = await checks.find(pull.head_sha, checkName)
    if (run?.status !== 'completed') unfinished.push(pull)
  }
  return unfinished
}

/** Each costs a request. */
const maxUnfinished = 50

const ranks: readonly Conclusion[] = ['failure', 'action_required', 'success', 'neutral']

interface Followed {
  readonly pull: PullRequest
  readonly repository: FollowedRepository
}

/** The open pull requests with this head. */
async function pullsAt({ reader }: CheckParts, head_sha: string, known: readonly number[]): Promise<PullRequest[]> {
  const numbers = new Set([...known, ...(await reader.openPullRequests(head_sha))])
  const pulls: PullRequest[] = []
  for (const number of numbers) {
    const pull = await reader.pullRequest(number)
    if (pull?.is_open && pull.head_sha === head_sha) pulls.push(pull)
  }
  return pulls
}

export interface MergeGroup {
  readonly base_sha: string
  /** Without `refs/heads/`. */
  readonly base_ref: string
  readonly head_sha: string
}

/** Checks a group of pull requests that a merge queue tries together. */
export async function checkMergeGroup(parts: CheckParts, group: MergeGroup): Promise<void> {
  const { base_sha, base_ref, head_sha } = group
  const repository = await parts.followed(base_ref)
  if (repository === null) return runCheck({ ...parts, name: otherName }, head_sha, async () => unfollowed)
  await runCheck(parts, head_sha, async () => {
    const commits = { base_branch: base_ref, tip_sha: base_sha, fork_sha: base_sha, head_sha, is_fork: false }
    return contentOf(await readFacts(parts, repository, commits, async () => null))
  })
}

async function contentOfPull(parts: CheckParts, { pull, repository }: Followed): Promise<CheckContent> {
  const { reader } = parts
  const { base_ref, head_sha, is_fork } = pull
  const tip_sha = await reader.branchHead(base_ref)
  if (tip_sha === null) throw new SourceError('branch_missing', 'the branch of the base does not exist')
  const fork_sha = await reader.mergeBase(tip_sha, head_sha)
  // Histories without a common commit: everything of the head is new.
  const commits = { base_branch: base_ref, tip_sha, fork_sha: fork_sha ?? tip_sha, head_sha, is_fork }
  return contentOf(await readFacts(parts, repository, commits, () => reviewedOf(parts, pull)))
}

async function reviewedOf({ reader }: CheckParts, pull: PullRequest): Promise<Reviewed> {
  const { number } = pull
  return { number, pull, commits: await reader.commits(number), reviews: await reader.reviews(number) }
}

/**
 * A check run of the old head must not stay in progress. One that is completed keeps its result, and none lets a required check
 * pass: a pull request that is closed, checked again and opened again would have it.
 */
async function endSuperseded({ checks, clock }: CheckParts, head_sha: string): Promise<void> {
  const run = await checks.find(head_sha, checkName)
  if (run === null || run.status === 'completed') return
  const { conclusion, title, summary } = superseded
  await checks.update(run.id, {
    status: 'completed',
    conclusion,
    completed_at: isoTime(clock()),
    output: { title, summary },
  })
}

const superseded: CheckContent = {
  conclusion: 'cancelled',
  title: 'Not checked: no open pull request has this commit as its head',
  summary: 'ℹ️ A newer commit has its own check, or the pull request is closed.',
  text: undefined,
  annotations: [],
}

/** INVARIANT (not under `checkName`): a pull request can be retargeted, and would pass by a result that nothing was checked for. */
const unfollowed: CheckContent = {
  conclusion: 'neutral',
  title: 'Not checked: no agent follows this branch',
  summary:
    'ℹ️ No connected repository follows the branch of this pull request, so its manifests reach no agent. An operator connects a branch with `svc connect-repo`.',
  text: undefined,
  annotations: [],
}
