// What people do with pull requests.
import type { Files, Person } from './bare.js'
import { isMergeable } from './pull-routes.js'
import { copyHead, noticePushes, tellPull } from './pushes.js'
import { headCommit, pullShape, reviewShape } from './shapes.js'
import { fire } from './webhooks.js'
import { type Account, isoTime, type Pull, type Repository, type Review, type World } from './world.js'

export interface Push {
  /** Default: the default branch. A new branch starts at the default branch. */
  readonly branch?: string
  /** Path to content; null removes a file; other files stay. */
  readonly files: Files
  /** Pushes, and is the author of the commit unless `committer` is another. Default: the owner of the repository. */
  readonly author?: Account
  /** Author of the commit where it differs from who pushes. */
  readonly commit_author?: Person
  readonly message?: string
}

/** Adds a commit to a branch, as a push does; returns its SHA. */
export function push(world: World, repository: Repository, given: Push): string {
  const { bare, heads, owner, default_branch } = repository
  const { branch = default_branch, files, author = owner, message = `Change ${Object.keys(files).join(', ')}` } = given
  const from = heads.get(default_branch)
  const person = given.commit_author ?? { name: author.login, email: author.email }
  const time = Math.floor(world.now() / 1000)
  const sha = bare.add({ branch, files, author: person, message, time, ...(from === undefined ? {} : { from }) })
  noticePushes(world, repository, author)
  return sha
}

export interface NewPull {
  readonly branch: string
  /** Pushed to the branch first, when given. */
  readonly files?: Files
  readonly author?: Account
  readonly title?: string
  readonly body?: string
  readonly base?: string
  /** The fork that has the branch; default: the repository itself. */
  readonly from?: Repository
  readonly draft?: boolean
}

export function openPull(world: World, repository: Repository, given: NewPull): Pull {
  const { branch, files, from = repository, author = from.owner, base = repository.default_branch } = given
  if (files !== undefined) push(world, from, { branch, files, author })
  const head_sha = from.heads.get(branch)
  const base_sha = repository.heads.get(base)
  if (head_sha === undefined || base_sha === undefined) throw new Error(`no branch \`${branch}\` or \`${base}\``)
  const number = repository.pulls.length + 1
  copyHead({ repository, head_repository: from, number }, head_sha)
  const now = isoTime(world.now())
  const pull: Pull = {
    id: world.nextId(),
    number,
    repository,
    user: author,
    head_repository: from,
    head_branch: branch,
    head_sha,
    base_branch: base,
    base_sha,
    title: given.title ?? `Change of ${branch}`,
    body: given.body ?? null,
    draft: given.draft ?? false,
    state: 'open',
    created_at: now,
    updated_at: now,
    closed_at: null,
    merged_at: null,
    merged_by: null,
    merge_commit_sha: null,
    reviews: [],
    events: [],
  }
  repository.pulls.push(pull)
  tellPull(world, pull, 'opened', author)
  return pull
}

/** Changes title, body or base branch. */
export function editPull(
  world: World,
  pull: Pull,
  change: Partial<Pick<Pull, 'title' | 'body' | 'base_branch'>>,
): void {
  const { title, body, base_branch, base_sha } = pull
  Object.assign(pull, change)
  if (change.base_branch !== undefined) {
    pull.base_sha = pull.repository.heads.get(change.base_branch) ?? base_sha
    pull.events.push({ id: world.nextId(), event: 'base_ref_changed', created_at: isoTime(world.now()) })
  }
  const changes = {
    ...(change.title === undefined ? {} : { title: { from: title } }),
    ...(change.body === undefined ? {} : { body: { from: body } }),
    ...(change.base_branch === undefined ? {} : { base: { ref: { from: base_branch }, sha: { from: base_sha } } }),
  }
  tellPull(world, pull, 'edited', pull.user, { changes })
}

export function closePull(world: World, pull: Pull, by: Account = pull.user): void {
  Object.assign(pull, { state: 'closed', closed_at: isoTime(world.now()) })
  tellPull(world, pull, 'closed', by)
}

export function reopenPull(world: World, pull: Pull, by: Account = pull.user): void {
  Object.assign(pull, { state: 'open', closed_at: null })
  tellPull(world, pull, 'reopened', by)
}

/** A merge commit of both sides in the bare repository, without any branch. */
function mergeCommit(world: World, pull: Pull, by: Account): string {
  const { repository, base_branch, head_sha, number } = pull
  const base = repository.heads.get(base_branch) ?? ''
  const { bare } = repository
  const tree = bare.git('merge-tree', '--write-tree', base, head_sha).split('\n')[0] ?? ''
  const text = `Merge pull request #${number} from ${pull.head_repository.owner.login}/${pull.head_branch}`
  return bare.join({
    tree,
    parents: [base, head_sha],
    author: { name: by.login, email: by.email },
    message: `${text}\n\n${pull.title}`,
    time: Math.floor(world.now() / 1000),
  })
}

/** Merges with a merge commit; throws when the pull request is closed or has conflicts. */
export function merge(world: World, pull: Pull, by: Account = pull.repository.owner): string {
  if (pull.state !== 'open' || !isMergeable(pull)) throw new Error('Pull Request is not mergeable')
  const { repository, base_branch } = pull
  pull.base_sha = repository.heads.get(base_branch) ?? pull.base_sha
  const sha = mergeCommit(world, pull, by)
  const now = isoTime(world.now())
  Object.assign(pull, { state: 'closed', closed_at: now, merged_at: now, merged_by: by, merge_commit_sha: sha })
  repository.bare.git('update-ref', `refs/heads/${base_branch}`, sha)
  tellPull(world, pull, 'closed', by)
  noticePushes(world, repository, by)
  return sha
}

export interface NewReview {
  readonly by: Account
  readonly state: 'approved' | 'changes_requested' | 'commented'
  readonly body?: string
  /** Default: the head. */
  readonly commit?: string
}

/** A review of one commit; the author of a pull request cannot approve it. */
export function review(world: World, pull: Pull, { by, state, body = '', commit = pull.head_sha }: NewReview): Review {
  if (by === pull.user && state !== 'commented') throw new Error('Can not approve your own pull request')
  const submitted_at = isoTime(world.now())
  const made: Review = { id: world.nextId(), user: by, body, state, commit_id: commit, submitted_at }
  pull.reviews.push(made)
  tellReview(world, pull, made, 'submitted', by)
  return made
}

export function dismiss(world: World, pull: Pull, made: Review, by: Account = pull.repository.owner): void {
  made.state = 'dismissed'
  tellReview(world, pull, made, 'dismissed', by)
}

/** In events the state has small letters. */
function tellReview(world: World, pull: Pull, made: Review, action: string, sender: Account): void {
  const payload = {
    action,
    review: { ...reviewShape(world, pull, made), state: made.state },
    pull_request: pullShape(world, pull),
  }
  fire(world, { event: 'pull_request_review', repository: pull.repository, sender, payload })
}

/** Puts the pull request into the merge queue: a branch of its own with the merged state, to be checked. */
export function enqueue(world: World, pull: Pull, by: Account = pull.repository.owner): string {
  const { repository, base_branch, number } = pull
  const base_sha = repository.heads.get(base_branch) ?? pull.base_sha
  const head_sha = mergeCommit(world, pull, by)
  const branch = `gh-readonly-queue/${base_branch}/pr-${number}-${base_sha}`
  repository.bare.git('update-ref', `refs/heads/${branch}`, head_sha)
  noticePushes(world, repository, by)
  const merge_group = {
    head_sha,
    head_ref: `refs/heads/${branch}`,
    base_sha,
    base_ref: `refs/heads/${base_branch}`,
    head_commit: headCommit(repository, head_sha),
  }
  fire(world, { event: 'merge_group', repository, sender: by, payload: { action: 'checks_requested', merge_group } })
  return head_sha
}
