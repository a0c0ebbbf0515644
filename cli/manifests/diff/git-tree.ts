// The manifests below a path in a commit of the current repository, without a checkout.
import { spawnSync } from 'node:child_process'
import { posix } from 'node:path'
import { filesInTree, type GitFile, isManifestInFolder, textsInBatch } from '@svc/engine/parts'
import { UsageError } from '../../errors.js'
import type { Side, SideFile } from './side-file.js'

/** Names as people write them; not an option, and nothing that Git reads as a range. */
const refForm = /^(?!.*\.\.)[\p{L}\p{N}_@][\p{L}\p{N}_@^~{}./+-]*$/u

const maxBytes = 200 * 1024 * 1024

/** Reads `REF:PATH`; the path is from the root of the repository, or from the current folder when it begins with `./`. Throws UsageError. */
export function readFromGit(given: string): Omit<Side, 'given'> {
  const at = given.indexOf(':')
  const [ref, written] = [given.slice(0, at), given.slice(at + 1)]
  if (!refForm.test(ref))
    throw new UsageError(`\`${ref}\` is not the name of a commit: give REF:PATH, such as HEAD:policies`)
  const commit = commitOf(ref)
  const path = pathInRepository(written)
  const blobs = filesInTree(gitText(['ls-tree', '-r', '-z', '--full-tree', commit]))
  const own = blobs.filter((blob) => blob.path === path)
  const found = own.length > 0 ? own : blobs.filter((blob) => isBelow(blob.path, path))
  if (found.length === 0)
    throw new UsageError(`\`${given}\` does not exist: the commit has no file or folder \`${path}\``)
  const kind = own.length > 0 ? 'file' : 'folder'
  const files = kind === 'file' ? own : found.filter((blob) => isManifestInFolder(relativeTo(path, blob.path)))
  const texts = textsOf(files)
  return { kind, files: files.map((blob, index) => fileOf(blob, { ref, path, kind }, texts[index] ?? '')) }
}

function fileOf(
  blob: GitFile,
  { ref, path, kind }: { ref: string; path: string; kind: string },
  text: string,
): SideFile {
  const own = kind === 'file' ? posix.basename(blob.path) : relativeTo(path, blob.path)
  return { path: own, alias: blob.path, shown: `${ref}:${blob.path}`, text }
}

function commitOf(ref: string): string {
  const { status, stdout, stderr } = git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`])
  const commit = stdout.toString().trim()
  if (status === 0 && /^[0-9a-f]{40,64}$/.test(commit)) return commit
  const reason = stderr.toString().trim().split('\n')[0] ?? ''
  throw new UsageError(`\`${ref}\` is not a commit of a repository here${reason === '' ? '' : `: ${reason}`}`)
}

/** Without a slash at the end; empty for the whole repository. */
function pathInRepository(written: string): string {
  const isHere = /^\.{1,2}(\/|$)/.test(written)
  const prefix = isHere ? gitText(['rev-parse', '--show-prefix']).trim() : ''
  return posix.join('/', prefix, written).replace(/^\/+|\/+$/g, '')
}

function isBelow(path: string, folder: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`)
}

function relativeTo(folder: string, path: string): string {
  return folder === '' ? path : path.slice(folder.length + 1)
}

/** The texts of the blobs, in their order. */
function textsOf(blobs: readonly GitFile[]): string[] {
  const { status, stdout } = git(['cat-file', '--batch'], blobs.map(({ sha }) => `${sha}\n`).join(''))
  const texts = status === 0 ? textsInBatch(stdout, blobs.length) : []
  const missing = blobs[texts.length]
  if (missing !== undefined) throw new UsageError(`\`${missing.path}\` cannot be read from the repository`)
  return texts
}

function gitText(args: readonly string[]): string {
  const { status, stdout, stderr } = git(args)
  if (status !== 0) throw new UsageError(`git ${args[0]} failed: ${stderr.toString().trim().split('\n')[0]}`)
  return stdout.toString()
}

/** Runs git without a shell. Nothing is fetched, and no question is asked. */
function git(args: readonly string[], input = '') {
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' }
  const { status, stdout, stderr, error } = spawnSync('git', ['-c', 'safe.bareRepository=explicit', ...args], {
    input,
    env,
    maxBuffer: maxBytes,
  })
  if (error !== undefined) throw new UsageError(`git cannot be run: ${error.message}`)
  return { status, stdout, stderr }
}
