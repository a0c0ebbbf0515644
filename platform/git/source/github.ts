// GitHub by its REST API for Git objects. The contents API is not used: it follows links and leaves out entries of large folders.
import { blobSha, quote } from '@svc/engine/parts'
import { branchProblem } from './branch-name.js'
import {
  appDenied,
  credentialFor,
  type GithubClient,
  type GithubParts,
  githubClient,
  TokenRejected,
} from './github-client.js'
import { refPath, shaIn } from './github-rest.js'
import { githubTree } from './github-tree.js'
import type { Limits } from './limits.js'
import { type GitSource, type Inspection, type RepositoryAddress, SourceError } from './source.js'
import { assertSha, checkedTree } from './tree.js'

export interface Github {
  readonly inspect: (address: RepositoryAddress) => Promise<Inspection>
  readonly open: (address: RepositoryAddress) => GitSource
}

export function createGithub(parts: GithubParts & { readonly limits: Limits }): Github {
  return {
    inspect: (address) => inspect(renewing(parts, address), address.branch),
    open: (address) => githubSource(renewing(parts, address), address.branch ?? '', parts.limits),
  }
}

/** A client that asks for another token of the App when GitHub rejects the first. An invalid name rejects the call that uses it. */
function renewing(parts: GithubParts, address: RepositoryAddress): GithubClient {
  const credential = credentialFor(address, parts)
  const clientWith = async (rejected?: string) => {
    const path = pathOf(address)
    const token = (await address.app_token?.(rejected)) ?? address.token ?? parts.fallback_token
    return githubClient(parts, path, credential, token)
  }
  let client: Promise<GithubClient> | null = null
  return {
    credential,
    get: async (path, options) => {
      client ??= clientWith()
      try {
        return await (await client).get(path, options)
      } catch (error) {
        if (!(error instanceof TokenRejected)) throw error
        client = clientWith(error.token)
        return (await client).get(path, options)
      }
    },
  }
}

async function inspect(client: GithubClient, branch: string | null): Promise<Inspection> {
  const { status, body } = await client.get('')
  if (status === 404) throw repositoryMissing(client)
  const { default_branch } = body as { default_branch?: unknown }
  const visibility = isPublic(body) ? 'public' : 'private'
  if (visibility === 'private' && client.credential !== 'own' && client.credential !== 'app') throw privateRepository()
  const name = branch ?? (typeof default_branch === 'string' ? default_branch : '')
  const { status: found } = await client.get(pathOfBranch(name))
  if (found === 404) throw branchMissing(name)
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
      const { status, body, etag } = await client.get(pathOfBranch(branch), { etag: known?.etag ?? null })
      if (status === 304 && known !== null) return known
      if (status === 404)
        throw (await client.get('')).status === 404 ? repositoryMissing(client) : branchMissing(branch)
      const { object } = body as { object?: { sha?: unknown } }
      return { commit_sha: shaIn(object?.sha), etag }
    },
    list: async (commit_sha) => {
      assertSha(commit_sha)
      await assertCheckedOnce()
      const { status, body } = await client.get(`/git/commits/${commit_sha}`)
      if (status === 404) throw objectMissing('commit')
      const tree = shaIn((body as { tree?: { sha?: unknown } }).tree?.sha)
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
    const answer = await client.get('', { etag })
    if (answer.status === 304 && etag !== null) return
    if (answer.status === 404) throw repositoryMissing(client)
    if (!isPublic(answer.body)) throw privateRepository()
    etag = answer.etag
  }
}

function isPublic(body: unknown): boolean {
  const { private: isPrivate, visibility = 'public' } = body as { private?: unknown; visibility?: unknown }
  return isPrivate === false && visibility === 'public'
}

async function readBlob(client: GithubClient, sha: string, { maxBlobBytes }: Limits): Promise<Uint8Array> {
  const { status, body } = await client.get(`/git/blobs/${sha}`, { maxBytes: 2 * maxBlobBytes })
  if (status === 404) throw objectMissing('file')
  const { content, encoding } = body as { content?: unknown; encoding?: unknown }
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
