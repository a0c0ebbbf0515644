// The analysis of valid manifests: policies that probably do not do what their author wants. One core for the command, the GitHub
// Action and the platform.
import { byPlace } from '../findings/finding.js'
import { materialise } from '../manifest/materialise.js'
import type { ManifestReading, ManifestTest } from '../manifest/parse.js'
import { readYaml } from '../manifest/read-yaml.js'
import { untargetedIn } from '../manifest/untargeted.js'
import { findingAlone } from './alone.js'
import { type AnalysisFinding, type Examined, examine, findingAbout, type PlacedPolicy } from './examined.js'
import { finishOf, type Goal } from './finish.js'
import { findingsOfPairs } from './pairs.js'
import { unboundFinding } from './unbound.js'

export interface ReadManifest {
  readonly file: string
  readonly text: string
  /** What `parseManifest` returned for the text. */
  readonly reading: Pick<ManifestReading, 'value' | 'lines'>
  /** The tests of a file beside it. */
  readonly tests_beside?: readonly ManifestTest[]
}

export interface Analysis {
  /** In the order of files, lines and columns. */
  readonly findings: readonly AnalysisFinding[]
  /** The number of policies that were analysed: enabled and valid. */
  readonly policies: number
  /** The actions that critical policies target, and the end of a task. */
  readonly goals: readonly Goal[]
}

/** Analyses the policies of all manifests as one set, as an agent has them to which all are assigned. */
export function analyse(manifests: readonly ReadManifest[]): Analysis {
  const tests = manifests.flatMap(({ reading, tests_beside = [] }) => [
    ...(reading.value?.tests ?? []),
    ...tests_beside,
  ])
  const policies = manifests.flatMap(placedPolicies).map(examine)
  const alone = policies.map(findingAlone)
  const quiet = new Set(policies.filter((_, index) => alone[index] !== null))
  const pairs = findingsOfPairs(policies, quiet)
  const { goals, findings } = finishOf(policies)
  const others = policies.flatMap((examined) => [unboundFinding(examined), untargetedFinding(examined, tests)])
  const all = [...alone, ...pairs, ...findings, ...others].filter((one) => one !== null)
  return { findings: all.toSorted(byPlace), policies: policies.length, goals }
}

/** What `svc validate` warns of as well: an analysis is read without its warnings. */
function untargetedFinding(examined: Examined, tests: readonly ManifestTest[]): AnalysisFinding | null {
  const found = untargetedIn(examined.policy, tests)
  return found === null ? null : findingAbout('no-target', examined, `the policy ${found.predicate}`)
}

/** The enabled policies with their places in the text. */
function placedPolicies({ file, text, reading: { value, lines } }: ReadManifest): PlacedPolicy[] {
  if (value === null) return []
  const { positionOf, value: written } = readYaml(text)
  const { length } = (written as { readonly policies?: readonly unknown[] } | null)?.policies ?? []
  const places = Array.from({ length }, (_, index) => ({
    path: `policies.${index}`,
    ...positionOf(['policies', `${index}`], false),
  }))
  const everyone = { source: 'file', path: '', sha: '', agent: null, assigned_at: null, assigned_by: null }
  const { policies: inputs } = materialise(value, everyone)
  return value.policies.flatMap((policy, index) => {
    const own = inputs[index]
    if (policy.enabled === false || own === undefined) return []
    const line = lines[index] ?? 1
    const place = places.find((one) => one.line === line) ?? { path: `policies.${index}`, line, column: 1 }
    const waived = value.waivers?.some((waiver) => waiver.policy === policy.name) ?? false
    return [{ policy, place: { file, ...place }, waived, input: { ...own, id: 0, version: 1 } }]
  })
}
