// Routes that read pull requests.
import { type Answer, type Call, notFound, page, type Route, repositoryRoute } from './api.js'
import type { ChangedFile } from './bare.js'
import { accountShape, commitShape, fileShape, pullShape, reviewShape } from './shapes.js'
import type { Json, Pull, Repository, World } from './world.js'

const need = { permission: 'pull_requests', level: 'read' } as const
const metadata = { permission: 'metadata', level: 'read' } as const

export const pullRoutes: readonly Route[] = [
  repositoryRoute('GET', '/pulls', need, list),
  repositoryRoute('GET', '/pulls/(\\d+)', need, ({ world }, repository, number) => {
    const pull = find(repository, number)
    return { status: 200, body: pullShape(world, pull, detailsOf(world, pull)) }
  }),
  repositoryRoute('GET', '/pulls/(\\d+)/files', need, (call, repository, number) => {
    const pull = find(repository, number)
    const shape = (file: ChangedFile) => fileShape(call.world, repository, pull.head_sha, file)
    return page(call, filesOf(pull).slice(0, 3000), (rows) => rows.map(shape))
  }),
  repositoryRoute('GET', '/pulls/(\\d+)/commits', need, (call, repository, number) =>
    page(call, commitsOf(find(repository, number)), (rows) =>
      rows.map((row) => commitShape(call.world, repository, row)),
    ),
  ),
  repositoryRoute('GET', '/pulls/(\\d+)/reviews', need, (call, repository, number) => {
    const pull = find(repository, number)
    return page(call, pull.reviews, (rows) => rows.map((row) => reviewShape(call.world, pull, row)))
  }),
  repositoryRoute('GET', '/issues/(\\d+)/timeline', need, (call, repository, number) =>
    page(call, find(repository, number).events, (rows) => rows),
  ),
  repositoryRoute('GET', '/collaborators/([^/]+)/permission', metadata, ({ world }, repository, login = '') => {
    const found = world.accounts.get(login.toLowerCase())
    if (found === undefined) throw notFound()
    const permission = found === repository.owner ? 'admin' : repository.readers.has(found) ? 'read' : 'write'
    return { status: 200, body: { permission, role_name: permission, user: accountShape(world, found) } }
  }),
]

function find(repository: Repository, number: string | undefined): Pull {
  const found = repository.pulls.find((pull) => String(pull.number) === number)
  if (found === undefined) throw notFound()
  return found
}

function list(call: Call, repository: Repository): Answer {
  const { world, query } = call
  const state = query.get('state') ?? 'open'
  const head = query.get('head')
  const base = query.get('base')
  const rows = repository.pulls.filter(
    (pull) =>
      (state === 'all' || pull.state === state) &&
      (base === null || pull.base_branch === base) &&
      (head === null || `${pull.head_repository.owner.login}:${pull.head_branch}` === head),
  )
  const isOldestFirst = query.get('direction') === 'asc'
  const order = isOldestFirst ? rows : rows.reverse()
  return page(call, order, (shown) => shown.map((row) => pullShape(world, row)))
}

/** What differs between the merge base and the head. */
export function filesOf({ repository, base_sha, base_branch, head_sha, merged_at }: Pull): ChangedFile[] {
  const base = merged_at === null ? (repository.heads.get(base_branch) ?? base_sha) : base_sha
  const from = repository.bare.mergeBase(base, head_sha)
  return from === null ? [] : repository.bare.diff(from, head_sha)
}

/** The commits of the head that the base has not, the oldest first; at most 250. */
export function commitsOf({ repository, base_sha, head_sha }: Pull) {
  return repository.bare
    .log([`${base_sha}..${head_sha}`], 100_000)
    .reverse()
    .slice(0, 250)
}

/** Whether Git merges both sides without a conflict. */
export function isMergeable({ repository, base_branch, head_sha }: Pull): boolean {
  const base = repository.heads.get(base_branch)
  return base !== undefined && repository.bare.attempt('merge-tree', '--write-tree', base, head_sha) !== null
}

function detailsOf(world: World, pull: Pull): Json {
  const files = filesOf(pull)
  const sum = (member: 'additions' | 'deletions') => files.reduce((total, file) => total + file[member], 0)
  const mergeable = pull.state === 'open' ? isMergeable(pull) : null
  return {
    merged: pull.merged_at !== null,
    mergeable,
    mergeable_state: mergeable === null ? 'unknown' : mergeable ? 'clean' : 'dirty',
    merged_by: pull.merged_by === null ? null : accountShape(world, pull.merged_by),
    comments: 0,
    review_comments: 0,
    commits: commitsOf(pull).length,
    additions: sum('additions'),
    deletions: sum('deletions'),
    changed_files: files.length,
  }
}
