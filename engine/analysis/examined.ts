// A policy with what the analysis knows of it, and findings about policies.
import type { Manifest } from '@svc/schemas'
import { levelApplies } from '../agent/risk.js'
import type { Finding } from '../findings/finding.js'
import { type FindingId, severityOf } from '../findings/kinds.js'
import type { PolicyInput } from '../policy/policy-input.js'
import { together } from './formula.js'
import { type Fact, type FieldFact, field } from './literal.js'
import { type PolicyRegion, regionOf } from './region.js'
import { levelPath, riskLevels } from './universe.js'
import { isOneOf } from './value-test.js'

export type ManifestPolicy = Manifest['policies'][number]

/** Where a policy is written. */
export interface Place {
  readonly file: string
  /** 1-based. */
  readonly line: number
  readonly column: number
  /** Path in the document, dot-separated. */
  readonly path: string
}

export interface Examined {
  readonly policy: ManifestPolicy
  readonly place: Place
  /** Its position among all policies that are analysed. */
  readonly index: number
  readonly input: PolicyInput
  readonly region: PolicyRegion
  /** The names of the only steps that it applies to; null when it may apply to any. */
  readonly names: ReadonlySet<unknown> | null
  /** It is waived for an agent. */
  readonly waived: boolean
}

export interface AnalysisFinding extends Finding {
  /** Name of the policy. */
  readonly policy: string
  /** The other policies that the finding is about, in the order of the files. */
  readonly others: readonly (Place & { readonly policy: string })[]
}

export function examine(policy: ManifestPolicy, place: Place, index: number, waived: boolean): Examined {
  const { rule_type, params = {}, scope, risk_classification = null } = policy
  const levels = riskLevels.filter((level) => levelApplies(risk_classification, level))
  const is_limited = levels.length < riskLevels.length
  const limit = is_limited
    ? together([field(levelPath, { test: isOneOf([null, ...levels], 'whole'), negated: false })])
    : together([])
  const region = regionOf({ rule_type, params }, scope, limit)
  return { policy, place, index, waived, input: inputOf(policy, index), region, names: namesOf(region) }
}

function namesOf({ passed, violated }: PolicyRegion): ReadonlySet<unknown> | null {
  const names = [...passed, ...violated].map(namesIn)
  return names.every((one) => one !== null) ? new Set(names.flat()) : null
}

/** The only names of steps for which the facts can be true; null when it may be any. */
export function namesIn(facts: readonly Fact[]): readonly unknown[] | null {
  const names = facts.find(
    (fact): fact is FieldFact =>
      fact.kind === 'field' && fact.path === 'step_name' && fact.test.op === 'one_of' && !fact.negated,
  )
  return names?.test.op === 'one_of' ? names.test.values : null
}

function inputOf(policy: ManifestPolicy, index: number): PolicyInput {
  const { name, rule_type, params = {}, scope, severity, mode = 'enforce', approval } = policy
  return {
    id: index + 1,
    name,
    rule_type,
    params,
    scope,
    severity,
    mode,
    ...(approval != null && { approval }),
    enabled: true,
    description: null,
    risk_classification: policy.risk_classification ?? null,
    agent_id: null,
    controls: [],
    version: 1,
    manifest_id: null,
    manifest_name: null,
    manifest_repo: null,
    manifest_path: null,
    manifest_sha: null,
    manifest_assigned_at: null,
    manifest_assigned_by: null,
  }
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

/** Where the other policy is, in words. */
export function placeInWords({ place }: Examined, from: Examined): string {
  return place.file === from.place.file ? `line ${place.line}` : `${place.file}:${place.line}`
}
