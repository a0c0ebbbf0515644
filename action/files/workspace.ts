// The files of the workspace, which is the current folder.
import { readdir, realpath, stat } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import {
  type Finding,
  findingAt,
  isManifest,
  isYamlFile,
  quote,
  readManifestFiles,
  type SourceFile,
  startOf,
} from '@svc/engine'
import { folderOf, isPattern, matcherOf, selectorOf } from './patterns.js'

export interface WorkspaceFiles {
  readonly files: readonly SourceFile[]
  /** One for each pattern that matches no file: a check of nothing passes by accident. */
  readonly findings: readonly Finding[]
}

/** The manifests and their tests, as `svc validate` reads them. A file that a pattern found may be no manifest. */
export async function readWorkspace(paths: readonly string[]): Promise<WorkspaceFiles> {
  const plain = await filesAt(paths.filter((path) => !isPattern(path)))
  const files = new Map(plain.map((file) => [file.path, file]))
  const findings: Finding[] = []
  for (const pattern of paths.filter(isPattern)) {
    const found = (await filesMatching(pattern)).filter(isYamlFile)
    if (found.length === 0) findings.push(findingAt('no-manifest', withoutMatch(pattern), startOf(pattern)))
    for (const file of await filesAt(found)) if (!files.has(file.path)) files.set(file.path, { ...file, named: false })
  }
  return { files: [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1)), findings }
}

/** Git and GitHub write paths with `/` on every system. */
async function filesAt(paths: readonly string[]): Promise<SourceFile[]> {
  const root = await realpath('.')
  const files = await Promise.all((await readManifestFiles(paths, root)).map((file) => withoutLinks(file, root)))
  return sep === '/' ? files : files.map((file) => ({ ...file, path: file.path.replaceAll(sep, '/') }))
}

/** A file behind a link is not read: the base has the link, so that a change behind it could not be compared. */
async function withoutLinks(file: SourceFile, root: string): Promise<SourceFile> {
  if (file.text === null || (await realpath(file.path)) === resolve(root, file.path)) return file
  const problem = 'the file is reached through a link, which is not followed: give the path that the link leads to'
  return isManifest(file) ? { ...file, text: null, problem } : file
}

function withoutMatch(pattern: string): string {
  return `the pattern ${quote(pattern)} matches no YAML file: correct \`paths\``
}

/** The trace files that a path, a folder or a pattern names, in order; empty when no file matches. */
export async function filesOf(path: string, isWanted: (path: string) => boolean): Promise<string[]> {
  if (isPattern(path)) return filesMatching(path)
  const found = await stat(path).catch(() => null)
  if (found === null) return []
  return found.isDirectory() ? (await filesBelow(path)).filter(selectorOf([path], isWanted)) : [path]
}

async function filesMatching(pattern: string): Promise<string[]> {
  return (await filesBelow(folderOf(pattern))).filter(matcherOf(pattern))
}

/** All files below a folder, sorted; links to folders are not followed. */
async function filesBelow(top: string): Promise<string[]> {
  const found: string[] = []
  const folders = [top]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = folder === '.' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (entry.name !== '.git') folders.push(path)
      } else if (entry.isFile() || (await isLinkToFile(path))) found.push(path)
    }
  }
  return found.sort()
}

function isLinkToFile(path: string): Promise<boolean> {
  return stat(path).then(
    (target) => target.isFile(),
    () => false,
  )
}
