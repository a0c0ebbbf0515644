// What follows from a push: events, check suites, pull requests whose head moved.
import type { Commit } from './bare.js'
import { suiteOf } from './check-routes.js'
import { pullShape, suiteShape } from './shapes.js'
import { fire } from './webhooks.js'
import {
  type Account,
  covers,
  fullName,
  isoTime,
  type Json,
  mayDo,
  type Pull,
  type Repository,
  type World,
} from './world.js'

const zero = '0'.repeat(40)

/** Compares the branches of the bare repository with what is known of them, and fires what a push fires. */
export function noticePushes(world: World, repository: Repository, sender: Account): void {
  const before = repository.heads
  const after = repository.bare.branches()
  repository.heads = after
  for (const branch of new Set([...before.keys(), ...after.keys()])) {
    const from = before.get(branch)
    const to = after.get(branch)
    if (from === to) continue
    const payload = pushPayload(world, repository, sender, { branch, from, to })
    fire(world, { event: 'push', repository, sender, payload })
    if (to === undefined) continue
    requestSuites(world, repository, to, sender)
    for (const pull of pullsFrom(world, repository, branch)) synchronize(world, pull, to, sender)
  }
}

interface Moved {
  readonly branch: string
  readonly from: string | undefined
  readonly to: string | undefined
}

function pushPayload(world: World, repository: Repository, sender: Account, { branch, from, to }: Moved): Json {
  const { bare, heads, default_branch } = repository
  const start = from ?? (branch === default_branch ? undefined : heads.get(default_branch))
  const range = to === undefined ? null : start === undefined ? [to] : [`${start}..${to}`]
  const commits = range === null ? [] : bare.log(range, 2048).reverse()
  const head = to === undefined ? [] : bare.log([to], 1)
  const isForced = from !== undefined && to !== undefined && bare.mergeBase(from, to) !== from
  return {
    ref: `refs/heads/${branch}`,
    before: from ?? zero,
    after: to ?? zero,
    created: from === undefined,
    deleted: to === undefined,
    forced: isForced,
    base_ref: null,
    compare: `${world.url}/${fullName(repository)}/compare/${(from ?? zero).slice(0, 12)}...${(to ?? zero).slice(0, 12)}`,
    commits: commits.map((one) => pushedCommit(world, repository, one)),
    head_commit: head.map((one) => pushedCommit(world, repository, one))[0] ?? null,
    pusher: { name: sender.login, email: sender.email },
  }
}

function pushedCommit(world: World, repository: Repository, commit: Commit): Json {
  const { sha, tree, parents, author, committer, message } = commit
  const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
  const files = repository.bare.diff(parents[0] ?? emptyTree, sha)
  const paths = (...statuses: readonly string[]) =>
    files.filter(({ status }) => statuses.includes(status)).map(({ path }) => path)
  return {
    id: sha,
    tree_id: tree,
    distinct: true,
    message,
    timestamp: committer.date,
    url: `${world.url}/${fullName(repository)}/commit/${sha}`,
    author: { name: author.name, email: author.email, username: loginOf(world, author.email) },
    committer: { name: committer.name, email: committer.email, username: loginOf(world, committer.email) },
    added: paths('added', 'renamed'),
    removed: [...paths('removed'), ...files.flatMap(({ previous_path }) => previous_path ?? [])],
    modified: paths('modified', 'changed'),
  }
}

function loginOf(world: World, email: string): string | null {
  return [...world.accounts.values()].find((account) => account.email === email)?.login ?? null
}

/** GitHub makes a check suite for each App that may write checks. */
function requestSuites(world: World, repository: Repository, sha: string, sender: Account): void {
  for (const installation of world.installations) {
    const { app, permissions, deleted, suspended_at } = installation
    const isActive = !deleted && suspended_at === null && mayDo(permissions, 'checks', 'write')
    if (!isActive || !covers(installation, repository)) continue
    const suite = suiteOf(world, app, repository, sha)
    const payload = { action: 'requested', check_suite: suiteShape(world, suite) }
    fire(world, { event: 'check_suite', repository, sender, payload, only: app })
  }
}

function pullsFrom(world: World, repository: Repository, branch: string): Pull[] {
  return [...world.repositories]
    .flatMap(({ pulls }) => pulls)
    .filter((pull) => pull.state === 'open' && pull.head_repository === repository && pull.head_branch === branch)
}

function synchronize(world: World, pull: Pull, sha: string, sender: Account): void {
  const before = pull.head_sha
  copyHead(pull, sha)
  pull.head_sha = sha
  pull.base_sha = pull.repository.heads.get(pull.base_branch) ?? pull.base_sha
  tellPull(world, pull, 'synchronize', sender, { before, after: sha })
}

/** Makes the commit readable in the base repository: `refs/pull/N/head`. */
export function copyHead(
  { repository, head_repository, number }: Pick<Pull, 'repository' | 'head_repository' | 'number'>,
  sha: string,
): void {
  const { bare } = repository
  if (head_repository !== repository) {
    bare.git('fetch', '--quiet', '--no-tags', head_repository.bare.folder, `+${sha}:refs/pull/${number}/head`)
  } else bare.git('update-ref', `refs/pull/${number}/head`, sha)
}

/** Fires an event of the pull request. */
export function tellPull(world: World, pull: Pull, action: string, sender: Account, more: Json = {}): void {
  pull.updated_at = isoTime(world.now())
  const pull_request = pullShape(world, pull, { merged: pull.merged_at !== null })
  const payload = { action, number: pull.number, pull_request, ...more }
  fire(world, { event: 'pull_request', repository: pull.repository, sender, payload })
}
