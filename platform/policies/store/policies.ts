// Policies: those from manifests, which name an agent, and those written by hand.
import type { PolicyInput } from '@svc/engine'
import { readPolicy } from '@svc/engine/parts'
import { isoTime, type Policy } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { equal, type Filter, type Listed, type Page, page, rowsOf } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'
import { endVersionsOf } from './policy-versions.js'
import { stoppedAgents } from './stops.js'

const policyColumns = `id, name, rule_type, params, scope, severity, description, risk_classification, agent_id,
  enabled, mode, approval, controls, version, manifest_id, manifest_name, manifest_repo, manifest_path, manifest_sha,
  ${utc('manifest_assigned_at')}, manifest_assigned_by, ${utc('waived_until')}`

/** Columns that people see, with those of a policy set: a set holds only what is evaluated. */
const shownColumns = `${policyColumns}, ${utc('deleted_at')}, overridden`

/** Also with the name of the agent, and the commit of the version of the manifest while it is in force. */
const listedColumns = `${shownColumns},
  (select coalesce(nullif(a.name, ''), a.agent_key) from agents a where a.org_id = policies.org_id and a.agent_id = policies.agent_id) as agent_name,
  (select a.commit_sha from assignments a where a.org_id = policies.org_id and a.id = policies.assignment_id
    and a.manifest_sha = policies.manifest_sha and a.removed_at is null) as commit_sha`

/** A policy without an approval or a waiver has no such member, so that the policy sets of earlier versions keep their digests. */
function withoutNull({ approval, waived_until, ...policy }: Policy): Policy {
  return { ...policy, ...(approval != null && { approval }), ...(waived_until != null && { waived_until }) }
}

function inputOf(row: Policy): PolicyInput {
  return readPolicy(withoutNull(row))
}

/** The fields of an agent that select its policies. */
interface Target {
  readonly agent_id: string
  readonly effective_risk_classification: string
}

/**
 * Policies in effect for each agent, in order of their ids: its own, and those for all agents or for its risk level
 * (docs/design/engine.md §4).
 */
export async function effectivePolicies(
  scope: Scope,
  tx: Transaction,
  agents: readonly Target[],
): Promise<Map<string, PolicyInput[]>> {
  const stored = await tx.query<Policy>(
    `select ${policyColumns} from policies
     where org_id = $1 and deleted_at is null and enabled and (agent_id is null or agent_id = any($2::text[]))
     order by id`,
    [scope.org_id, agents.map((agent) => agent.agent_id)],
  )
  const rows = stored.map(inputOf)
  const stopped = await stoppedAgents(
    scope,
    tx,
    agents.map((agent) => agent.agent_id),
  )
  const selects = (policy: PolicyInput, agent: Target) =>
    (policy.agent_id === null || policy.agent_id === agent.agent_id) && isForLevel(policy, agent)
  const applies = (policy: PolicyInput, agent: Target) =>
    stopped.get(policy.id)?.has(agent.agent_id) ?? selects(policy, agent)
  return new Map(agents.map((agent) => [agent.agent_id, rows.filter((policy) => applies(policy, agent))]))
}

/** The level of a policy from a manifest selected it when it was put on its agent; one written by hand is for exactly one level. */
export function isForLevel(
  { manifest_id, risk_classification: level }: Pick<Policy, 'manifest_id' | 'risk_classification'>,
  { effective_risk_classification: own }: Pick<Target, 'effective_risk_classification'>,
): boolean {
  return manifest_id !== null || level === null || level === own
}

/** The same without stops: a dry run shows what policies do once the agents continue. */
export async function policiesBesideStops(scope: Scope, tx: Transaction, agents: readonly Target[]) {
  const stops = await stoppedAgents(scope, tx, [])
  const effective = await effectivePolicies(scope, tx, agents)
  return new Map([...effective].map(([agent_id, inputs]) => [agent_id, inputs.filter(({ id }) => !stops.has(id))]))
}

/** The policies that an assignment had in force from a log index on, in order of their ids; later versions may have replaced them. */
export async function policiesFrom(
  scope: Scope,
  tx: Transaction,
  assignment_id: number,
  from_index: number,
): Promise<PolicyInput[]> {
  const rows = await tx.query<Policy>(
    `select ${policyColumns} from policies
     where org_id = $1 and assignment_id = $2 and from_index = $3 and deleted_at is null and was_enabled order by id`,
    [scope.org_id, assignment_id, from_index],
  )
  return rows.map((row) => ({ ...inputOf(row), enabled: true }))
}

/** The policies of an assignment in the version in force, disabled ones too. */
export async function policiesOf(scope: Scope, tx: Transaction, assignment_id: number): Promise<Policy[]> {
  const rows = await tx.query<Policy>(
    `select ${shownColumns} from policies
     where org_id = $1 and assignment_id = $2 and until_index is null and deleted_at is null order by id`,
    [scope.org_id, assignment_id],
  )
  return rows.map(withoutNull)
}

/** The policies in force of these assignments on which members set something, by assignment. */
export async function overriddenOf(
  scope: Scope,
  tx: Transaction,
  assignment_ids: readonly number[],
): Promise<Map<number, Policy[]>> {
  const rows = await tx.query<Policy & { assignment_id: number }>(
    `select assignment_id, ${shownColumns} from policies
     where org_id = $1 and assignment_id = any($2::bigint[]) and until_index is null and overridden is not null order by id`,
    [scope.org_id, assignment_ids],
  )
  const found = new Map<number, Policy[]>()
  for (const { assignment_id, ...policy } of rows)
    found.set(assignment_id, [...(found.get(assignment_id) ?? []), withoutNull(policy)])
  return found
}

/** Disables the policies of the version in force, which ends at this log index. */
export async function retirePolicies(
  scope: Scope,
  tx: Transaction,
  now: number,
  assignment_id: number,
  log_index: number,
): Promise<void> {
  await endVersionsOf(scope, tx, { now, log_index }, assignment_id)
  await tx.query(
    `update policies set enabled = false, until_index = $3, updated_at = $4, version = version + 1
     where org_id = $1 and assignment_id = $2 and until_index is null`,
    [scope.org_id, assignment_id, log_index, isoTime(now)],
  )
}

/** A policy to insert; the store assigns its id and version. */
export type NewPolicy = Omit<Policy, 'id' | 'version'>

/** Inserts the policies of an assignment, or with null those written by hand, from a log index on, with the next ids of the organization, in order. */
export async function insertPolicies(
  scope: Scope,
  tx: Transaction,
  now: number,
  assignment_id: number | null,
  policies: readonly NewPolicy[],
  log_index = 0,
): Promise<Policy[]> {
  const first = await nextIds(scope, tx, 'policy', policies.length)
  const rows = policies.map((policy, index) => ({ ...policy, id: first + index, version: 1 }))
  const at = isoTime(now)
  await tx.query(
    `insert into policies (org_id, assignment_id, version, created_at, updated_at, from_index, was_enabled, ${inserted})
     select $1, $2, 1, $3, $3, $5, u.enabled, ${inserted.replaceAll(/\b(?=[a-z])/g, 'u.')}
     from jsonb_to_recordset($4::jsonb) as u(id bigint, name text, rule_type text, params jsonb, scope text, severity text,
       description text, risk_classification text, agent_id text, enabled boolean, mode text, approval jsonb, controls text[],
       manifest_id text, manifest_name text, manifest_repo text, manifest_path text, manifest_sha text,
       manifest_assigned_at timestamptz, manifest_assigned_by text, waived_until timestamptz, overridden jsonb)`,
    [scope.org_id, assignment_id, at, JSON.stringify(rows), log_index],
  )
  return rows
}

const inserted = `enabled, agent_id, manifest_id, manifest_name, manifest_repo, manifest_path, manifest_sha, manifest_assigned_at,
  manifest_assigned_by, id, name, rule_type, params, scope, severity, description, risk_classification, mode, approval, controls,
  waived_until, overridden`

/** Reserves `count` consecutive ids of a kind and returns the first; ids are per organization and never reused. */
export async function nextIds(scope: Scope, tx: Transaction, kind: 'policy' | 'repo' | 'assignment', count: number) {
  const [row] = await tx.query<{ value: number }>(
    `insert into counters (org_id, kind, value) values ($1, $2, $3)
     on conflict (org_id, kind) do update set value = counters.value + $3 returning value`,
    [scope.org_id, kind, count],
  )
  return (row?.value ?? count) - count + 1
}

/** Null for an unknown policy; a deleted one is found, and one that a later version of its manifest replaced. */
export function findPolicy(scope: Scope, tx: Transaction, id: number): Promise<Policy | null> {
  return policyAt(scope, tx, id, shownColumns)
}

/** The same as a list has it. */
export function findListedPolicy(scope: Scope, tx: Transaction, id: number): Promise<Policy | null> {
  return policyAt(scope, tx, id, listedColumns)
}

async function policyAt(scope: Scope, tx: Transaction, id: number, columns: string): Promise<Policy | null> {
  const text = `select ${columns} from policies where org_id = $1 and id = $2`
  const [row] = await tx.query<Policy>(text, [scope.org_id, id])
  return row === undefined ? null : withoutNull(row)
}

export async function listPolicies(scope: Scope, tx: Transaction, filter: Filter, at: Page): Promise<Listed<Policy>> {
  const { agent_id, manifest_id, rule_type, severity, risk_classification, mode, enabled, deleted, source, q } = filter
  const policies = rowsOf(scope, 'policies')
    .whereRaw(deleted === 'true' ? 'deleted_at is not null' : 'deleted_at is null')
    .where(
      equal({ agent_id, manifest_id, rule_type, scope: filter.scope, severity, risk_classification, mode, enabled }),
    )
  if (source !== undefined) policies.whereRaw(source === 'hand' ? 'manifest_id is null' : 'manifest_id is not null')
  if (q !== undefined) policies.whereRaw('position(lower(?) in lower(name)) > 0', [q])
  const order = { columns: listedColumns, key: 'id', newest_first: false }
  const { rows, total } = await page<Policy>(tx, policies, order, at)
  return { rows: rows.map(withoutNull), total }
}
