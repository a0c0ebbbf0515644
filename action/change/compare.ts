// What a change makes stricter or looser: the manifests of the workspace against those of the base.
import {
  type DiffFile,
  type DiffReport,
  diffFiles,
  type InventoryAgent,
  isYamlFile,
  type SourceFile,
  type ValidatedManifest,
  validateFiles,
} from '@svc/engine'
import { selectorOf } from '../files/patterns.js'
import type { Base } from './base.js'
import type { Repository } from './git.js'

export interface Comparison {
  readonly base: Base
  readonly report: DiffReport
  /** Manifests with errors, now or in the base: half of a manifest would give a wrong picture. */
  readonly left_out: readonly string[]
  /** The valid manifests of the base. */
  readonly old: readonly ValidatedManifest[]
  readonly old_files: readonly SourceFile[]
}

/** The files of the base that the paths select; null when the clone does not hold them. */
export function filesOfBase(
  { commit }: Base,
  paths: readonly string[],
  { filesIn, textsOf }: Repository,
): SourceFile[] | null {
  const selects = selectorOf(paths, isYamlFile)
  const blobs = filesIn(commit)?.filter(({ path }) => selects(path))
  const texts = blobs && textsOf(blobs)
  if (blobs === undefined || texts === undefined || texts === null) return null
  return blobs.map(({ path }, index) => ({ path, text: texts[index] ?? '', named: paths.includes(path) }))
}

/** Compares manifests by path; a file that was moved is found by the name of its manifest. */
export function compare(
  base: Base,
  old_files: readonly SourceFile[],
  manifests: readonly ValidatedManifest[],
  agents: readonly InventoryAgent[],
  now: number,
): Comparison {
  const old = validateFiles(old_files, { tests: 'off', now }).manifests
  const pairs = pairsOf(old, manifests)
  const [whole, broken] = [pairs.filter(isWhole), pairs.filter((pair) => !isWhole(pair))]
  return {
    base,
    report: diffFiles(whole.map(diffFileOf), agents),
    left_out: broken.map(pathOf),
    old: old.filter(({ value }) => value !== null),
    old_files,
  }
}

interface Pair {
  readonly was: ValidatedManifest | null
  readonly is: ValidatedManifest | null
}

function pairsOf(old: readonly ValidatedManifest[], manifests: readonly ValidatedManifest[]): Pair[] {
  const before = new Map(old.map((manifest) => [manifest.file, manifest]))
  const after = new Set(manifests.map(({ file }) => file))
  const gone = old.filter(({ file }) => !after.has(file))
  const moved = new Set<ValidatedManifest>()
  const pairs = manifests.map((is) => {
    const same = gone.find((one) => one.name !== null && one.name === is.name && !moved.has(one))
    const was = before.get(is.file) ?? same ?? null
    if (was !== null) moved.add(was)
    return { was, is }
  })
  return [...pairs, ...gone.filter((one) => !moved.has(one)).map((was) => ({ was, is: null }))]
}

function isWhole({ was, is }: Pair): boolean {
  return was?.value !== null && is?.value !== null
}

function diffFileOf(pair: Pair): DiffFile {
  const { was, is } = pair
  const aliases = was === null || was.file === is?.file ? [] : [was.file]
  return { path: pathOf(pair), aliases, old: was?.value ?? null, next: is?.value ?? null }
}

function pathOf({ was, is }: Pair): string {
  return is?.file ?? was?.file ?? ''
}
