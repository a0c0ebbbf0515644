// The analysis of valid manifests: policies that probably do not do what their author wants. One core for the command, the GitHub
// Action and the platform.
import { byPlace } from '../findings/finding.js'
import { materialise } from '../manifest/agent/materialise.js'
import type { ManifestReading, ManifestTest } from '../manifest/parse/parse.js'
import { untargetedIn } from '../manifest/parse/untargeted.js'
import { findingAlone } from './alone.js'
import {
  type AnalysisFinding,
  type Examined,
  examine,
  findingAbout,
  type ManifestPolicy,
  type PlacedPolicy,
} from './examined.js'
import { finishOf, type Goal } from './finish.js'
import { findingsOfPairs } from './pairs.js'
import { unboundFinding } from './unbound.js'

export interface ReadManifest {
  readonly file: string
  /** The result of `parseManifest`. */
  readonly reading: Pick<ManifestReading, 'value' | 'lines' | 'positionOf'>
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

/** A manifest has no more, valid or not. */
const maxPolicies = 1000

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

/** Warnings that `svc validate` gives as well: an analysis is read without its warnings. */
function untargetedFinding(examined: Examined, tests: readonly ManifestTest[]): AnalysisFinding | null {
  const found = untargetedIn(examined.policy, tests)
  return found === null ? null : findingAbout('no-target', examined, `the policy ${found.predicate}`)
}

/** The enabled policies with their places in the text. */
function placedPolicies({ file, reading: { value, lines, positionOf } }: ReadManifest): PlacedPolicy[] {
  if (value === null) return []
  const everyone = { source: 'file', path: '', sha: '', agent: null, assigned_at: null, assigned_by: null }
  const { policies: inputs } = materialise(value, everyone)
  let written = 0
  return inputs.flatMap((input, index) => {
    const policy = value.policies[index] as ManifestPolicy
    // Invalid policies are written between the valid ones.
    const at = () => positionOf(['policies', `${written}`], false)
    while (at().line < (lines[index] ?? 1) && written < maxPolicies) written += 1
    const waived = value.waivers?.some((waiver) => waiver.policy === policy.name) ?? false
    const place = { file, path: `policies.${written}`, ...at() }
    return policy.enabled === false ? [] : [{ policy, place, waived, input: { ...input, id: 0, version: 1 } }]
  })
}
