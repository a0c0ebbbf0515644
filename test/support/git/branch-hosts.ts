// Branches that random histories change: in memory, where each answer takes a random number of ticks, and in real repositories.
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type GitSource, type GitSources, SourceError, type TreeEntry } from '../../../platform/git/source/source.js'
import { bareRepository } from './git-host.js'
import type { Files } from './github.js'
import { testSources } from './sources.js'

/** The branch `main` of one repository. */
export interface HostedBranch {
  readonly url: string
  /** Adds a commit that holds exactly these files, and moves the branch to it. */
  readonly commit: (files: Files) => string
  /** A force push to a commit that the branch had; null deletes the branch. */
  readonly move: (commit_sha: string | null) => void
  readonly setOutage: (isOn: boolean) => void
  /** The condition of an outage. */
  readonly outage: 'fetch_failed' | 'access_revoked'
}

export interface BranchHosts {
  readonly sources: GitSources
  readonly add: (name: string) => HostedBranch
  readonly close: () => Promise<void>
}

export function gitSha(kind: string, bytes: Uint8Array): string {
  return createHash('sha1').update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex')
}

interface Held {
  head: string | null
  isAway: boolean
  readonly commits: Map<string, ReadonlyMap<string, TreeEntry>>
  readonly blobs: Map<string, Uint8Array>
}

export function hostsInMemory(random: () => number): BranchHosts {
  const held = new Map<string, Held>()
  const add = (name: string): HostedBranch => {
    const url = `https://git.example/${name}`
    const one: Held = { head: null, isAway: false, commits: new Map(), blobs: new Map() }
    held.set(url, one)
    return {
      url,
      outage: 'fetch_failed',
      commit: (files) => commitTo(one, files),
      move: (commit_sha) => {
        one.head = commit_sha
      },
      setOutage: (isOn) => {
        one.isAway = isOn
      },
    }
  }
  const sources: GitSources = {
    inspect: async () => ({ visibility: 'public', branch: 'main' }),
    open: ({ url }) => sourceIn(held.get(url ?? '') as Held, random),
    forget: async () => undefined,
    close: async () => undefined,
  }
  return { sources, add, close: sources.close }
}

function commitTo(one: Held, files: Files): string {
  const entries = Object.entries(files).map(([path, file]): [string, TreeEntry] => {
    const { mode, content } = typeof file === 'string' ? { mode: '100644', content: file } : file
    const bytes = Buffer.from(content as string)
    const blob_sha = gitSha('blob', bytes)
    one.blobs.set(blob_sha, bytes)
    return [path, { path, blob_sha, mode, size: bytes.length }]
  })
  one.head = gitSha('commit', Buffer.from(JSON.stringify([one.commits.size, entries])))
  one.commits.set(one.head, new Map(entries))
  return one.head
}

function sourceIn(one: Held, random: () => number): GitSource {
  const answer = async <T>(value: () => T): Promise<T> => {
    for (let ticks = Math.floor(random() * 6); ticks > 0; ticks -= 1) await setImmediate()
    if (one.isAway) throw new SourceError('fetch_failed', 'the host does not answer: try again')
    const found = value()
    for (let ticks = Math.floor(random() * 6); ticks > 0; ticks -= 1) await setImmediate()
    return found
  }
  return {
    resolve: (known) =>
      answer(() => {
        if (one.head === null) throw new SourceError('branch_missing', 'the repository has no branch `main`')
        return known?.commit_sha === one.head ? known : { commit_sha: one.head, etag: null }
      }),
    list: (commit_sha) => answer(() => one.commits.get(commit_sha) ?? new Map<string, TreeEntry>()),
    read: (shas) => answer(() => new Map(shas.map((sha) => [sha, one.blobs.get(sha) as Uint8Array]))),
  }
}

export function hostsOfGit(): BranchHosts {
  const folder = mkdtempSync(join(tmpdir(), 'svc-histories-'))
  const sources = testSources({ git_file_roots: [folder] })
  const add = (name: string): HostedBranch => {
    const at = join(folder, `${name}.git`)
    const repository = bareRepository(at)
    // An outage takes the folder away; what changes meanwhile is seen afterwards.
    const here = <T>(work: () => T): T => {
      const isAway = !existsSync(at)
      if (isAway) renameSync(`${at}.away`, at)
      const done = work()
      if (isAway) renameSync(at, `${at}.away`)
      return done
    }
    return {
      url: `file://${at}`,
      outage: 'fetch_failed',
      commit: (files) => here(() => repository.commit(files)),
      move: (sha) => {
        const args = sha === null ? ['-d', 'refs/heads/main'] : ['refs/heads/main', sha]
        here(() => repository.git('update-ref', ...args))
      },
      setOutage: (isOn) => {
        if (existsSync(at) === isOn)
          renameSync(...((isOn ? [at, `${at}.away`] : [`${at}.away`, at]) as [string, string]))
      },
    }
  }
  const close = async () => {
    await sources.discard()
    rmSync(folder, { recursive: true, force: true })
  }
  return { sources, add, close }
}
