// Takes the incidents that local engines report (docs/design/platform.md §4).
import { isMap } from '@svc/proof'
import type { IncidentReportResult, StepViolation } from '@svc/schemas'
import { agentIdOf, findAgents, soleActiveAgents } from '../../agents/store/agents.js'
import { type Resources, type Transaction, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { invalid, PlatformError } from '../../errors.js'
import type { KeyIdentity } from '../../http/principal.js'
import { isValid } from '../../http/validate.js'
import type { Triggering } from '../../incidents/actions/triggers.js'
import { type CountedReport, countReports } from '../../incidents/commands/count-reports.js'
import type { FoundViolation } from '../../incidents/commands/raise-incidents.js'
import { lockLog, readHeads } from '../../ledger/log.js'
import { policiesOfManifests, policiesWithIds, type ReportedPolicy } from '../../policies/store/reported-policies.js'
import type { ReportedViolation } from '../incident-report.js'

/** A report, or why it cannot be read. */
export type Report = ReportedViolation | PlatformError

/** The result of a report. */
export type ReportOutcome = Omit<IncidentReportResult, 'problem'> | PlatformError

/** The outcome of each report, in order; reports with errors leave the others as they are. */
export async function reportIncidents(
  { db, clock, send }: Resources & Triggering,
  scope: Scope,
  key: KeyIdentity,
  reports: readonly Report[],
): Promise<ReportOutcome[]> {
  return withTransaction(db, scope, async (tx) => {
    const { last_received_at } = await lockLog(scope, tx)
    return takeIncidents({ send }, scope, tx, Math.max(clock(), last_received_at ?? 0), key, reports)
  })
}

/** The same within a transaction that has locked the log; `now` is ms since 1970. */
export async function takeIncidents(
  triggering: Triggering,
  scope: Scope,
  tx: Transaction,
  now: number,
  key: KeyIdentity,
  reports: readonly Report[],
): Promise<ReportOutcome[]> {
  const known = await readNamed(scope, tx, key, reports)
  const violations = reports.map((report) => (report instanceof PlatformError ? report : violationOf(known, report)))
  const answers = (await countReports(triggering, scope, tx, now, violations.filter(isCounted))).values()
  return violations.map((violation) => {
    if (violation instanceof PlatformError) return violation
    return isCounted(violation) ? accepted(answers.next().value) : { status: 200, outcome: 'waived' as const }
  })
}

function isCounted(violation: FoundViolation | PlatformError): violation is FoundViolation {
  return !(violation instanceof PlatformError) && !violation.violation.waived
}

function accepted(answer: CountedReport | undefined): ReportOutcome {
  return answer === undefined
    ? new PlatformError('INTERNAL', 'no answer')
    : { status: answer.outcome === 'new' ? 201 : 200, ...answer }
}

/** The things that the reports name, as far as the key may see them. */
interface Named {
  readonly key: KeyIdentity
  /** The agents of the key, by id. */
  readonly agents: ReadonlySet<string>
  /** The agents of tasks that have steps. */
  readonly tasks: ReadonlyMap<string, string>
  /** The only active agent of the key; null when it has several or none. */
  readonly sole: string | null
  readonly by_id: ReadonlyMap<number, ReportedPolicy>
  readonly by_name: readonly ReportedPolicy[]
}

async function readNamed(scope: Scope, tx: Transaction, key: KeyIdentity, reports: readonly Report[]): Promise<Named> {
  const valid = reports.filter((report): report is ReportedViolation => !(report instanceof PlatformError))
  const texts = (name: 'agent_id' | 'agent_key' | 'task_id' | 'manifest_id') => [
    ...new Set(valid.flatMap((report) => report[name] ?? [])),
  ]
  const heads = await readHeads(scope, tx, texts('task_id'))
  const tasks = new Map([...heads].map(([task_id, { agent_id }]) => [task_id, agent_id]))
  const sole = (await soleActiveAgents(scope, tx, [key.key_id])).get(key.key_id) ?? null
  const by_key = [...texts('agent_key'), ...texts('agent_id')].map((name) => agentIdOf(key.first_key_hash, name))
  const candidates = [...new Set([...by_key, ...texts('agent_id'), ...tasks.values(), ...(sole ? [sole] : [])])]
  const agents = (await findAgents(scope, tx, candidates)).filter(({ api_key_id }) => api_key_id === key.key_id)
  const agent_ids = agents.map(({ agent_id }) => agent_id)
  const ids = [...new Set(valid.flatMap(({ policy_id }) => policy_id ?? []))]
  return {
    key,
    tasks,
    sole,
    agents: new Set(agent_ids),
    by_id: await policiesWithIds(scope, tx, ids),
    by_name: await policiesOfManifests(scope, tx, texts('manifest_id'), agent_ids),
  }
}

/** The reported violation with the agent and the policy of the workspace, or why there is none. */
function violationOf(named: Named, report: ReportedViolation): FoundViolation | PlatformError {
  const agent_id = agentOf(named, report)
  if (agent_id instanceof PlatformError) return agent_id
  const policy = policyOf(named, report, agent_id)
  if (policy instanceof PlatformError) return policy
  const { task_id, step, evaluation_id, effect, question = null } = report
  const { id: policy_id, name, severity, manifest_id, scope } = policy
  // A report can make an incident of a policy that only observes now, and not a harmless one of a policy that is enforced.
  const mode = policy.mode === 'enforce' ? policy.mode : (report.mode ?? policy.mode)
  // A stop is a decision of people: only a step that ran all the same is worth an incident.
  const waived = report.waived || (effect === 'blocked' && policy.rule_type === 'stopped')
  const details = { policy_id, name, severity, mode, waived, manifest_id, violation_details: detailsOf(report, policy) }
  const risk_score = mode === 'enforce' ? risks[severity] : 0
  const place = { policy_id, agent_id, task_id, step, evaluation_id, log_id: null }
  return { ...place, scope, risk_score, violation: details, reported_reason: shownReason(report), effect, question }
}

/** Characters of a reason of a report; pages have 200 occurrences. */
const maxReason = 500

/** The reason without NUL, which the database does not take. */
function shownReason({ reported_reason }: ReportedViolation): string | null {
  const shown = reported_reason?.replaceAll('\0', '\ufffd') ?? null
  return shown === null || shown.length <= maxReason ? shown : `${shown.slice(0, maxReason).toWellFormed()}…`
}

/** docs/design/engine.md §5 */
const risks = { low: 0.25, medium: 0.5, high: 0.75, critical: 1 } as const

/** The agent of the task, else the one that the report names by key or id, else the only active agent of the key. */
function agentOf({ key, agents, tasks, sole }: Named, report: ReportedViolation): string | PlatformError {
  const { agent_key, agent_id, task_id } = report
  const owner = task_id === null ? undefined : tasks.get(task_id)
  if (owner !== undefined)
    return agents.has(owner) ? owner : new PlatformError('NOT_FOUND', `this API key has no task \`${task_id}\``)
  const named = agent_key ?? agent_id
  if (named === null)
    return sole ?? invalid([{ path: 'agent_key', message: 'name the agent: the API key has several' }])
  const own = [agentIdOf(key.first_key_hash, named), ...(agent_key === null ? [named] : [])]
  const found = own.find((id) => agents.has(id))
  return found ?? new PlatformError('NOT_FOUND', `this API key has no agent \`${named}\`: register it first`)
}

const remedy =
  'let the engine take its policies from this platform (SVC_API_URL, SVC_API_KEY and SVC_AGENT_KEY, without --policy-file and --baseline)'

function policyOf(named: Named, report: ReportedViolation, agent_id: string): ReportedPolicy | PlatformError {
  const { policy_id, policy_name, manifest_id } = report
  const isFor = (policy: ReportedPolicy) => policy.agent_id === null || policy.agent_id === agent_id
  if (policy_id === null) {
    const found = named.by_name.find(
      (policy) => isFor(policy) && policy.name === policy_name && policy.manifest_id === manifest_id,
    )
    const message = `the workspace has no policy \`${policy_name}\` of manifest \`${manifest_id}\` for this agent: ${remedy}`
    return found ?? invalid([{ path: 'policy_name', message }])
  }
  const found = named.by_id.get(policy_id)
  if (found === undefined || !isFor(found)) {
    const shown = policy_name === null ? '' : ` \`${policy_name}\``
    const message = `the workspace has no policy ${policy_id}${shown} for this agent: ${remedy}`
    return invalid([{ path: 'policy_id', message }])
  }
  // An engine with files of its own numbers its policies from 1: the number alone would name another policy.
  const is_same =
    policy_name === null || policy_name === found.name || (manifest_id !== null && manifest_id === found.manifest_id)
  if (is_same) return found
  const message = `policy ${policy_id} is \`${found.name}\` in this workspace, found \`${policy_name}\`: ${remedy}`
  return invalid([{ path: 'policy_id', message }])
}

/** Lists return the details of 200 incidents: characters of a text, steps of the evidence, and characters of the parameters as JSON. */
const maxText = 4_000
const maxEvidence = 100
const maxParams = 20_000

/** The details as the engine gave them; what is absent, of another type or too long is filled in or cut. */
function detailsOf(
  { details, reason }: ReportedViolation,
  { rule_type }: ReportedPolicy,
): StepViolation['violation_details'] {
  const { code, params, evidence, remedy: given } = details
  const usable = isMap(params) && JSON.stringify(params).length <= maxParams
  return {
    code: textOf(code) ?? 'REPORTED',
    reason: textOf(details.reason) ?? reason ?? 'a local engine found the policy violated',
    rule_type,
    params: usable ? params : {},
    evidence: evidenceOf(evidence),
    remedy: textOf(given),
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? cut(value) : null
}

function cut(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText).toWellFormed()}…` : text
}

function evidenceOf(value: unknown): StepViolation['violation_details']['evidence'] {
  const steps = Array.isArray(value) ? value.slice(0, maxEvidence) : []
  return steps
    .filter((step) => isValid('evidence-step', step))
    .map(({ step, step_type, step_name }) => ({ step, step_type: cut(step_type), step_name: textOf(step_name) }))
}
