// GitHub by its REST API for Git objects. The contents API is not used: it follows links and leaves out entries of large folders.
import { blobSha, quote } from '@svc/engine/parts'
import { askWith, type GithubAnswer, type GithubApi, orNull, refPath, shaIn } from '../github/api.js'
import { appDenied } from '../github/faults.js'
import { branchProblem } from './branch-name.js'
import { type GithubClient, githubTree } from './github-tree.js'
import type { Limits } from './limits.js'
import { type GitSource, type Inspection, type RepositoryAddress, SourceError } from './source.js'
import { assertSha, checkedTree } from './tree.js'

interface Github {
  readonly inspect: (address: RepositoryAddress) => Promise<Inspection>
  readonly open: (address: RepositoryAddress) => GitSource
}

interface GithubParts {
  readonly api: GithubApi
  readonly fallback_token: string | null
  readonly limits: Limits
}

export function createGithub(parts: GithubParts): Github {
  return {
    inspect: (address) => inspect(clientOf(parts, address), address.branch),
    open: (address) => githubSource(clientOf(parts, address), address.branch ?? '', parts.limits),
  }
}

/** An invalid name rejects the call that uses it. */
function clientOf({ api, fallback_token }: GithubParts, address: RepositoryAddress): GithubClient {
  const { token, app_token } = address
  let held: Promise<string | null> | null = null
  const tokenOf = (rejected?: string) => {
    if (held === null || rejected !== undefined)
      held = app_token === undefined ? Promise.resolve(token ?? fallback_token) : app_token(rejected)
    return held
  }
  const without_token = fallback_token === null ? 'none' : 'fallback'
  const credential = app_token !== undefined ? 'app' : token !== null ? 'own' : without_token
  const ask = askWith(api, credential, tokenOf)
  return {
    credential,
    get: async (path, more) => orNull(ask({ ...more, path: `/repos/${pathOf(address)}${path}` })),
  }
}

async function inspect(client: GithubClient, branch: string | null): Promise<Inspection> {
  const found = await client.get('')
  if (found === null) throw repositoryMissing(client)
  const { default_branch } = (found.body ?? {}) as { default_branch?: unknown }
  const visibility = isPublic(found) ? 'public' : 'private'
  if (visibility === 'private' && client.credential !== 'own' && client.credential !== 'app') throw privateRepository()
  const name = branch ?? (typeof default_branch === 'string' ? default_branch : '')
  if ((await client.get(pathOfBranch(name))) === null) throw branchMissing(name)
  return { visibility, branch: name }
}

function githubSource(client: GithubClient, branch: string, limits: Limits): GitSource {
  const assertReadable = publicCheck(client)
  let isChecked = false
  const assertCheckedOnce = async () => {
    if (!isChecked) await assertReadable()
    isChecked = true
  }
  return {
    resolve: async (known) => {
      isChecked = false
      await assertCheckedOnce()
      const found = await client.get(pathOfBranch(branch), { etag: known?.etag ?? null })
      if (found?.status === 304 && known !== null) return known
      if (found === null) throw (await client.get('')) === null ? repositoryMissing(client) : branchMissing(branch)
      const { object } = (found.body ?? {}) as { object?: { sha?: unknown } }
      return { commit_sha: shaIn(object?.sha), etag: found.headers.etag ?? null }
    },
    list: async (commit_sha) => {
      assertSha(commit_sha)
      await assertCheckedOnce()
      const found = await client.get(`/git/commits/${commit_sha}`)
      if (found === null) throw objectMissing('commit')
      const tree = shaIn((found.body as { tree?: { sha?: unknown } } | null)?.tree?.sha)
      return checkedTree(await githubTree(client, tree, limits.maxEntries), limits.maxEntries)
    },
    read: async (blob_shas) => {
      const wanted = [...new Set(blob_shas)]
      for (const sha of wanted) assertSha(sha)
      await assertCheckedOnce()
      return new Map(await concurrently(wanted, async (sha) => [sha, await readBlob(client, sha, limits)] as const))
    },
  }
}

/** The operator's token reads public repositories only, and a repository can become private at any time. */
function publicCheck(client: GithubClient): () => Promise<void> {
  let etag: string | null = null
  return async () => {
    if (client.credential !== 'fallback') return
    const found = await client.get('', { etag })
    if (found?.status === 304) return
    if (found === null) throw repositoryMissing(client)
    if (!isPublic(found)) throw privateRepository()
    etag = found.headers.etag ?? null
  }
}

function isPublic({ body }: GithubAnswer): boolean {
  const { private: isPrivate, visibility = 'public' } = (body ?? {}) as { private?: unknown; visibility?: unknown }
  return isPrivate === false && visibility === 'public'
}

async function readBlob(client: GithubClient, sha: string, { maxBlobBytes }: Limits): Promise<Uint8Array> {
  const found = await client.get(`/git/blobs/${sha}`, { maxBytes: 2 * maxBlobBytes })
  if (found === null) throw objectMissing('file')
  const { content, encoding } = (found.body ?? {}) as { content?: unknown; encoding?: unknown }
  const bytes = Buffer.from(typeof content === 'string' && encoding === 'base64' ? content : '', 'base64')
  if (bytes.length > maxBlobBytes) throw new SourceError('too_large', 'the file is too large for a manifest')
  if (blobSha(bytes) !== sha) throw new SourceError('fetch_failed', 'GitHub sent other bytes than the SHA names')
  return bytes
}

const maxConcurrentReads = 8

/** Results in no particular order. After a failure no further item begins. */
async function concurrently<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const pending = [...items]
  const results: R[] = []
  const worker = async () => {
    for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
      results.push(
        await run(item).catch((error) => {
          pending.length = 0
          throw error
        }),
      )
    }
  }
  await Promise.all(Array.from({ length: maxConcurrentReads }, worker))
  return results
}

function pathOf({ owner, name }: RepositoryAddress): string {
  if (!/^[A-Za-z0-9][\w-]{0,99}$/.test(owner))
    throw new SourceError('rejected', `${quote(owner)} is not an account of GitHub`)
  if (!/^[\w.-]{1,100}$/.test(name) || /^\.{1,2}$|\.git$/.test(name))
    throw new SourceError('rejected', `${quote(name)} is not the name of a repository on GitHub`)
  return `${owner}/${name}`
}

/** Throws SourceError for an invalid name. */
function pathOfBranch(branch: string): string {
  const problem = branchProblem(branch)
  if (problem !== null) throw new SourceError('rejected', problem)
  return refPath(branch)
}

function repositoryMissing({ credential }: GithubClient): SourceError {
  if (credential === 'app')
    return new SourceError('repository_missing', `the repository does not exist any more, or ${appDenied}`)
  const message =
    credential === 'own'
      ? 'the repository does not exist, or the token cannot see it'
      : 'the repository does not exist, or is private: check the name, or connect it with your own token (`token`, or `svc connect-repo --token-file FILE`)'
  return new SourceError('repository_missing', message)
}

function branchMissing(branch: string): SourceError {
  return new SourceError('branch_missing', `the repository has no branch ${quote(branch)}`)
}

function privateRepository(): SourceError {
  return new SourceError(
    'private',
    'the repository is private: connect it with your own token (`token`, or `svc connect-repo --token-file FILE`)',
  )
}

function objectMissing(kind: string): SourceError {
  return new SourceError('fetch_failed', `GitHub no longer has this ${kind}: check for changes again`)
}
