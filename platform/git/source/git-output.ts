// Reads the output of Git strictly: output that is cut or unexpected is never mistaken for an empty repository.
import { objectSha } from '../git-objects.js'
import { SourceError } from './source.js'
import { isSha } from './tree.js'

/** A line of `ls-remote --symref`: a reference and the name of the object, or of the branch, that it leads to. */
export function remoteRefs(stdout: Buffer) {
  const lines = stdout.toString('utf8').split('\n')
  const pairs = lines.map((line) => line.split('\t') as [string, string | undefined])
  const shas = new Map(
    pairs.flatMap(([sha, name]) => (name !== undefined && !sha.startsWith('ref: ') ? [[name, sha]] : [])),
  )
  const head = pairs.find(([target, name]) => name === 'HEAD' && target.startsWith('ref: refs/heads/'))
  return { shas, default_branch: head?.[0].slice('ref: refs/heads/'.length) ?? null }
}

/** Blobs of `cat-file --batch`, as `batchObjects` reads them. */
export function batchBlobs(stdout: Buffer, wanted: readonly string[]): ReadonlyMap<string, Uint8Array> | null {
  return batchObjects(stdout, wanted, 'blob')
}

/**
 * Objects of `cat-file --batch`, by the names that were asked for: `<sha> <kind> <size>\n<bytes>\n` each. Null when one is missing,
 * of another kind or damaged, or is not the one of a name that is a SHA.
 */
export function batchObjects(
  stdout: Buffer,
  wanted: readonly string[],
  kind: 'blob' | 'tree',
): ReadonlyMap<string, Buffer> | null {
  const found = new Map<string, Buffer>()
  let at = 0
  for (const name of wanted) {
    const end = stdout.indexOf('\n', at)
    const [sha = '', found_kind, length] = stdout
      .subarray(at, end === -1 ? at : end)
      .toString('latin1')
      .split(' ')
    if (found_kind !== kind || (isSha(name) && name !== sha)) return null
    const bytes = stdout.subarray(end + 1, end + 1 + Number(length))
    if (objectSha(kind, bytes) !== sha) return null
    found.set(name, bytes)
    at = end + 2 + Number(length)
  }
  return found
}

/** Sizes of blobs by `cat-file --batch-check`: `<sha> <kind> <size>` a line; null when one is missing. */
export function batchSizes(stdout: Buffer, wanted: readonly string[]): ReadonlyMap<string, number> | null {
  const lines = stdout.toString('latin1').split('\n')
  const sizes = new Map<string, number>()
  for (const [index, sha] of wanted.entries()) {
    const [, size] = new RegExp(`^${sha} blob (\\d+)$`).exec(lines[index] ?? '') ?? []
    if (size === undefined) return null
    sizes.set(sha, Number(size))
  }
  return sizes
}

/** The error that a message of Git about a host means. Git has one exit code for all; its words are in English (LC_ALL=C). */
export function hostFault(stderr: string, hasToken: boolean): SourceError {
  if (/\breturned error: 404\b|\brepository '[^\n]*' not found|does not appear to be a git repository/.test(stderr))
    return new SourceError('repository_missing', 'the repository does not exist, or this token cannot see it')
  if (/\breturned error: 40[13]\b|Authentication failed|could not read (Username|Password)/.test(stderr))
    return hasToken
      ? new SourceError('access_revoked', 'the host rejects the token: create one that may read the repository')
      : new SourceError(
          'private',
          'the repository is private: connect it with a token that may read it (`token`, or `svc connect-repo --token-file FILE`)',
        )
  if (/attempting to allocate \d+ over limit/.test(stderr))
    return new SourceError(
      'too_large',
      'an object or the list of branches is too large: use a repository for manifests only',
    )
  if (/unable to update url base from redirection|\breturned error: 30\d\b/.test(stderr))
    return new SourceError('rejected', 'the host redirects to another URL: connect the repository with that one')
  return new SourceError('fetch_failed', `git cannot read the repository: ${lastLine(stderr)}`)
}

function lastLine(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.startsWith('fatal: ') || line.startsWith('error: '))
  return (lines[0] ?? 'no reason given')
    .replace(/^(fatal|error): /, '')
    .replace(/[^ -~]/g, '?')
    .slice(0, 200)
}
