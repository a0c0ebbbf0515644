// Routes that read a repository: its objects, one commit, what differs between two.
import { type Answer, ApiError, type Call, notFound, page, type Route, repositoryRoute } from './api.js'
import { accountShape, commitShape, fileShape, pullShape, repositoryShape } from './shapes.js'
import { fullName, networkOf, type Repository, type World } from './world.js'

const contents = { permission: 'contents', level: 'read' } as const
const metadata = { permission: 'metadata', level: 'read' } as const
const pullRequests = { permission: 'pull_requests', level: 'read' } as const

export const gitRoutes: readonly Route[] = [
  repositoryRoute('GET', '', metadata, ({ world }, repository) => ({
    status: 200,
    body: { ...repositoryShape(world, repository), ...forkOf(world, repository) },
  })),
  repositoryRoute('GET', '/git/ref/(.+)', contents, readReference),
  repositoryRoute('GET', '/git/commits/([0-9a-f]{40})', contents, readCommit),
  repositoryRoute('GET', '/git/trees/(.+)', contents, readTree),
  repositoryRoute('GET', '/git/blobs/([0-9a-f]{40})', contents, readBlob),
  repositoryRoute('GET', '/compare/(.+)', contents, compare),
  repositoryRoute('GET', '/commits/([0-9a-f]{40})/pulls', pullRequests, pullsWithCommit),
  {
    method: 'GET',
    path: /^\/users\/([^/]+)$/,
    run: ({ world }, login = '') => {
      const found = world.accounts.get(decodeURIComponent(login).toLowerCase())
      if (found === undefined) throw notFound()
      return { status: 200, body: accountShape(world, found) }
    },
  },
]

function forkOf(world: World, { fork_of }: Repository): object {
  return fork_of === null ? {} : { parent: repositoryShape(world, fork_of), source: repositoryShape(world, fork_of) }
}

function rejectEmpty({ heads }: Repository): void {
  if (heads.size === 0) throw new ApiError(409, 'Git Repository is empty.')
}

function readReference(_: Call, repository: Repository, name = ''): Answer {
  rejectEmpty(repository)
  const sha = repository.bare.attempt('rev-parse', '--verify', '--quiet', `refs/${name}`)?.toString().trim()
  if (!/^(heads|tags|pull)\/[^~^:@{}]+$/.test(name) || sha === undefined) throw notFound()
  const type = repository.bare.object(sha)?.type
  return { status: 200, body: { ref: `refs/${name}`, object: { sha, type } } }
}

function readCommit({ world }: Call, repository: Repository, sha = ''): Answer {
  rejectEmpty(repository)
  if (repository.bare.object(sha)?.type !== 'commit') throw notFound()
  const [commit] = repository.bare.log([sha], 1)
  if (commit === undefined) throw notFound()
  const { author, committer, message, tree, parents } = commit
  const html_url = `${world.url}/${fullName(repository)}/commit/${sha}`
  return {
    status: 200,
    body: {
      sha,
      html_url,
      author,
      committer,
      message,
      tree: { sha: tree },
      parents: parents.map((one) => ({ sha: one })),
    },
  }
}

/** Any value of `recursive` asks for all levels. */
function readTree({ world, query }: Call, repository: Repository, name = ''): Answer {
  rejectEmpty(repository)
  const sha = resolved(repository, name, 'tree')
  if (sha === null) throw notFound()
  const lines = repository.bare.tree(sha, query.has('recursive'))
  const tree = lines.slice(0, world.faults.tree_limit).map(({ path, mode, type, sha: inner, size }) => ({
    path,
    mode,
    type,
    sha: inner,
    ...(size === null ? {} : { size }),
    ...(type === 'commit' ? {} : { url: `${world.url}/repos/${fullName(repository)}/git/${type}s/${inner}` }),
  }))
  return { status: 200, body: { sha, tree, truncated: lines.length > world.faults.tree_limit } }
}

function readBlob({ world }: Call, repository: Repository, sha = ''): Answer {
  rejectEmpty(repository)
  const found = repository.bare.object(sha)
  if (found?.type !== 'blob') throw notFound()
  const { bytes } = found
  if (bytes.length > world.faults.blob_limit) {
    const errors = [{ resource: 'Blob', field: 'data', code: 'too_large' }]
    const text = 'This API returns blobs up to 100 MB in size. The requested blob is too large to fetch via the API.'
    throw new ApiError(403, text, { errors })
  }
  const content = bytes.toString('base64').replace(/.{60}/g, '$&\n')
  return { status: 200, body: { sha, size: bytes.length, encoding: 'base64', content: `${content}\n` } }
}

/** The object of a SHA or a branch; null when there is no such one. */
function resolved(repository: Repository, name: string, kind: 'tree' | 'commit'): string | null {
  const sha = /^[0-9a-f]{40}$/.test(name) ? name : repository.heads.get(name)
  if (sha === undefined) return null
  return repository.bare.attempt('rev-parse', '--verify', '--quiet', `${sha}^{${kind}}`)?.toString().trim() ?? null
}

/** `BASE...HEAD`: each a SHA, a branch, or `owner:branch` of the same network. */
function compare(call: Call, repository: Repository, range = ''): Answer {
  const { world } = call
  rejectEmpty(repository)
  const [, left = '', right = ''] = /^(.+?)\.\.\.(.+)$/.exec(range) ?? []
  const base = resolvedInNetwork(world, repository, left)
  const head = resolvedInNetwork(world, repository, right)
  if (base === null || head === null) throw notFound()
  const { bare } = repository
  const merge_base = bare.mergeBase(base, head)
  if (merge_base === null) throw new ApiError(404, `No common ancestor between ${left} and ${right}.`)
  const count = (from: string, to: string) => Number(bare.git('rev-list', '--count', `${from}..${to}`))
  const [ahead_by, behind_by] = [count(base, head), count(head, base)]
  const commits = bare.log([`${base}..${head}`], 10_000).reverse()
  const shapeOf = (sha: string) => bare.log([sha], 1).map((one) => commitShape(world, repository, one))[0]
  const files = bare.diff(merge_base, head)
  return page(call, commits.slice(0, 250), (rows) => ({
    base_commit: shapeOf(base),
    merge_base_commit: shapeOf(merge_base),
    status: ahead_by > 0 ? (behind_by > 0 ? 'diverged' : 'ahead') : behind_by > 0 ? 'behind' : 'identical',
    ahead_by,
    behind_by,
    total_commits: commits.length,
    commits: rows.map((row) => commitShape(world, repository, row)),
    // Files are on the first page only.
    files:
      Number(call.query.get('page') ?? 1) > 1
        ? []
        : files.slice(0, 300).map((one) => fileShape(world, repository, head, one)),
  }))
}

function resolvedInNetwork(world: World, repository: Repository, name: string): string | null {
  const [, login, branch = ''] = /^([^:]+):(.+)$/.exec(name) ?? []
  if (login === undefined) return resolved(repository, name, 'commit')
  const other = networkOf(world, repository).find(({ owner }) => owner.login.toLowerCase() === login.toLowerCase())
  const sha = other?.heads.get(branch)
  if (other === undefined || sha === undefined) return null
  if (repository.bare.object(sha) === null) repository.bare.attempt('fetch', '--quiet', other.bare.folder, sha)
  return resolved(repository, sha, 'commit')
}

function pullsWithCommit(call: Call, repository: Repository, sha = ''): Answer {
  if (repository.bare.object(sha)?.type !== 'commit') throw new ApiError(422, `No commit found for SHA: ${sha}`)
  const isIn = (from: string, to: string) => repository.bare.attempt('merge-base', '--is-ancestor', from, to) !== null
  const found = repository.pulls.filter((pull) => isIn(sha, pull.head_sha) && !isIn(sha, pull.base_sha))
  return page(call, found, (rows) => rows.map((row) => pullShape(call.world, row)))
}
