// Pairs the manifests of the base with those of the change: by path; a file that was moved is found by the name of its manifest.
import type { ValidatedManifest } from '../../manifest/validate.js'
import type { DiffFile } from './files.js'

export interface PairedFiles {
  readonly files: readonly DiffFile[]
  /** Paths of manifests with errors, now or in the base: half of a manifest would give a wrong picture. */
  readonly left_out: readonly string[]
}

interface Pair {
  readonly was: ValidatedManifest | null
  readonly is: ValidatedManifest | null
}

/** Pairs two versions of the same files, as validated. */
export function pairFiles(old: readonly ValidatedManifest[], next: readonly ValidatedManifest[]): PairedFiles {
  const pairs = pairsOf(old, next)
  return {
    files: pairs.filter(isWhole).map(diffFileOf),
    left_out: pairs.filter((pair) => !isWhole(pair)).map(pathOf),
  }
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
