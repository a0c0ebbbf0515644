// The reading client of a check: its token can read contents, pull requests and metadata of one repository, and nothing else.
import { type AskGithub, type GitSource, orNull, refPath, SourceError, shaIn } from '@svc/platform'
import type { Account, GithubReader, OpenPullRequest, PullRequest, PullRequestCommit, Review } from '../check/parts.js'
import { idIn, type Members, membersOf, objectIn, textIn } from './members.js'
import { listAll } from './pages.js'

/** The permissions of the token of a reader. */
export const readerPermissions = { contents: 'read', pull_requests: 'read', metadata: 'read' } as const

/** GitHub lists no more commits of a pull request. */
const maxCommits = 250
const maxReviews = 5000
const maxOpen = 3000
const maxEvents = 5000
/** The comparison of two commits carries up to 300 changed files. */
const maxComparisonBytes = 20 * 1024 * 1024

/** `source` reads the trees and blobs of the repository. */
export function createReader(ask: AskGithub, source: Pick<GitSource, 'list' | 'read'>): GithubReader {
  return {
    pullRequest: (number) => pullRequest(ask, number),
    openPullRequests: (head_sha) => openPullRequests(ask, head_sha),
    lastOpenPullRequests: () => lastOpenPullRequests(ask),
    commits: (number) => commits(ask, number),
    reviews: (number) => reviews(ask, number),
    canPush: (login) => canPush(ask, login),
    baseChangedAt: (number) => baseChangedAt(ask, number),
    branchHead: (branch) => branchHead(ask, branch),
    mergeBase: (base_sha, head_sha) => mergeBase(ask, base_sha, head_sha),
    list: source.list,
    read: source.read,
  }
}

async function pullRequest(ask: AskGithub, number: number): Promise<PullRequest | null> {
  const answer = await orNull(ask({ path: `/pulls/${number}` }))
  if (answer === null) return null
  const pull = membersOf(answer.body)
  const [from, into] = ['head', 'base'].map((side) => objectIn(objectIn(pull, side), 'repo').id)
  return {
    number,
    is_open: pull.state === 'open',
    author: accountIn(pull, 'user'),
    head_sha: shaIn(objectIn(pull, 'head').sha),
    base_ref: textIn(objectIn(pull, 'base'), 'ref') ?? '',
    is_fork: from === undefined || from !== into,
  }
}

async function openPullRequests(ask: AskGithub, head_sha: string): Promise<number[]> {
  // A list of the pull requests of a commit leaves out those of forks.
  const { items } = await listAll(ask, { path: '/pulls?state=open', max_items: maxOpen })
  return items.flatMap((item) => {
    const pull = membersOf(item)
    const number = idIn(pull, 'number')
    const isWanted = pull.state === 'open' && objectIn(pull, 'head').sha === head_sha
    return isWanted && number !== null ? [number] : []
  })
}

async function lastOpenPullRequests(ask: AskGithub): Promise<OpenPullRequest[]> {
  const { items } = await listAll(ask, { path: '/pulls?state=open&sort=updated&direction=desc', max_items: 100 })
  return items.flatMap((item) => {
    const pull = membersOf(item)
    const number = idIn(pull, 'number')
    return number === null ? [] : [{ number, head_sha: shaIn(objectIn(pull, 'head').sha) }]
  })
}

async function commits(ask: AskGithub, number: number) {
  const { items } = await listAll(ask, { path: `/pulls/${number}/commits`, max_items: maxCommits })
  return { listed: items.map(commitIn), is_complete: items.length < maxCommits }
}

function commitIn(value: unknown): PullRequestCommit {
  const commit = membersOf(value)
  return { sha: shaIn(commit.sha), author: accountIn(commit, 'author'), committer: accountIn(commit, 'committer') }
}

async function reviews(ask: AskGithub, number: number): Promise<Review[]> {
  const { items, is_complete } = await listAll(ask, { path: `/pulls/${number}/reviews`, max_items: maxReviews })
  if (!is_complete) throw new SourceError('too_large', `the pull request has more than ${maxReviews} reviews`)
  return items.map((item) => {
    const review = membersOf(item)
    return {
      user: accountIn(review, 'user'),
      state: textIn(review, 'state') ?? '',
      commit_id: textIn(review, 'commit_id'),
      submitted_at: timeIn(review.submitted_at) ?? 0,
    }
  })
}

async function canPush(ask: AskGithub, login: string): Promise<boolean> {
  const answer = await orNull(ask({ path: `/collaborators/${encodeURIComponent(login)}/permission` }))
  const { permission } = membersOf(answer?.body)
  return permission === 'admin' || permission === 'write'
}

const baseChanges: readonly unknown[] = ['base_ref_changed', 'automatic_base_change_succeeded']

async function baseChangedAt(ask: AskGithub, number: number): Promise<number> {
  const { items, is_complete } = await listAll(ask, { path: `/issues/${number}/timeline`, max_items: maxEvents })
  if (!is_complete) throw new SourceError('too_large', `the pull request has more than ${maxEvents} events`)
  const changes = items.map(membersOf).filter(({ event }) => baseChanges.includes(event))
  // A change without a time could be later than any review.
  return Math.max(0, ...changes.map(({ created_at }) => timeIn(created_at) ?? Number.POSITIVE_INFINITY))
}

/** ms since 1970; null for other values. */
function timeIn(value: unknown): number | null {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? null : at
}

async function branchHead(ask: AskGithub, branch: string): Promise<string | null> {
  const answer = await orNull(ask({ path: refPath(branch) }))
  return answer === null ? null : shaIn(objectIn(membersOf(answer.body), 'object').sha)
}

async function mergeBase(ask: AskGithub, base_sha: string, head_sha: string): Promise<string | null> {
  const path = `/compare/${shaIn(base_sha)}...${shaIn(head_sha)}?per_page=1`
  const answer = await orNull(ask({ path, maxBytes: maxComparisonBytes }))
  return answer === null ? null : shaIn(objectIn(membersOf(answer.body), 'merge_base_commit').sha)
}

function accountIn(members: Members, name: string): Account | null {
  const account = objectIn(members, name)
  const [login, type] = [textIn(account, 'login'), textIn(account, 'type')]
  return login === null || type === null ? null : { login, type }
}
