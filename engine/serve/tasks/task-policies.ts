// The policies of a running task: those in effect now, except that a task keeps the version of a manifest with `pin: task`
// that it began with (docs/design/engine.md §6).
import { quote } from '../../check/quote.js'
import { compile, type PolicySet } from '../../policy/compile.js'
import type { PolicyInput } from '../../policy/policy-input.js'
import type { LoadedPolicies, ManifestInEffect, PolicySource } from '../../source/source.js'

/** The version of each manifest that applies to a task: blob SHA by `manifest_id`. */
export type Versions = ReadonlyMap<string, string>

export interface AppliedPolicies {
  readonly set: PolicySet
  /** The policies in effect that `set` was made from. */
  readonly source_set: PolicySet
  /** Null while the source has never given policies: the task takes the first that it gives. */
  readonly versions: Versions | null
}

export interface TaskPolicies {
  /** Those of a task that begins now, or of one whose versions are unknown. */
  readonly atBegin: () => AppliedPolicies
  /** Those of a task after a change of the source; the same object when nothing changed. */
  readonly after: (applied: AppliedPolicies) => AppliedPolicies
  /** Those of a task that is read back, and which had these versions. */
  readonly withVersions: (versions: Versions) => AppliedPolicies
}

/** `report` receives a line, once after each change, for a version that tasks need and that is no longer known. */
export function createTaskPolicies(source: PolicySource, report: (line: string) => void): TaskPolicies {
  const setOf = cachedSets()
  const reported = new WeakMap<PolicySet, Set<string>>()
  const reportOnce = (set: PolicySet, line: string) => {
    const lines = reported.get(set) ?? new Set()
    reported.set(set, lines)
    if (!lines.has(line)) report(line)
    lines.add(line)
  }
  const atBegin = () => {
    const loaded = source.current()
    return { set: loaded.set, source_set: loaded.set, versions: isKnown(loaded) ? versionsIn(loaded) : null }
  }
  const continued = (versions: Versions, held: readonly PolicyInput[]): AppliedPolicies => {
    const loaded = source.current()
    if (!isKnown(loaded)) return { set: loaded.set, source_set: loaded.set, versions }
    const { own, missing } = ownVersions(loaded, versions, held)
    for (const manifest of missing) reportOnce(loaded.set, missingLine(manifest, versions))
    const applied = new Map(versionsIn(loaded))
    for (const { manifest_id, sha } of own) {
      if (sha === null) applied.delete(manifest_id)
      else applied.set(manifest_id, sha)
    }
    return { set: setOf(loaded.set, own), source_set: loaded.set, versions: applied }
  }
  return {
    atBegin,
    after: (applied) => {
      const { set, source_set, versions } = applied
      if (source.current().set === source_set) return applied
      return versions === null
        ? atBegin()
        : continued(
            versions,
            set.policies.map(({ policy }) => policy),
          )
    },
    withVersions: (versions) => continued(versions, []),
  }
}

/** The manifests in effect, as far as they apply to a task, with its versions. */
export function manifestsOfTask(manifests: readonly ManifestInEffect[], versions: Versions | null) {
  return manifests.flatMap(({ pin: _, ...manifest }) => {
    const sha = versions === null ? manifest.sha : versions.get(manifest.manifest_id)
    return sha === undefined ? [] : [{ ...manifest, sha }]
  })
}

/** False while the source has given no policies, or only rejected ones, since the start. */
function isKnown({ load_state }: LoadedPolicies): boolean {
  return load_state !== 'unavailable' && load_state !== 'all_dropped'
}

function versionsIn({ manifests }: LoadedPolicies): Versions {
  return new Map(manifests.map(({ manifest_id, sha }) => [manifest_id, sha]))
}

/** The version of one manifest that replaces the current one in a task; null: the manifest does not apply to the task. */
interface OwnVersion {
  readonly manifest_id: string
  readonly sha: string | null
  readonly policies: readonly PolicyInput[]
}

/** `held`: the policies that the task had until now. A version that is not found is `missing`; the current one applies. */
function ownVersions({ manifests, earlier }: LoadedPolicies, versions: Versions, held: readonly PolicyInput[]) {
  const own: OwnVersion[] = []
  const missing: ManifestInEffect[] = []
  for (const manifest of manifests) {
    const { manifest_id } = manifest
    const sha = versions.get(manifest_id) ?? null
    if (manifest.pin === null || sha === manifest.sha) continue
    const isOf = (version: { readonly manifest_id: string | null }) => version.manifest_id === manifest_id
    const mine = held.filter((policy) => isOf(policy) && policy.manifest_sha === sha)
    const known = mine.length > 0 ? mine : earlier.find((version) => isOf(version) && version.sha === sha)?.policies
    if (sha === null) own.push({ manifest_id, sha, policies: [] })
    else if (known === undefined) missing.push(manifest)
    else own.push({ manifest_id, sha, policies: known })
  }
  return { own, missing }
}

/** The sets of tasks with versions of their own: compiled once for each combination, released with the set in effect. */
function cachedSets() {
  const known = new WeakMap<PolicySet, Map<string, PolicySet>>()
  return (set: PolicySet, own: readonly OwnVersion[]): PolicySet => {
    if (own.length === 0) return set
    const sets = known.get(set) ?? new Map<string, PolicySet>()
    known.set(set, sets)
    const key = JSON.stringify(own.map(({ manifest_id, sha }) => [manifest_id, sha]))
    const made = sets.get(key) ?? withOwn(set, own)
    sets.set(key, made)
    return made
  }
}

function withOwn({ policies }: PolicySet, own: readonly OwnVersion[]): PolicySet {
  const replaced = new Set<string | null>(own.map(({ manifest_id }) => manifest_id))
  const others = policies.flatMap(({ policy }) => (replaced.has(policy.manifest_id) ? [] : [policy]))
  return compile([...others, ...own.flatMap((version) => version.policies)])
}

function missingLine({ name, manifest_id, sha }: ManifestInEffect, versions: Versions): string {
  const began = versions.get(manifest_id) ?? ''
  return `tasks began under version ${quote(began)} of manifest ${quote(name)}, which is no longer known: version ${quote(sha)} applies to them`
}
