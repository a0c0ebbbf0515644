// Reads a branch: every manifest with what validation reports of it, and the content at the assigned paths.
import { setImmediate } from 'node:timers/promises'
import { validateFiles } from '@svc/engine'
import { type Finding, isManifestInFolder, type SourceFile, testErrors, testFilesOf } from '@svc/engine/parts'
import { libraryListing } from '@svc/library'
import type { Assignment } from '@svc/schemas'
import type { ManifestReader } from '../policies/manifest-reader.js'
import type { AtHead } from './plan.js'
import { entryProblem, type ManifestText, manifestText } from './source/manifest-text.js'
import type { GitSource, TreeEntry } from './source/source.js'
import type { FileRow } from './store/files.js'

export interface Branch {
  readonly files: readonly FileRow[]
  /** Of every YAML file that can be a manifest, sorted. */
  readonly paths: readonly string[]
  /** The manifest at the head for an assignment. */
  readonly at: (assignment: Pick<Assignment, 'manifest_path' | 'manifest_sha'>) => AtHead
}

interface BranchParts {
  readonly manifests: ManifestReader
  readonly clock: () => number
}

/** The state of a branch at its last reading. */
interface Known {
  /** Null: only the assigned paths are read. */
  readonly files: readonly FileRow[] | null
  readonly assignments: readonly Pick<Assignment, 'manifest_path' | 'manifest_sha'>[]
}

/** The manifests of the library of this build, which its own tests have validated. */
export function libraryRows(): FileRow[] {
  return libraryListing.map((file) => ({ ...file, valid: true, findings: [], manifest: true }))
}

/** The maximum number of YAML files of a branch that are validated; assigned paths always count. */
const maxFiles = 1000

/** Reads the content that is new since the last reading. Rejects with SourceError. */
export async function readBranch(
  { manifests, clock }: BranchParts,
  source: GitSource,
  commit_sha: string,
  { files, assignments }: Known,
): Promise<Branch> {
  const tree = await source.list(commit_sha)
  const listed = [...tree.keys()].filter(isManifestInFolder).sort()
  const assigned = new Set(assignments.map(({ manifest_path }) => manifest_path))
  const chosen = new Set(
    files === null ? [] : [...listed.slice(0, maxFiles), ...listed.filter((path) => assigned.has(path))],
  )
  const rows = new Map((files ?? []).map((row) => [`${row.blob_sha} ${row.path}`, row]))
  const isNew = ({ path, blob_sha }: TreeEntry) => chosen.has(path) && !rows.has(`${blob_sha} ${path}`)
  const pending = new Set(
    assignments.flatMap(({ manifest_path: path, manifest_sha }) =>
      tree.get(path)?.blob_sha === manifest_sha ? [] : [path],
    ),
  )
  const tests = new Set([...pending].flatMap(testFilesOf))
  const wanted = [...tree.values()].filter((entry) => isNew(entry) || pending.has(entry.path) || tests.has(entry.path))
  const texts = await readTexts(source, wanted)
  const found: FileRow[] = []
  for (const path of chosen) {
    const entry = tree.get(path)
    if (entry === undefined) continue
    const known = rows.get(`${entry.blob_sha} ${path}`)
    if (known === undefined) await setImmediate()
    found.push(known ?? rowOf(entry, texts.get(path) ?? { problem: 'the file cannot be read' }, clock()))
  }
  const failed = new Map<string, readonly string[]>()
  for (const path of pending) failed.set(path, await failuresOf(texts, path))
  return {
    files: found,
    paths: listed,
    at: (assignment) => contentAt({ manifests, tree, texts, failed }, assignment),
  }
}

/** The errors that only the tests of a manifest have. A file has at most 1,000 tests: others work after each. */
async function failuresOf(texts: ReadonlyMap<string, ManifestText>, path: string): Promise<string[]> {
  const beside = testFilesOf(path).filter((one) => texts.has(one))
  const failures: string[] = []
  for (const error of testErrors(
    sourceFile(texts, path),
    beside.map((one) => sourceFile(texts, one)),
  )) {
    if (error !== null) failures.push(error.message)
    await setImmediate()
  }
  return failures
}

function sourceFile(texts: ReadonlyMap<string, ManifestText>, path: string): SourceFile {
  const content = texts.get(path) ?? { problem: 'the file cannot be read' }
  return { path, text: null, named: true, ...content }
}

/** The texts at the paths of the entries, or the reasons why they cannot be read. */
async function readTexts(source: GitSource, entries: readonly TreeEntry[]): Promise<Map<string, ManifestText>> {
  const readable = entries.filter((entry) => entryProblem(entry) === null)
  const blobs = await source.read([...new Set(readable.map(({ blob_sha }) => blob_sha))])
  return new Map(
    entries.map((entry) => {
      const problem = entryProblem(entry)
      const bytes = blobs.get(entry.blob_sha)
      if (problem !== null || bytes === undefined)
        return [entry.path, { problem: problem ?? 'the file cannot be read' }]
      return [entry.path, manifestText(entry, bytes)]
    }),
  )
}

/** The maximum number of findings that a list shows of a manifest. */
const maxFindings = 20

function rowOf({ path, blob_sha, size }: TreeEntry, content: ManifestText, now: number): FileRow {
  const head = { path, blob_sha, size: size ?? 0 }
  const text = 'text' in content ? content.text : null
  const problem = 'problem' in content ? { problem: content.problem } : {}
  const { manifests, findings, skipped } = validateFiles([{ path, text, named: false, ...problem }], {
    tests: 'off',
    now,
  })
  const [manifest] = manifests
  const row = { ...head, name: null, version: null, policies: 0, findings: findings.slice(0, maxFindings) as Finding[] }
  if (skipped.length > 0) {
    const faults = yamlFaults(path, text ?? '')
    return { ...row, valid: false, manifest: faults.length > 0, findings: faults.slice(0, maxFindings) }
  }
  if (manifest === undefined) return { ...row, valid: false, manifest: true }
  const { name, version, policies, valid } = manifest
  return { ...row, name, version, policies, valid, manifest: true }
}

/** Faults of other kinds of YAML files: several documents, or tags of their own. */
const foreign: ReadonlySet<string> = new Set(['yaml-empty', 'yaml-documents', 'yaml-tag', 'yaml-anchor'])

/** Why a file cannot be parsed, so that it may be a manifest. */
function yamlFaults(path: string, text: string): Finding[] {
  const { findings } = validateFiles([{ path, text, named: true }], { tests: 'off', now: 0 })
  return findings.filter(({ id, severity }) => severity === 'error' && id.startsWith('yaml-') && !foreign.has(id))
}

interface Contents {
  readonly manifests: ManifestReader
  readonly tree: ReadonlyMap<string, TreeEntry>
  readonly texts: ReadonlyMap<string, ManifestText>
  /** By path. */
  readonly failed: ReadonlyMap<string, readonly string[]>
}

function contentAt(
  { manifests, tree, texts, failed }: Contents,
  { manifest_path: path, manifest_sha }: Pick<Assignment, 'manifest_path' | 'manifest_sha'>,
): AtHead {
  const entry = tree.get(path)
  if (entry === undefined) return { kind: 'missing', renamed_to: pathsOf(tree, manifest_sha) }
  const { blob_sha } = entry
  const content = texts.get(path)
  if (content === undefined) return { kind: 'known', blob_sha }
  if ('problem' in content) return { kind: 'unreadable', blob_sha, problem: content.problem }
  const { value, errors } = manifests.read({ path, blob_sha, text: content.text })
  if (value === null || errors.length > 0) return { kind: 'invalid', blob_sha, findings: errors }
  return { kind: 'valid', blob_sha, manifest: value, text: content.text, failed_tests: failed.get(path) ?? [] }
}

function pathsOf(tree: ReadonlyMap<string, TreeEntry>, wanted: string): string[] {
  return [...tree.values()].filter(({ blob_sha }) => blob_sha === wanted).map(({ path }) => path)
}
