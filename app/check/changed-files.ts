// The files of a repository that a change touches, and their texts on both sides.
import {
  isManifest,
  isTestFile,
  isYamlInFolder,
  manifestsOfTestFile,
  type SourceFile,
  testFilesOf,
} from '@svc/engine/parts'
import { entryProblem, manifestText, SourceError, type TreeEntry } from '@svc/platform'
import type { GithubReader } from './parts.js'

export type Tree = ReadonlyMap<string, TreeEntry>

/** The files of one side. */
export interface Side {
  readonly manifests: readonly SourceFile[]
  readonly tests: readonly SourceFile[]
}

export interface ChangedFiles {
  /** Manifests and their tests that differ, sorted; empty for a change of other files only. */
  readonly changed: readonly string[]
  readonly old: Side
  readonly next: Side
}

/** The most YAML files of a change that are read. */
const maxFiles = 2000

/** Paths with another content, or another kind of file, sorted. */
export function changedPaths(old: Tree, next: Tree): string[] {
  const differs = (path: string) =>
    old.get(path)?.blob_sha !== next.get(path)?.blob_sha || old.get(path)?.mode !== next.get(path)?.mode
  return [...new Set([...old.keys(), ...next.keys()])].filter(differs).sort()
}

/** The manifests that differ, or whose tests differ, with their tests; `assigned` are paths of manifests. Rejects with SourceError. */
export async function readChangedFiles(
  read: GithubReader['read'],
  old: Tree,
  next: Tree,
  paths: readonly string[],
  assigned: ReadonlySet<string>,
): Promise<ChangedFiles> {
  const yaml = paths.filter((path) => isYamlInFolder(path) || isOfAssigned(path, assigned))
  if (yaml.length > maxFiles)
    throw new SourceError(
      'too_large',
      `the change touches ${yaml.length} YAML files: split it into changes of at most ${maxFiles}`,
    )
  const wanted = new Set(
    yaml.flatMap((path) => [path, ...(isTestFile(path) ? manifestsOfTestFile(path) : testFilesOf(path))]),
  )
  const entriesOf = (tree: Tree) => [...wanted].flatMap((path) => tree.get(path) ?? [])
  const texts = await readTexts(read, [...entriesOf(old), ...entriesOf(next)])
  const named = (file: SourceFile) => (assigned.has(file.path) ? { ...file, named: true } : file)
  const [before, after] = [entriesOf(old).map(texts).map(named), entriesOf(next).map(texts).map(named)]
  const was = new Set(before.filter((file) => !isTestFile(file.path) && isManifest(file)).map(({ path }) => path))
  // A file that was a manifest is reported when it is not one any more; another file that cannot be read is not.
  const known = after
    .map((file) => (was.has(file.path) ? { ...file, named: true } : file))
    .filter(({ text, named }) => text !== null || named)
  const [old_side, next_side] = [sideOf(before.filter(({ text }) => text !== null)), sideOf(known)]
  const manifests = new Set([...old_side.manifests, ...next_side.manifests].map(({ path }) => path))
  const isOfManifest = (path: string) =>
    manifests.has(path) ||
    (isTestFile(path) && [path, ...manifestsOfTestFile(path)].some((one) => manifests.has(one) || one === path))
  return { changed: yaml.filter(isOfManifest), old: old_side, next: next_side }
}

/** An assignment can name a file that readers of folders leave out, such as one in a dot-folder. */
function isOfAssigned(path: string, assigned: ReadonlySet<string>): boolean {
  return assigned.has(path) || (isTestFile(path) && manifestsOfTestFile(path).some((one) => assigned.has(one)))
}

function sideOf(files: readonly SourceFile[]): Side {
  return {
    manifests: files.filter((file) => !isTestFile(file.path) && isManifest(file)),
    tests: files.filter(({ path }) => isTestFile(path)),
  }
}

/** The files of entries. */
async function readTexts(
  read: GithubReader['read'],
  entries: readonly TreeEntry[],
): Promise<(entry: TreeEntry) => SourceFile> {
  const readable = entries.filter((entry) => entryProblem(entry) === null)
  const shas = [...new Set(readable.map(({ blob_sha }) => blob_sha))]
  const blobs = shas.length === 0 ? new Map<string, Uint8Array>() : await read(shas)
  return (entry) => {
    const { path, blob_sha } = entry
    const bytes = blobs.get(blob_sha)
    const problem = entryProblem(entry)
    if (problem !== null || bytes === undefined)
      return { path, text: null, named: false, problem: problem ?? 'the file cannot be read' }
    const content = manifestText(entry, bytes)
    return 'text' in content
      ? { path, text: content.text, named: false }
      : { path, text: null, named: false, ...content }
  }
}

/** The text of another file of a tree; null where it is missing or cannot be read as text. */
export async function readText(read: GithubReader['read'], tree: Tree, path: string): Promise<string | null> {
  const entry = tree.get(path)
  if (entry === undefined || entryProblem(entry) !== null) return null
  const content = manifestText(entry, (await read([entry.blob_sha])).get(entry.blob_sha) ?? new Uint8Array())
  return 'text' in content ? content.text : null
}
