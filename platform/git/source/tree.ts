// A listing of a tree, checked the same way whichever host it comes from.
import { quotePath } from '@svc/engine/parts'
import { SourceError, type TreeEntry } from './source.js'

/** The entries by path. Rejects with `rejected` when a path is one that Git does not write, and `too_large`. */
export function checkedTree(entries: readonly TreeEntry[], maxEntries: number): ReadonlyMap<string, TreeEntry> {
  if (entries.length > maxEntries) throw tooManyEntries(maxEntries)
  const bad = entries.find(({ path }) => !isTreePath(path))
  if (bad !== undefined)
    throw new SourceError(
      'rejected',
      `the tree contains the path ${quotePath(bad.path)}: remove the file from the repository`,
    )
  return new Map(entries.map((entry) => [entry.path, entry]))
}

export function tooManyEntries(maxEntries: number): SourceError {
  const most = maxEntries.toLocaleString('en')
  return new SourceError('too_large', `the repository has more than ${most} files: use a repository for manifests only`)
}

/** True for the name of an object, such as `list` and `resolve` return. */
export function isSha(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{40}$/.test(value)
}

/** Rejects `rejected` unless the text is the name of an object. */
export function assertSha(sha: string): void {
  if (!isSha(sha)) throw new SourceError('rejected', 'the SHA of a Git object has 40 hex digits')
}

/** Names that would leave a folder or reach into `.git` come from crafted trees only. */
function isTreePath(path: string): boolean {
  if (path === '' || path.length > 4096 || path.includes('\0')) return false
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git')
}
