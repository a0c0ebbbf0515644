// A GitHub in memory that keeps the rules of the real one: who sees a repository, ETags, rate limits, cut trees, redirects of
// renamed repositories. Its objects have Git's own names.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A file is its text, or an entry of another mode: a link (its target), a submodule (a commit). */
export type Files = Readonly<Record<string, string | { readonly mode: string; readonly content: string | Buffer }>>

export interface MockRepository {
  owner: string
  name: string
  visibility: 'public' | 'private' | 'internal'
  default_branch: string
  readonly id: number
  /** Branch to commit. */
  readonly branches: Map<string, string>
  /** Adds a commit that holds exactly these files, and returns its SHA. */
  readonly commit: (files: Files, branch?: string) => string
  /** The repository answers under its new name, and redirects from the old one. */
  readonly rename: (name: string) => void
  readonly remove: () => void
}

export interface Seen {
  readonly path: string
  readonly authorization: string | undefined
  readonly status: number
}

export interface MockGithub {
  readonly url: string
  readonly requests: Seen[]
  /** Entries beyond which a listing is cut. */
  treeLimit: number
  /** Requests that are left before the limit; answers 304 to authenticated callers cost none. */
  remaining: number
  /** Answers a request in another way than GitHub; null leaves it to GitHub. */
  intercept: (request: IncomingMessage) => MockAnswer | 'hang' | null
  readonly add: (owner: string, name: string, visibility?: MockRepository['visibility']) => MockRepository
  /** The token sees these repositories, besides public ones. */
  readonly grant: (token: string, ...repositories: readonly MockRepository[]) => void
  readonly revoke: (token: string) => void
  readonly close: () => Promise<void>
}

export interface MockAnswer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Seconds since 1970 at which the rate limit is reset. */
export const resetsAt = 2_000_000_000

interface TreeLine {
  readonly name: string
  readonly mode: string
  readonly sha: string
  readonly size?: number
}

type Stored =
  | { readonly kind: 'blob'; readonly bytes: Buffer }
  | { readonly kind: 'tree'; readonly lines: readonly TreeLine[] }
  | { readonly kind: 'commit'; readonly tree: string }

interface Held extends MockRepository {
  readonly objects: Map<string, Stored>
  readonly formerNames: Set<string>
}

export async function startGithub(): Promise<MockGithub> {
  const held = new Set<Held>()
  const grants = new Map<string, ReadonlySet<MockRepository>>()
  const server = createServer((request, response) => {
    const intercepted = github.intercept(request)
    if (intercepted === 'hang') return
    const answer = intercepted ?? answerOf({ github, held, grants }, request)
    const { authorization } = request.headers
    const text = answer.body === undefined ? '' : JSON.stringify(answer.body)
    const etag = `W/"${shaOf('etag', Buffer.from(text))}"`
    const isSame = answer.status === 200 && request.headers['if-none-match'] === etag
    const status = isSame ? 304 : answer.status
    if (!(isSame && authorization !== undefined) && github.remaining > 0) github.remaining -= 1
    github.requests.push({ path: request.url ?? '', authorization, status })
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'x-ratelimit-remaining': String(github.remaining),
      'x-ratelimit-reset': String(resetsAt),
      ...(status < 300 || status === 304 ? { etag } : {}),
      ...answer.headers,
    })
    response.end(isSame ? '' : text)
  })
  // A kept connection must not end just when a slow test sends its next request.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const github: MockGithub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    treeLimit: 100_000,
    remaining: 5000,
    intercept: () => null,
    add: (owner, name, visibility = 'public') => {
      const added = newRepository({ owner, name, visibility, id: held.size + 1 }, (gone) => held.delete(gone))
      held.add(added)
      return added
    },
    grant: (token, ...repositories) => grants.set(token, new Set(repositories)),
    revoke: (token) => grants.delete(token),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return github
}

function newRepository(
  given: Pick<MockRepository, 'owner' | 'name' | 'visibility' | 'id'>,
  remove: (repository: Held) => void,
): Held {
  const repository: Held = {
    ...given,
    default_branch: 'main',
    branches: new Map(),
    objects: new Map(),
    formerNames: new Set(),
    commit: (files, branch = 'main') => {
      const tree = storeTree(repository.objects, Object.entries(files))
      const sha = shaOf('commit', Buffer.from(`tree ${tree}\nparent ${repository.branches.get(branch)}\n`))
      repository.objects.set(sha, { kind: 'commit', tree })
      repository.branches.set(branch, sha)
      return sha
    },
    rename: (name) => {
      repository.formerNames.add(`${repository.owner}/${repository.name}`)
      repository.name = name
    },
    remove: () => remove(repository),
  }
  return repository
}

type Entry = readonly [path: string, file: Files[string]]

function storeTree(objects: Map<string, Stored>, entries: readonly Entry[]): string {
  const folders = new Map<string, Entry[]>()
  const lines: TreeLine[] = []
  for (const [path, file] of entries) {
    const slash = path.indexOf('/')
    if (slash === -1) lines.push(storeFile(objects, path, file))
    else {
      const folder = path.slice(0, slash)
      const inner = folders.get(folder) ?? []
      inner.push([path.slice(slash + 1), file])
      folders.set(folder, inner)
    }
  }
  for (const [name, inner] of folders) lines.push({ name, mode: '040000', sha: storeTree(objects, inner) })
  const order = ({ name, mode }: TreeLine) => Buffer.from(mode === '040000' ? `${name}/` : name)
  lines.sort((a, b) => Buffer.compare(order(a), order(b)))
  const bytes = lines.flatMap(({ name, mode, sha }) => [
    Buffer.from(`${mode.replace(/^0/, '')} ${name}\0`),
    Buffer.from(sha, 'hex'),
  ])
  const sha = shaOf('tree', Buffer.concat(bytes))
  objects.set(sha, { kind: 'tree', lines })
  return sha
}

function storeFile(objects: Map<string, Stored>, name: string, file: Files[string]): TreeLine {
  const { mode, content } = typeof file === 'string' ? { mode: '100644', content: file } : file
  if (mode === '160000') return { name, mode, sha: String(content) }
  const bytes = Buffer.from(content as string)
  const sha = shaOf('blob', bytes)
  objects.set(sha, { kind: 'blob', bytes })
  return { name, mode, sha, size: bytes.length }
}

function shaOf(kind: string, bytes: Buffer): string {
  return createHash('sha1').update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex')
}

interface World {
  readonly github: MockGithub
  readonly held: ReadonlySet<Held>
  readonly grants: ReadonlyMap<string, ReadonlySet<MockRepository>>
}

function answerOf({ github, held, grants }: World, request: IncomingMessage): MockAnswer {
  const token = request.headers.authorization?.replace(/^Bearer /, '') ?? null
  const granted = token === null ? new Set<MockRepository>() : grants.get(token)
  if (granted === undefined) return { status: 401, body: { message: 'Bad credentials' } }
  if (github.remaining <= 0) return { status: 403, body: { message: 'API rate limit exceeded' } }
  const { pathname, searchParams } = new URL(request.url ?? '/', github.url)
  const [, full, id, rest = ''] = /^\/(?:repos\/([^/]+\/[^/]+)|repositories\/(\d+))(\/.*)?$/.exec(pathname) ?? []
  const repository = [...held].find((one) => `${one.owner}/${one.name}` === full || String(one.id) === id)
  const former = [...held].find(({ formerNames }) => full !== undefined && formerNames.has(full))
  if (repository === undefined && former !== undefined) {
    const location = `${github.url}/repositories/${former.id}${rest}${searchParams.size > 0 ? `?${searchParams}` : ''}`
    return { status: 301, body: { message: 'Moved Permanently', url: location }, headers: { location } }
  }
  if (repository === undefined || (repository.visibility !== 'public' && !granted.has(repository))) return notFound
  return partOf(repository, rest, searchParams.has('recursive'), github.treeLimit)
}

const notFound: MockAnswer = { status: 404, body: { message: 'Not Found' } }

function partOf(repository: Held, path: string, isRecursive: boolean, treeLimit: number): MockAnswer {
  const { owner, name, id, default_branch, visibility, branches, objects } = repository
  if (path === '') {
    const full_name = `${owner}/${name}`
    return { status: 200, body: { id, full_name, default_branch, visibility, private: visibility !== 'public' } }
  }
  if (branches.size === 0) return { status: 409, body: { message: 'Git Repository is empty.' } }
  const [, noun = '', last = ''] = /^\/git\/(ref|commits|trees|blobs)\/(.+)$/.exec(path) ?? []
  const branch = decodeURIComponent(last.replace(/^heads\//, ''))
  const head = branches.get(branch)
  if (noun === 'ref' && head !== undefined)
    return { status: 200, body: { ref: `refs/heads/${branch}`, object: { sha: head, type: 'commit' } } }
  const found = objects.get(last)
  if (noun === 'commits' && found?.kind === 'commit')
    return { status: 200, body: { sha: last, tree: { sha: found.tree } } }
  if (noun === 'trees' && found?.kind === 'tree') {
    const tree = treeBody(objects, last, isRecursive, '')
    const truncated = tree.length > treeLimit
    return { status: 200, body: { sha: last, tree: tree.slice(0, treeLimit), truncated } }
  }
  if (noun === 'blobs' && found?.kind === 'blob') {
    const content = found.bytes.toString('base64').replace(/.{60}/g, '$&\n')
    return { status: 200, body: { sha: last, size: found.bytes.length, encoding: 'base64', content } }
  }
  return notFound
}

type TreeBody = readonly { readonly path: string; readonly mode: string; readonly type: string; readonly sha: string }[]

function treeBody(objects: Held['objects'], sha: string, isRecursive: boolean, prefix: string): TreeBody {
  const stored = objects.get(sha)
  if (stored?.kind !== 'tree') return []
  return stored.lines.flatMap(({ name, mode, sha: inner, size }) => {
    const path = `${prefix}${name}`
    const type = { '040000': 'tree', '160000': 'commit' }[mode] ?? 'blob'
    const line = { path, mode, type, sha: inner, ...(size === undefined ? {} : { size }) }
    return type === 'tree' && isRecursive ? [line, ...treeBody(objects, inner, true, `${path}/`)] : [line]
  })
}
