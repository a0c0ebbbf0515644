// Manifests on disk: finding, reading, and seeing whether they have changed.
import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface PolicyFile {
  readonly source: 'baseline' | 'file'
  readonly path: string
  readonly text: string
  /** Git's id of its bytes. */
  readonly sha: string
  /** Named by a person rather than found in a folder. */
  readonly named: boolean
}

/** Told of a file or folder that cannot be read; when it returns, that one is left out. */
type Mishap = (error: unknown) => void

/** The files, and the manifests of the folders, in order. */
export async function readPolicyFiles(paths: readonly string[], mishap: Mishap): Promise<PolicyFile[]> {
  const files: PolicyFile[] = []
  for (const path of await findManifests(paths, mishap)) {
    try {
      const bytes = await readFile(path)
      const sha = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
      files.push({ source: 'file', path, text: bytes.toString('utf8'), sha, named: paths.includes(path) })
    } catch (error) {
      mishap(error)
    }
  }
  return files
}

/** A text that changes when a file does, or comes, or goes. */
export async function signatureOf(paths: readonly string[]): Promise<string> {
  const marks: string[] = []
  for (const path of await findManifests(paths, () => marks.push('a folder cannot be read'))) {
    const mark = await stat(path).then(
      ({ mtimeMs, ctimeMs, size, ino }) => `${mtimeMs} ${ctimeMs} ${size} ${ino}`,
      () => 'cannot be read',
    )
    marks.push(`${path} ${mark}`)
  }
  return marks.join('\n')
}

/** The files, and every .yaml and .yml in the folders: not tests, not in dot-folders. None twice. */
async function findManifests(paths: readonly string[], mishap: Mishap): Promise<string[]> {
  const found: string[] = []
  for (const path of paths) {
    try {
      found.push(...((await stat(path)).isDirectory() ? await inFolder(path, mishap) : [path]))
    } catch (error) {
      mishap(error)
    }
  }
  return [...new Set(found)]
}

async function inFolder(top: string, mishap: Mishap): Promise<string[]> {
  const found: string[] = []
  const entered = new Set<string>()
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      const { dev, ino } = await stat(join(top, folder))
      // A link may lead back to where it came from.
      if (entered.has(`${dev} ${ino}`)) continue
      entered.add(`${dev} ${ino}`)
      for (const entry of await readdir(join(top, folder), { withFileTypes: true })) {
        const name = join(folder, entry.name)
        if (entry.name.startsWith('.')) continue
        if (entry.isDirectory() || (entry.isSymbolicLink() && (await leadsToFolder(join(top, name)))))
          folders.push(name)
        else if (/(?<!\.test)\.ya?ml$/.test(name)) found.push(name)
      }
    } catch (error) {
      mishap(error)
    }
  }
  return found.sort().map((name) => join(top, name))
}

function leadsToFolder(link: string): Promise<boolean> {
  return stat(link).then(
    (target) => target.isDirectory(),
    () => false,
  )
}
