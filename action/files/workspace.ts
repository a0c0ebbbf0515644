// The files of the workspace, which is the current folder.
import type { Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { posix, resolve, sep } from 'node:path'
import { readManifestFiles } from '@svc/engine'
import {
  type Finding,
  findingAt,
  isLeftOut,
  isManifest,
  isYamlFile,
  quote,
  type SourceFile,
  startOf,
  type Validation,
} from '@svc/engine/parts'
import { entersOf, folderOf, isPattern, matcherOf, selectorOf } from './patterns.js'

export interface WorkspaceFiles {
  /** Sorted by path. */
  readonly files: readonly SourceFile[]
  /** For each of the paths, the files that it selects. */
  readonly selected: ReadonlyMap<string, readonly string[]>
}

/** The manifests and their tests, as `svc validate` reads them. A file that a pattern found may be no manifest. */
export async function readWorkspace(paths: readonly string[]): Promise<WorkspaceFiles> {
  const files = new Map<string, SourceFile>()
  const selected = new Map<string, readonly string[]>()
  for (const path of paths) {
    const found = isPattern(path) ? await filesOfPattern(path) : await filesAt([path])
    for (const file of found) if (file.named || !files.has(file.path)) files.set(file.path, file)
    selected.set(
      path,
      found.map((file) => file.path),
    )
  }
  return { files: [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1)), selected }
}

async function filesOfPattern(pattern: string): Promise<SourceFile[]> {
  const unreadable: SourceFile[] = []
  const found = await filesMatching(pattern, (path, problem) => {
    unreadable.push({ path, named: false, text: null, problem })
  })
  const files = await filesAt(found.filter(isYamlFile))
  return [...files.map((file) => ({ ...file, named: false })), ...unreadable]
}

/** One finding for each path without a manifest: a check of nothing passes by accident. */
export function withoutManifest({ files, selected }: WorkspaceFiles, { manifests }: Validation): Finding[] {
  const present = new Set([
    ...manifests.map(({ file }) => file),
    // It has a finding of its own.
    ...files.flatMap(({ path, text }) => (text === null ? [path] : [])),
  ])
  return [...selected].flatMap(([path, found]) => {
    if (found.some((file) => present.has(file))) return []
    return [findingAt('no-manifest', selectsNothing(path), startOf(path))]
  })
}

function selectsNothing(path: string): string {
  return `${quote(path)} in \`paths\` selects no manifest: name YAML files with \`policies\` at the top level`
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

/** Receives a folder that cannot be read, with the reason. */
type OnProblem = (folder: string, problem: string) => void

/** The trace files that a path, a folder or a pattern names, in order; empty when no file matches. */
export async function filesOf(
  path: string,
  isWanted: (path: string) => boolean,
  onProblem: OnProblem,
): Promise<string[]> {
  if (isPattern(path)) return filesMatching(path, onProblem)
  const found = await stat(path).catch(() => null)
  if (found === null) return []
  return found.isDirectory()
    ? (await filesBelow(path, (folder) => !isLeftOut(posix.basename(folder)), onProblem)).filter(
        selectorOf([path], isWanted),
      )
    : [path]
}

async function filesMatching(pattern: string, onProblem: OnProblem): Promise<string[]> {
  return (await filesBelow(folderOf(pattern), entersOf(pattern), onProblem)).filter(matcherOf(pattern))
}

/** The files of a folder and of the folders below that are entered, sorted; links to folders are not followed. */
async function filesBelow(top: string, enters: (folder: string) => boolean, onProblem: OnProblem): Promise<string[]> {
  const found: string[] = []
  const folders = [top]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await entriesOf(folder, onProblem)) {
      const path = folder === '.' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (entry.name !== '.git' && enters(path)) folders.push(path)
      } else if (entry.isFile() || (await isLinkToFile(path))) found.push(path)
    }
  }
  return found.sort()
}

async function entriesOf(folder: string, onProblem: OnProblem): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    // A pattern may begin with a folder that does not exist: it selects nothing.
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      onProblem(folder, `the folder cannot be read (${code}): check its permissions`)
    return []
  }
}

function isLinkToFile(path: string): Promise<boolean> {
  return stat(path).then(
    (target) => target.isFile(),
    () => false,
  )
}
