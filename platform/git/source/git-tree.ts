// Lists the tree of a commit level by level: each level is one run of Git, and counts against the limit before the next begins,
// because folders that repeat each other can be many more than the bytes that were fetched.
import { batchObjects, batchSizes } from './git-output.js'
import type { Limits } from './limits.js'
import { SourceError, type TreeEntry } from './source.js'
import { tooManyEntries } from './tree.js'

/** Runs `cat-file` with these names as input; null when it fails. */
interface TreeReader {
  readonly trees: (shas: readonly string[]) => Promise<Buffer | null>
  readonly sizes: (shas: readonly string[]) => Promise<Buffer | null>
}

interface Folder {
  /** Empty for the root, else with a slash at its end. */
  readonly prefix: string
  readonly sha: string
}

type Unsized = Omit<TreeEntry, 'size'>

/** Every entry but folders of the tree that Git finds under the name `root`; null when an object is missing or damaged. Rejects with `too_large`. */
export async function listTree(
  root: string,
  { maxEntries, maxDepth }: Pick<Limits, 'maxEntries' | 'maxDepth'>,
  reader: TreeReader,
): Promise<readonly TreeEntry[] | null> {
  const files: Unsized[] = []
  let folders: readonly Folder[] = [{ prefix: '', sha: root }]
  let count = 0
  for (let depth = 0; folders.length > 0; depth += 1) {
    if (depth === maxDepth)
      throw new SourceError('too_large', `the repository has more than ${maxDepth} folders in each other`)
    const level = await entriesOf(folders, reader)
    if (level === null) return null
    const next: Folder[] = []
    for (const [{ prefix }, entries] of level) {
      count += entries.length
      if (count > maxEntries) throw tooManyEntries(maxEntries)
      for (const { mode, name, sha } of entries)
        if (mode === '040000') next.push({ prefix: `${prefix}${name}/`, sha })
        else files.push({ path: `${prefix}${name}`, mode, blob_sha: sha })
    }
    folders = next
  }
  return withSizes(files, reader)
}

interface Named {
  /** Six digits, as Git shows it. */
  readonly mode: string
  readonly name: string
  readonly sha: string
}

async function entriesOf(folders: readonly Folder[], { trees }: TreeReader) {
  const shas = [...new Set(folders.map(({ sha }) => sha))]
  const output = await trees(shas)
  const found = output === null ? null : batchObjects(output, shas, 'tree')
  if (found === null) return null
  const parsed = new Map([...found].map(([sha, bytes]) => [sha, entriesIn(bytes)]))
  if ([...parsed.values()].includes(null)) return null
  return folders.map((folder) => [folder, parsed.get(folder.sha) ?? []] as const)
}

/** Entries of a tree: `<mode> <name>` NUL and the 20 bytes of the SHA each; null for other bytes. */
function entriesIn(bytes: Buffer): readonly Named[] | null {
  const entries: Named[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at)
    const [, mode, name] = end === -1 ? [] : (/^([0-7]{5,6}) (.*)$/s.exec(bytes.toString('utf8', at, end)) ?? [])
    if (mode === undefined || name === undefined || end + 21 > bytes.length) return null
    entries.push({ mode: mode.padStart(6, '0'), name, sha: bytes.toString('hex', end + 1, end + 21) })
    at = end + 21
  }
  return entries
}

const submodule = '160000'

async function withSizes(files: readonly Unsized[], { sizes }: TreeReader): Promise<readonly TreeEntry[] | null> {
  const shas = [...new Set(files.flatMap(({ mode, blob_sha }) => (mode === submodule ? [] : [blob_sha])))]
  const output = shas.length === 0 ? Buffer.alloc(0) : await sizes(shas)
  const found = output === null ? null : batchSizes(output, shas)
  return found === null ? null : files.map((file) => ({ ...file, size: found.get(file.blob_sha) ?? null }))
}
