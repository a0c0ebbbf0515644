// A policy with what the analysis knows of it, and findings about policies.
import type { Manifest } from '@svc/schemas'
import { levelApplies } from '../agent/risk.js'
import type { Finding } from '../findings/finding.js'
import { type FindingId, severityOf } from '../findings/kinds.js'
import type { PolicyInput } from '../policy/policy-input.js'
import { choicesOf, type Fact, field } from './literal.js'
import { type PolicyRegion, regionOf } from './region.js'
import { levelPath, riskLevels } from './universe.js'
import { isOneOf } from './value-test.js'

export type ManifestPolicy = Manifest['policies'][number]

/** The place of a policy in its file. */
export interface Place {
  readonly file: string
  /** 1-based. */
  readonly line: number
  readonly column: number
  /** Path in the document, dot-separated. */
  readonly path: string
}

export interface PlacedPolicy {
  readonly policy: ManifestPolicy
  readonly place: Place
  /** It is waived for an agent. */
  readonly waived: boolean
  readonly input: PolicyInput
}

export interface Examined extends PlacedPolicy {
  /** Its position among all policies that are analysed. */
  readonly index: number
  readonly region: PolicyRegion
  /** The names of the only steps that it applies to; null when it may apply to any. */
  readonly names: ReadonlySet<unknown> | null
}

export interface AnalysisFinding extends Finding {
  /** Name of the policy. */
  readonly policy: string
  /** The other policies that the finding is about, in the order of the files. */
  readonly others: readonly (Place & { readonly policy: string })[]
}

export function examine({ policy, place, waived, input }: PlacedPolicy, index: number): Examined {
  const { rule_type, params = {}, scope, risk_classification = null } = policy
  const levels = riskLevels.filter((level) => levelApplies(risk_classification, level))
  const limit = field(levelPath, { test: isOneOf([null, ...levels]), negated: false })
  const region = regionOf({ rule_type, params }, scope, levels.length < riskLevels.length ? [limit] : [])
  const names = [...region.passed, ...region.violated].map((facts) => valuesIn(facts, 'step_name'))
  const is_named = names.every((one) => one !== null)
  return {
    policy,
    place,
    index,
    waived,
    input: { ...input, id: index + 1 },
    region,
    names: is_named ? new Set(names.flat()) : null,
  }
}

/** The only values of a field of the step for which the facts can be true; null when it may have any. */
export function valuesIn(facts: readonly Fact[], path: string): readonly unknown[] | null {
  for (const fact of facts) {
    const choices = fact.kind === 'field' && fact.path === path ? choicesOf(fact) : null
    if (choices !== null) return choices
  }
  return null
}

/** A finding about a policy, at its place. */
export function findingAbout(
  id: FindingId,
  { policy, place }: Examined,
  message: string,
  others: readonly Examined[] = [],
): AnalysisFinding {
  const named = others.map((other) => ({ ...other.place, policy: other.policy.name }))
  return { id, severity: severityOf(id), message, ...place, policy: policy.name, others: named }
}

/** The place of the other policy, as text. */
export function placeInWords({ place }: Examined, from: Examined): string {
  return place.file === from.place.file ? `line ${place.line}` : `${place.file}:${place.line}`
}
