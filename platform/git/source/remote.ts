// Any Git host, read with Git itself into bare copies (docs/design/git.md §1).
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { quote } from '@svc/engine/parts'
import { branchProblem } from './branch-name.js'
import { type AddressRules, checkedAddress, type GitAddress } from './git-address.js'
import { type Copies, createCopies, diskBytes, headRef } from './git-copies.js'
import { batchBlobs, hostFault, remoteRefs } from './git-output.js'
import { createGitProcess, type GitCommand, type GitOutput, type GitProcess, type Setting } from './git-process.js'
import { listTree } from './git-tree.js'
import type { Limits } from './limits.js'
import { type GitSource, type Inspection, type RepositoryAddress, SourceError } from './source.js'
import { assertSha, checkedTree } from './tree.js'

interface RemoteParts extends AddressRules {
  /** The folder of all local copies. */
  readonly folder: string
  /** The folders in which the command `git` is looked for. */
  readonly path: string
  readonly limits: Limits
}

interface Remote {
  readonly inspect: (address: RepositoryAddress) => Promise<Inspection>
  readonly open: (address: RepositoryAddress, cache: string) => GitSource
  readonly forget: (cache: string) => Promise<void>
  readonly close: () => void
}

export function createRemote(parts: RemoteParts): Remote {
  const git = createGitProcess(parts.path, parts.limits)
  let prepared: Promise<void> | null = null
  const around: Around = {
    ...parts,
    git,
    ready: () => {
      prepared ??= prepare(git, parts.folder).catch((error) => {
        prepared = null
        throw error
      })
      return prepared
    },
  }
  const copiesOf = (cache: string) => createCopies(join(parts.folder, checkedCache(cache)))
  return {
    inspect: (address) => inspect(around, address),
    open: (address, cache) => openRepository({ ...around, address, copies: copiesOf(cache) }),
    forget: (cache) => rm(join(parts.folder, checkedCache(cache)), { recursive: true, force: true }),
    close: git.close,
  }
}

interface Around extends RemoteParts {
  readonly git: GitProcess
  readonly ready: () => Promise<void>
}

interface Repository extends Around {
  readonly address: RepositoryAddress
  readonly copies: Copies
}

/** Older versions ignore the setting that keeps Git to the checked address. */
async function prepare(git: GitProcess, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // The operator has listed the roots of these folders, whichever user owns what is in them.
  await writeFile(folderSettings(folder), '[safe]\n\tdirectory = *\n')
  const { stdout } = await git.run({ args: ['version'], cwd: folder })
  const [, major = 0, minor = 0] = (/^git version (\d+)\.(\d+)/.exec(stdout.toString()) ?? []).map(Number)
  if (major < 2 || (major === 2 && minor < 37))
    throw new SourceError('fetch_failed', 'the command `git` on the server is too old: install Git 2.37 or later')
}

const folderSettings = (folder: string) => join(folder, 'file.config')

/** Returns if anonymous callers can read the repository, and its branch. */
async function inspect(around: Around, address: RepositoryAddress): Promise<Inspection> {
  const anonymous = await refsOf(around, { ...address, token: null }).catch((error) => {
    const mayNeedToken = error instanceof SourceError && ['private', 'repository_missing'].includes(error.code)
    if (address.token === null || !mayNeedToken) throw error
    return null
  })
  const { shas, default_branch } = anonymous ?? (await refsOf(around, address))
  const branch = address.branch ?? (default_branch === null ? null : checkedBranch(default_branch))
  // Asked for the default branch, the host reports its commit under `HEAD`.
  if (branch === null || !shas.has(address.branch === null ? 'HEAD' : `refs/heads/${branch}`))
    throw branchMissing(branch)
  return { visibility: anonymous === null ? 'private' : 'public', branch }
}

function openRepository(repository: Repository): GitSource {
  const { limits } = repository
  // Newest first.
  const listings: { readonly commit_sha: string; readonly blobs: ReadonlySet<string> }[] = []
  return {
    resolve: async (known) => {
      const { branch } = repository.address
      const { shas } = await refsOf(repository, repository.address)
      const commit_sha = shas.get(`refs/heads/${branch}`)
      if (commit_sha === undefined) throw branchMissing(branch)
      if (commit_sha.length === 64)
        throw new SourceError('rejected', 'the repository names its objects by SHA-256: use one with SHA-1')
      return known?.commit_sha === commit_sha ? known : { commit_sha, etag: null }
    },
    list: async (commit_sha) => {
      assertSha(commit_sha)
      const entries = await withCopy(repository, commit_sha, (folder) => listCopy(repository, folder, commit_sha))
      const tree = checkedTree(entries, limits.maxEntries)
      listings.unshift({ commit_sha, blobs: new Set([...tree.values()].map(({ blob_sha }) => blob_sha)) })
      listings.length = Math.min(listings.length, 2)
      return tree
    },
    read: async (blob_shas) => {
      const wanted = [...new Set(blob_shas)]
      if (wanted.length === 0) return new Map()
      const listing = listings.find(({ blobs }) => wanted.every((sha) => blobs.has(sha)))
      if (listing === undefined) throw new SourceError('fetch_failed', 'only blobs of a listed commit can be read')
      return withCopy(repository, listing.commit_sha, (folder) => readCopy(repository, folder, wanted))
    },
  }
}

/** A damaged copy is fetched again; the second time for one that another call found damaged too, and removed meanwhile. */
const maxFetches = 2

/** Uses the copy of a commit, and fetches it when it is missing or damaged: `use` returns null then. */
async function withCopy<T>(repository: Repository, commit_sha: string, use: (folder: string) => Promise<T | null>) {
  const { copies } = repository
  const folder = copies.folderOf(commit_sha)
  await repository.ready()
  for (let fetches = 0; ; fetches += 1) {
    const isThere = await copies.has(commit_sha)
    const found = isThere ? await use(folder) : null
    if (found !== null) return found
    if (fetches === maxFetches)
      throw new SourceError('fetch_failed', 'the copy of the repository is damaged: check the disk')
    if (isThere) await copies.remove(folder)
    await fetchCopy(repository, commit_sha)
  }
}

async function listCopy({ git, limits, folder: cwd }: Repository, copy: string, commit_sha: string) {
  const run = (args: readonly string[], input = '') => git.run({ args: [`--git-dir=${copy}`, ...args], cwd, input })
  const batch = async (option: string, shas: readonly string[]) => {
    const { exit_code, stdout } = await run(['cat-file', option], shas.map((one) => `${one}\n`).join(''))
    return exit_code === 0 ? stdout : null
  }
  return listTree(`${commit_sha}^{tree}`, limits, {
    trees: (shas) => batch('--batch', shas),
    sizes: (shas) => batch('--batch-check', shas),
  })
}

async function readCopy({ git, limits, folder: cwd }: Repository, copy: string, wanted: readonly string[]) {
  const args = [`--git-dir=${copy}`, 'cat-file', '--batch']
  const { exit_code, stdout } = await git.run({ args, cwd, input: wanted.map((sha) => `${sha}\n`).join('') })
  const blobs = exit_code === 0 ? batchBlobs(stdout, wanted) : null
  if ([...(blobs?.values() ?? [])].some(({ length }) => length > limits.maxBlobBytes))
    throw new SourceError('too_large', 'the file is too large for a manifest')
  return blobs
}

/** Fetches the branch, which is at the commit as a rule, else the commit itself, which hosts may refuse. */
async function fetchCopy(repository: Repository, commit_sha: string): Promise<void> {
  const { git, copies, address, limits, folder: cwd } = repository
  const branch = checkedBranch(address.branch)
  const { url, ...access } = await hostOf(repository, address)
  const copy = await copies.begin()
  try {
    const options = ['--quiet', '--depth=1', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules']
    const fetch = async (wanted: string) => {
      const refspec = `+${wanted}:${headRef}`
      const args = [`--git-dir=${copy}`, 'fetch', ...options, '--end-of-options', url, refspec]
      const output = await git.run({ args, cwd, ...access, watch: () => diskProblem(copy, limits) })
      const full = await diskProblem(copy, limits)
      if (full !== null) throw full
      return { output, isThere: (await copies.headOf(copy)) === commit_sha }
    }
    const { output, isThere } = await fetch(`refs/heads/${branch}`)
    if (output.exit_code !== 0 && !isBranchMissing(output)) throw hostFault(output.stderr, address.token !== null)
    if (!isThere && !(await fetch(commit_sha)).isThere)
      throw isBranchMissing(output) ? branchMissing(branch) : new SourceError('fetch_failed', hasMoved)
    await copies.finish(copy, commit_sha)
  } finally {
    await copies.remove(copy)
  }
}

const hasMoved = 'the branch moved while it was read: check for changes again'

function isBranchMissing({ exit_code, stderr }: GitOutput): boolean {
  return exit_code !== 0 && stderr.includes("couldn't find remote ref")
}

async function diskProblem(folder: string, { maxDiskBytes }: Limits): Promise<SourceError | null> {
  if ((await diskBytes(folder)) <= maxDiskBytes) return null
  const most = `${maxDiskBytes / 1024 / 1024} MiB`
  return new SourceError('too_large', `the repository has more than ${most}: use a repository for manifests only`)
}

/** The branch of the address and `HEAD`, as the host has them now. */
async function refsOf(around: Around, address: RepositoryAddress) {
  const patterns = address.branch === null ? ['HEAD'] : ['HEAD', `refs/heads/${checkedBranch(address.branch)}`]
  await around.ready()
  const { url, ...access } = await hostOf(around, address)
  const args = ['ls-remote', '--symref', '--end-of-options', url, ...patterns]
  const { folder: cwd, limits } = around
  const output = await around.git.run({ args, cwd, timeoutMs: limits.answerMs, ...access })
  if (output.exit_code !== 0) throw hostFault(output.stderr, address.token !== null)
  return remoteRefs(output.stdout)
}

type Host = GitAddress & Pick<GitCommand, 'config_file'>

/** The checked address, with the token among its settings. */
async function hostOf(around: Around, { url, token }: RepositoryAddress): Promise<Host> {
  const address = await checkedAddress(url ?? '', around)
  if (address.protocol === 'file') return { ...address, config_file: folderSettings(around.folder) }
  if (token === null) return address
  return { ...address, settings: [...address.settings, authorization(address.url, token)] }
}

/** `NAME:SECRET` is sent as it is; hosts that take a token alone accept any name with it. */
function authorization(url: string, token: string): Setting {
  const pair = token.includes(':') ? token : `x-access-token:${token}`
  return [`http.${url}.extraHeader`, `Authorization: Basic ${Buffer.from(pair).toString('base64')}`]
}

function checkedBranch(branch: string | null): string {
  const problem = branchProblem(branch ?? '')
  if (branch === null || problem !== null) throw new SourceError('rejected', problem ?? 'the branch is missing')
  return branch
}

function branchMissing(branch: string | null): SourceError {
  const message =
    branch === null
      ? 'the default branch has no commit: name another one in `branch`'
      : `the repository has no branch ${quote(branch)}`
  return new SourceError('branch_missing', message)
}

function checkedCache(cache: string): string {
  if (/^[\w-]+(\/[\w-]+)*$/.test(cache)) return cache
  throw new SourceError('rejected', `the name ${quote(cache)} cannot be a folder`)
}
