// Finds and reads manifests on disk, and detects changes.
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { blobSha } from '../manifest/blob-sha.js'
import { isLeftOut, isTestFile, isYamlFile } from '../manifest/file-names.js'

export interface PolicyFile {
  readonly source: 'baseline' | 'file'
  readonly path: string
  readonly text: string
  /** The Git blob id of its bytes. */
  readonly sha: string
  /** Named by the caller rather than found in a folder. */
  readonly named: boolean
}

/** Receives the error of an unreadable file or folder; when it returns, that one is skipped. */
type OnError = (error: unknown, path: string) => void

/** The files, and the manifests of the folders, in order. */
export async function readPolicyFiles(paths: readonly string[], onError: OnError): Promise<PolicyFile[]> {
  const files: PolicyFile[] = []
  for (const path of await findManifests(paths, onError)) {
    try {
      const bytes = await readFile(path)
      files.push({
        source: 'file',
        path,
        text: bytes.toString('utf8'),
        sha: blobSha(bytes),
        named: paths.includes(path),
      })
    } catch (error) {
      onError(error, path)
    }
  }
  return files
}

/** A text that changes when a file is changed, added or removed. */
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

/** The files, and those of the folders that can be manifests; without duplicates. */
async function findManifests(paths: readonly string[], onError: OnError): Promise<string[]> {
  const found: string[] = []
  for (const path of paths) {
    try {
      const isFolder = (await stat(path)).isDirectory()
      found.push(...(isFolder ? (await yamlFilesIn(path, onError)).filter((file) => !isTestFile(file)) : [path]))
    } catch (error) {
      onError(error, path)
    }
  }
  return [...new Set(found)]
}

/** The YAML files of the folder and its folders that are not left out; sorted. */
export async function yamlFilesIn(top: string, onError: OnError, root?: string): Promise<string[]> {
  const found: string[] = []
  const entered = new Set<string>()
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      const { dev, ino } = await stat(join(top, folder))
      // A symbolic link may lead to a parent.
      if (entered.has(`${dev} ${ino}`)) continue
      if (root !== undefined && !isWithin(await realpath(join(top, folder)), root)) continue
      entered.add(`${dev} ${ino}`)
      for (const entry of await readdir(join(top, folder), { withFileTypes: true })) {
        const name = join(folder, entry.name)
        if (isLeftOut(entry.name)) continue
        if (entry.isDirectory() || (entry.isSymbolicLink() && (await isLinkToFolder(join(top, name)))))
          folders.push(name)
        else if (isYamlFile(name)) found.push(name)
      }
    } catch (error) {
      onError(error, join(top, folder))
    }
  }
  return found.sort().map((name) => join(top, name))
}

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)
}

function isLinkToFolder(link: string): Promise<boolean> {
  return stat(link).then(
    (target) => target.isDirectory(),
    () => false,
  )
}
