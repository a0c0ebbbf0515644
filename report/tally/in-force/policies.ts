// The results of policies: the counts of each policy set, expanded with the policies in it.
import type { PolicyInput } from '@svc/engine'
import { parseJson, sha256Hex } from '@svc/proof'
import type { Policy } from '@svc/schemas'
import { maxPolicies } from '../../content/bounds.js'
import type { PolicySource } from '../../content/messages.js'
import type { BoundedRows, PolicyResult, Severity } from '../../content/report-data.js'
import { type IncidentTally, isOpen, type OpenedIncident } from '../incidents/incidents.js'
import { byText, firstOf } from '../listing.js'
import type { Problem } from '../problems.js'
import type { SetTally, ViolationTally } from '../steps/steps.js'
import type { DeclaredPolicy } from '../unrecorded.js'
import type { Waivers } from './waivers.js'

type Counts = {
  -readonly [key in
    | 'steps'
    | 'applied'
    | 'violations'
    | 'waived'
    | 'unrecorded'
    | 'incidents'
    | 'open_incidents']: number
}
const noCounts: Counts = {
  steps: 0,
  applied: 0,
  violations: 0,
  waived: 0,
  unrecorded: 0,
  incidents: 0,
  open_incidents: 0,
}
interface Result extends Counts {
  readonly policy: Omit<PolicyResult, 'agents' | keyof Counts>
  readonly agents: Set<string>
}

export type Policies = ReturnType<typeof createPolicies>

export function createPolicies(sets: ReadonlyMap<string, SetTally>, waivers: Waivers, report: Problem) {
  const results = new Map<string, Result>()
  /** The results of each policy id. */
  const byId = new Map<number, Set<Result>>()
  const names = new Map<string, string>()
  const expanded = new Set<string>()
  const sources = new Map<number, PolicySource>()
  const incidents = new Map<string, { incident: OpenedIncident; tallies: IncidentTally[] }>()
  const resultOf = (policy: Result['policy'], id: number) => {
    const key = JSON.stringify(policy)
    const result = results.get(key) ?? { policy, agents: new Set(), ...noCounts }
    results.set(key, result)
    byId.set(id, (byId.get(id) ?? new Set()).add(result))
    return result
  }
  return {
    /** Expands a policy set; one that is not as its digest says counts as missing. */
    expand: (digest: string, body: string) => {
      const set = sets.get(digest)
      if (sha256Hex(body) !== digest) {
        report('policy_set_altered', null, `the policy set ${digest} does not match its digest`)
        return
      }
      expanded.add(digest)
      if (set === undefined) return
      const steps = sum(set.steps.values())
      const counted = new Set<Result>()
      for (const policy of parseJson(body) as PolicyInput[]) {
        const result = resultOf(shown(policy, policy), policy.id)
        if (!counted.has(result) && evaluatesSteps(policy)) result.steps += steps
        counted.add(result)
        names.set(`${digest} ${policy.id}`, policy.name)
        addKnown(result, set, policy, report)
        waivers.add(policy, set.violations.get(policy.id)?.waived ?? 0)
      }
    },
    isMissing: (digest: string) => !expanded.has(digest),
    nameOf: (digest: string, policy_id: number) => names.get(`${digest} ${policy_id}`) ?? `policy ${policy_id}`,
    opened: (incident: OpenedIncident, tally: IncidentTally) => {
      const known = incidents.get(incidentKey(incident)) ?? { incident, tallies: [] }
      incidents.set(incidentKey(incident), known)
      known.tallies.push(tally)
    },
    /** Ids of the policies of incidents, which no policy set of the period may show. */
    wanted: () => [...new Set([...incidents.values()].map(({ incident }) => incident.policy_id))],
    learn: (source: PolicySource) => sources.set(source.id, source),
    /** Counts of all policies; call once. */
    finish: (declared: readonly DeclaredPolicy[]) => {
      for (const [digest, set] of sets) if (!expanded.has(digest)) addUnknown(set, resultOf, addViolations)
      for (const { incident, tallies: all } of incidents.values()) {
        const tallies = all.filter((tally) => tally.in_period || isOpen(tally))
        if (tallies.length === 0) continue
        const own = [...(byId.get(incident.policy_id) ?? [])].find(({ policy }) => isOf(policy, incident))
        addIncidents(own ?? resultOf(policyOf(incident, sources.get(incident.policy_id)), incident.policy_id), tallies)
      }
      addDeclared(byId, declared)
      return listed(results.values())
    },
  }
}

/** A policy for registrations evaluates no step, whatever steps its agents take meanwhile. */
const evaluatesSteps = ({ scope }: PolicyInput) => scope !== 'agent_registration'

function addIncidents(result: Result, tallies: readonly IncidentTally[]): void {
  result.incidents += tallies.filter(({ in_period }) => in_period).length
  result.open_incidents += tallies.filter(isOpen).length
}

/** By number of violations, then name. */
function listed(results: Iterable<Result>): BoundedRows<PolicyResult> {
  const rows = [...results].map(({ policy, agents, ...counts }) => ({ ...policy, agents: agents.size, ...counts }))
  const ordered = rows.sort(
    (a, b) => b.violations - a.violations || byText(a.name, b.name) || byText(keyOf(a), keyOf(b)),
  )
  return firstOf(ordered, maxPolicies)
}

const unlike =
  'another name, severity, mode or waiver than in the policy set is stored for violations of the policy with the id'

/** Compares the rows of violations with the policy that they name: those before the end of its waiver are waived, and no others. */
function isOfPolicy(violated: ViolationTally, policy: PolicyInput): boolean {
  const { name, severity, mode, differs, waived, waived_last, unwaived_first } = violated
  const end = policy.waived_until ?? Number.NEGATIVE_INFINITY
  const isSame = name === policy.name && severity === policy.severity && mode === policy.mode
  return isSame && !differs && (waived === 0 || waived_last < end) && end <= unwaived_first
}

function addKnown(result: Result, set: SetTally, policy: PolicyInput, report: Problem): void {
  result.applied += set.applied.get(policy.id) ?? 0
  for (const agent_id of set.steps.keys()) result.agents.add(agent_id)
  const violated = set.violations.get(policy.id)
  if (violated === undefined) return
  if (!isOfPolicy(violated, policy)) report('violations_altered', null, `${unlike} ${policy.id}`)
  addViolations(result, violated)
}

function addViolations(result: Result, { count, waived }: ViolationTally): void {
  result.violations += count
  result.waived += waived
}

function incidentKey({ policy_id, policy_name, rule_type, severity, mode, scope }: OpenedIncident): string {
  return JSON.stringify([policy_id, policy_name, rule_type, severity, mode, scope])
}

function keyOf({ rule_type, scope, mode, severity, manifest }: PolicyResult): string {
  return JSON.stringify([manifest?.path, manifest?.sha, rule_type, scope, mode, severity])
}

function isOf(policy: Result['policy'], incident: OpenedIncident): boolean {
  const { name, rule_type, severity, mode, scope } = policy
  return (
    name === incident.policy_name &&
    rule_type === incident.rule_type &&
    severity === incident.severity &&
    mode === incident.mode &&
    scope === incident.scope
  )
}

type Shown = Pick<Policy, 'name' | 'rule_type' | 'severity' | 'mode' | 'scope'>
type Source = Pick<PolicySource, 'controls' | 'manifest_name' | 'manifest_repo' | 'manifest_path' | 'manifest_sha'>

function shown({ name, rule_type, severity, mode, scope }: Shown, source: Source | null): Result['policy'] {
  const { controls = [], manifest_name = null, manifest_repo: repo = null } = source ?? {}
  const { manifest_path: path = null, manifest_sha: sha = null } = source ?? {}
  const manifest = manifest_name === null ? null : { name: manifest_name, repo, path, sha }
  return { name, rule_type, severity, mode, scope, controls: [...controls], manifest }
}

function policyOf(incident: OpenedIncident, source: PolicySource | undefined): Result['policy'] {
  const { policy_name: name, rule_type, severity, mode, scope } = incident
  return shown({ name, rule_type, severity, mode, scope: scope as Policy['scope'] }, source ?? null)
}

/** A policy that is not in the report, such as one of other files than those of the workspace, is counted in the totals only. */
function addDeclared(byId: ReadonlyMap<number, ReadonlySet<Result>>, declared: readonly DeclaredPolicy[]): void {
  for (const { policy_id, name, count } of declared) {
    const own = [...(byId.get(policy_id) ?? [])].find(({ policy }) => policy.name === name)
    if (own !== undefined) own.unrecorded += count
  }
}

/** The violations of a policy set that is missing: the name and the severity are known, and nothing else. */
function addUnknown(
  set: SetTally,
  resultOf: (policy: Result['policy'], id: number) => Result,
  add: (result: Result, violations: ViolationTally) => void,
): void {
  for (const [id, violated] of set.violations) {
    const { name, severity, mode } = violated
    const policy = { name, rule_type: 'unknown', severity: severity as Severity, mode: mode as Policy['mode'] }
    const result = resultOf(shown({ ...policy, scope: 'step_execution' }, null), id)
    for (const agent_id of set.steps.keys()) result.agents.add(agent_id)
    add(result, violated)
  }
}

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
