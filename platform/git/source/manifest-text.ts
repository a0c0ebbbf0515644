// From the bytes of a file in a repository to the text of a manifest, or the reason why it is not one.
import { quotePath } from '@svc/engine/parts'
import { hiddenCharacter } from '@svc/schemas'
import type { TreeEntry } from './source.js'

/** Bytes of a manifest. */
const maxManifestBytes = 256 * 1024

/** The reason why an entry cannot be a manifest, as far as the tree shows; null for a file that may be read. */
export function entryProblem({ path, mode, size }: TreeEntry): string | null {
  const name = quotePath(path)
  if (mode === '120000') return `${name} is a symbolic link: commit the file itself`
  if (mode === '160000') return `${name} is a submodule: connect that repository, or commit the file itself`
  if (!/^100(644|755|664)$/.test(mode) || size === null)
    return `${name} is not an ordinary file: commit the file itself`
  const hidden = hiddenCharacter(path, 'line')
  if (hidden !== null) return `${name} has the hidden character ${hidden} in its name: rename the file`
  if (size > maxManifestBytes) return `${name} has ${size} bytes, more than 256 KiB: split the manifest`
  return null
}

export type ManifestText = { readonly text: string } | { readonly problem: string }

/** The text of a file that `entryProblem` accepts, without a byte order mark. */
export function manifestText(entry: TreeEntry, bytes: Uint8Array): ManifestText {
  const problem = entryProblem({ ...entry, size: bytes.length })
  if (problem !== null) return { problem }
  const name = quotePath(entry.path)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (text.includes('\0')) return { problem: `${name} contains NUL characters: save it as UTF-8 text` }
    if (lfsPointer.test(text)) return { problem: `${name} is a Git LFS pointer: commit the file itself, without LFS` }
    return { text }
  } catch {
    return { problem: `${name} is not valid UTF-8: save it as UTF-8 text` }
  }
}

const lfsPointer = /^version https:\/\/(git-lfs\.github\.com|hawser\.github\.com)\/spec\/v/
