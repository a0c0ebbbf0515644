// The files of a tree on GitHub. One request lists all of them, unless there are too many for one answer.
import type { GithubAnswer, GithubRequest } from '../github/api.js'
import type { Credential } from '../github/faults.js'
import { SourceError, type TreeEntry } from './source.js'
import { isSha, tooManyEntries } from './tree.js'

/** Gets what is below a repository; null where GitHub has no such object. */
export interface GithubClient {
  readonly credential: Credential
  readonly get: (path: string, more?: Pick<GithubRequest, 'etag' | 'maxBytes'>) => Promise<GithubAnswer | null>
}

interface Folder {
  /** Empty for the root, else with a slash at its end. */
  readonly prefix: string
  readonly sha: string
}

interface Listed {
  readonly entries: readonly GithubEntry[]
  readonly truncated: boolean
}

interface GithubEntry {
  readonly path: string
  readonly mode: string
  readonly type: string
  readonly sha: string
  readonly size?: number
}

const maxRequests = 1000
/** GitHub answers with at most 7 MB. */
const maxTreeBytes = 32 * 1024 * 1024

/** Rejects with `too_large` beyond `maxEntries` files and folders. */
export async function githubTree(
  client: GithubClient,
  root: string,
  maxEntries: number,
): Promise<readonly TreeEntry[]> {
  const files: TreeEntry[] = []
  const pending: Folder[] = [{ prefix: '', sha: root }]
  let folders = 0
  let requests = 0
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    requests += 2
    const whole = await listed(client, folder, true)
    // A folder that is too large as a whole is listed by itself, and then each folder in it.
    const { entries } = whole.truncated ? await listedAlone(client, folder, maxEntries) : whole
    const inner = entries.filter(({ type }) => type === 'tree')
    folders += inner.length
    files.push(...entries.filter(({ type }) => type !== 'tree').map(fileEntry))
    if (files.length + folders > maxEntries || requests > maxRequests) throw tooManyEntries(maxEntries)
    if (whole.truncated) pending.push(...inner.map(({ path, sha }) => ({ prefix: `${path}/`, sha })))
  }
  return files
}

async function listedAlone(client: GithubClient, folder: Folder, maxEntries: number): Promise<Listed> {
  const alone = await listed(client, folder, false)
  if (alone.truncated) throw tooManyEntries(maxEntries)
  return alone
}

async function listed(client: GithubClient, { prefix, sha }: Folder, isRecursive: boolean): Promise<Listed> {
  const path = `/git/trees/${sha}${isRecursive ? '?recursive=1' : ''}`
  const found = await client.get(path, { maxBytes: maxTreeBytes })
  const { tree, truncated } = (found?.body ?? {}) as { tree?: unknown; truncated?: unknown }
  if (!Array.isArray(tree) || typeof truncated !== 'boolean')
    throw new SourceError('fetch_failed', 'GitHub did not list the tree: check for changes again')
  if (!tree.every(isEntry)) throw new SourceError('fetch_failed', 'GitHub listed the tree in an unknown form')
  return { truncated, entries: tree.map((entry) => ({ ...entry, path: `${prefix}${entry.path}` })) }
}

function isEntry(entry: unknown): entry is GithubEntry {
  const { path, mode, type, sha } = (entry ?? {}) as Partial<Record<keyof GithubEntry, unknown>>
  if (typeof path !== 'string' || typeof mode !== 'string' || typeof type !== 'string') return false
  return isSha(sha)
}

function fileEntry({ path, mode, sha, size }: GithubEntry): TreeEntry {
  return { path, blob_sha: sha, mode, size: size ?? null }
}
