// Compares the manifests of the workspace with those of the base: what becomes stricter or looser.
import { validateFiles } from '@svc/engine'
import {
  type DiffReport,
  diffFiles,
  type InventoryAgent,
  isYamlFile,
  pairFiles,
  type SourceFile,
  type ValidatedManifest,
} from '@svc/engine/parts'
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
  const { files, left_out } = pairFiles(old, manifests)
  return {
    base,
    report: diffFiles(files, agents),
    left_out,
    old: old.filter(({ value }) => value !== null),
    old_files,
  }
}
