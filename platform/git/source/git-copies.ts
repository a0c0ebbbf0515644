// Local copies of commits of one repository, each a bare repository in a folder named by its commit. A copy is filled in a
// folder of its own and then renamed, so that processes and calls need no lock and no copy is ever half there.
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Copies that stay: the newest, and one that another call may still read. */
const keptCopies = 2
/** The reference to the fetched commit, which Git writes as a file: the repository is new. */
export const headRef = 'refs/svc/head'
/** Milliseconds after which an unfinished copy is left over from a process that ended. */
const abandonedMs = 60 * 60_000

export interface Copies {
  readonly folderOf: (commit_sha: string) => string
  readonly has: (commit_sha: string) => Promise<boolean>
  /** Makes an empty bare repository to fill. */
  readonly begin: () => Promise<string>
  /** The commit that was fetched into it; null for none. */
  readonly headOf: (folder: string) => Promise<string | null>
  /** Makes the filled folder the copy of the commit. */
  readonly finish: (filled: string, commit_sha: string) => Promise<void>
  readonly remove: (folder: string) => Promise<void>
}

export function createCopies(root: string): Copies {
  const remove = (folder: string) => rm(folder, { recursive: true, force: true })
  const folderOf = (commit_sha: string) => join(root, commit_sha)
  return {
    folderOf,
    remove,
    has: async (commit_sha) => (await stat(folderOf(commit_sha)).catch(() => null)) !== null,
    begin: async () => {
      await mkdir(root, { recursive: true, mode: 0o700 })
      const folder = await mkdtemp(join(root, 'new-'))
      for (const name of ['objects', 'refs']) await mkdir(join(folder, name))
      await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/main\n')
      await writeFile(join(folder, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = true\n')
      return folder
    },
    headOf: async (folder) => (await readFile(join(folder, headRef), 'utf8').catch(() => null))?.trim() ?? null,
    finish: async (filled, commit_sha) => {
      // Another call was faster when this fails: its copy is the same.
      await rename(filled, folderOf(commit_sha)).catch(() => remove(filled))
      await tidy(root, commit_sha)
    },
  }
}

async function tidy(root: string, newest: string): Promise<void> {
  // The newest copy was filled just now, by the clock that gives files their times.
  const now = (await stat(join(root, newest)).catch(() => null))?.mtimeMs ?? 0
  const names = (await readdir(root)).filter((name) => name !== newest)
  const aged = await Promise.all(
    names.map(async (name) => ({ name, time: (await stat(join(root, name)).catch(() => null))?.mtimeMs ?? 0 })),
  )
  const abandoned = aged.filter(({ name, time }) => name.startsWith('new-') && time < now - abandonedMs)
  const older = aged.filter(({ name }) => /^[0-9a-f]{40}$/.test(name)).sort((a, b) => b.time - a.time)
  for (const { name } of [...abandoned, ...older.slice(keptCopies - 1)])
    await rm(join(root, name), { recursive: true, force: true })
}

/** Bytes of all files below a folder. A file that vanishes meanwhile counts nothing. */
export async function diskBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile())
  const sizes = files.map(
    async (entry) => (await stat(join(entry.parentPath, entry.name)).catch(() => null))?.size ?? 0,
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
