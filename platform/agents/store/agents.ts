// Agents and their ids.

import { createHash } from 'node:crypto'
import type { RiskLevel } from '@svc/engine'
import { type Agent, isoTime, type JsonMap } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { type Condition, equal, type Filter, type Listed, type Page, page, rowsOf } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'
import { hasEnforced, sharedTargets } from '../../policies/store/enforced.js'
import { stoppedNow } from '../../policies/store/stops.js'
import { isEnforcing, isHeard } from './runs.js'

/**
 * An agent as stored. `sent` holds the registered values without defaults; `operator_set` holds the values that members set
 * over them.
 */
export interface AgentRow extends Agent {
  readonly api_key_id: string
  readonly sent: JsonMap
  readonly operator_set: JsonMap
  readonly version: number
}

/** The declared risk level; it has its own column while it waits for confirmation. */
const declaredLevel = 'coalesce(pending_risk_classification, risk_classification)'

const agentColumns = `agent_id, api_key_id, agent_key, sent, operator_set, name, purpose, owner_id,
  ${declaredLevel} as risk_classification, risk_classification as effective_risk_classification,
  pending_risk_classification is not null as waits_for_confirmation, environment, declared_tools, attributes, active, version, ${utc('created_at')}, ${utc('updated_at')}`

/**
 * `ag_` and the first 32 hex digits of SHA-256("svc.agent/1" NUL hex SHA-256(key's first secret) NUL agent_key):
 * the same agent_key under the same API key is the same agent, even after the key was rolled (docs/design/platform.md §2).
 */
export function agentIdOf(first_key_hash: Uint8Array, agent_key: string): string {
  const hash = createHash('sha256').update(`svc.agent/1\0${Buffer.from(first_key_hash).toString('hex')}\0${agent_key}`)
  return `ag_${hash.digest('hex').slice(0, 32)}`
}

/**
 * The agent as rules see it: its fields with the risk level in effect, then its attributes. `declared_tools` is null if they
 * were never declared.
 */
export function agentFacts(agent: Omit<AgentValues, 'api_key_id' | 'sent' | 'operator_set'>): JsonMap {
  const { agent_id, agent_key, name, purpose, owner_id, environment, declared_tools, attributes } = agent
  const { effective_risk_classification: risk_classification } = agent
  return { agent_id, agent_key, name, purpose, owner_id, risk_classification, environment, declared_tools, attributes }
}

/** The agent as callers see it. */
export function agentView({
  api_key_id: _key,
  sent: _sent,
  operator_set: _set,
  version: _version,
  ...agent
}: AgentRow): Agent {
  return agent
}

export async function findAgents(scope: Scope, tx: Transaction, agent_ids: readonly string[]): Promise<AgentRow[]> {
  const text = `select ${agentColumns} from agents where org_id = $1 and agent_id = any($2::text[])`
  return tx.query<AgentRow>(text, [scope.org_id, agent_ids])
}

/** A key of an agent as it is compared with others: without case, outer spaces and Unicode form. */
function foldedKey(spelling: string): string {
  return spelling.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').trim()
}

/** Another agent of the API key whose key is equal when folded; null without one. */
export async function similarAgent(
  scope: Scope,
  tx: Transaction,
  api_key_id: string,
  { agent_id, spelling }: { readonly agent_id: string; readonly spelling: string },
) {
  const [row] = await tx.query<{ agent_key: string; name: string }>(
    `select agent_key, name from agents where org_id = $1 and api_key_id = $2 and folded_key = $3 and agent_id <> $4 limit 1`,
    [scope.org_id, api_key_id, foldedKey(spelling), agent_id],
  )
  return row ?? null
}

/** Keeps how the key of a new agent is compared. */
export async function keepSpelling(
  { org_id }: Scope,
  tx: Transaction,
  agent_id: string,
  spelling: string,
): Promise<void> {
  await tx.query('update agents set folded_key = $3 where org_id = $1 and agent_id = $2', [
    org_id,
    agent_id,
    foldedKey(spelling),
  ])
}

/** For each key its only active agent; without an active one, its only agent. Null for several. */
export async function soleActiveAgents(scope: Scope, tx: Transaction, key_ids: readonly string[]) {
  const sole = new Map<string, string | null>()
  if (key_ids.length === 0) return sole
  const rows = await tx.query<{ api_key_id: string; agent_id: string; agents: number }>(
    `select api_key_id, min(agent_id) as agent_id, count(*)::int as agents from (
       select api_key_id, agent_id, active, bool_or(active) over (partition by api_key_id) as any_active from agents
       where org_id = $1 and api_key_id = any($2::text[])
     ) a where active or not any_active group by api_key_id`,
    [scope.org_id, key_ids],
  )
  for (const row of rows) sole.set(row.api_key_id, row.agents === 1 ? row.agent_id : null)
  return sole
}

/** The values that a registration or a member sets; the other columns follow from them. */
export interface AgentValues {
  readonly agent_id: string
  readonly api_key_id: string
  readonly agent_key: string
  readonly sent: JsonMap
  readonly operator_set: JsonMap
  readonly name: string
  readonly purpose: string | null
  readonly owner_id: string | null
  readonly risk_classification: RiskLevel
  readonly effective_risk_classification: RiskLevel
  readonly environment: string
  readonly declared_tools: Agent['declared_tools']
  readonly attributes: JsonMap
}

/** Inserts or replaces the agent and increments its version. */
export async function putAgent(scope: Scope, tx: Transaction, now: number, agent: AgentValues): Promise<void> {
  const { risk_classification: declared, effective_risk_classification: effective } = agent
  await tx.query(
    `insert into agents (org_id, agent_id, api_key_id, agent_key, sent, operator_set, name, purpose, owner_id,
       risk_classification, pending_risk_classification, environment, declared_tools, attributes, active, version, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, true, 1, $15, $15)
     on conflict (org_id, agent_id) do update set sent = excluded.sent,
       operator_set = excluded.operator_set, name = excluded.name, purpose = excluded.purpose,
       owner_id = excluded.owner_id, risk_classification = excluded.risk_classification,
       pending_risk_classification = excluded.pending_risk_classification, environment = excluded.environment,
       declared_tools = excluded.declared_tools, attributes = excluded.attributes,
       version = agents.version + 1, updated_at = excluded.updated_at`,
    [
      scope.org_id,
      agent.agent_id,
      agent.api_key_id,
      agent.agent_key,
      JSON.stringify(agent.sent),
      JSON.stringify(agent.operator_set),
      agent.name,
      agent.purpose,
      agent.owner_id,
      effective,
      declared === effective ? null : declared,
      agent.environment,
      agent.declared_tools === null ? null : JSON.stringify(agent.declared_tools),
      JSON.stringify(agent.attributes),
      isoTime(now),
    ],
  )
}

/** Deactivates or reactivates the agent and increments its version. */
export async function setActive(scope: Scope, tx: Transaction, now: number, agent_id: string, active: boolean) {
  await tx.query(
    'update agents set active = $3, version = version + 1, updated_at = $4 where org_id = $1 and agent_id = $2',
    [scope.org_id, agent_id, active, isoTime(now)],
  )
}

/** A page of agents; `governed` selects the active agents that are governed at `now` (ms since 1970), or those that are not. */
export async function listAgents(
  scope: Scope,
  tx: Transaction,
  now: number,
  filter: Filter,
  at: Page,
): Promise<Listed<Agent>> {
  const { q, risk_classification, environment, active, governed, engine, stopped, stop_id = null } = filter
  const agents = rowsOf(scope, 'agents').where(equal({ environment, active }))
  if (governed !== undefined) {
    const shared = await sharedTargets(scope, tx, now)
    const isGoverned: Condition = (list) => list.where(isEnforcing(scope, now)).where(hasEnforced(scope, now, shared))
    agents.where({ active: true })
    if (governed === 'true') agents.where(isGoverned)
    else agents.whereNot(isGoverned)
  }
  if (engine !== undefined) agents.where({ active: true })
  if (engine === 'true') agents.where(isHeard(scope, now))
  if (engine === 'false') agents.whereNot(isHeard(scope, now))
  if (stop_id !== null || stopped === 'true') agents.whereIn('agent_id', stoppedNow(scope, stop_id))
  if (stopped === 'false') agents.whereNotIn('agent_id', stoppedNow(scope, null))
  if (risk_classification !== undefined) agents.whereRaw(`${declaredLevel} = ?`, [risk_classification])
  if (q !== undefined)
    agents.whereRaw('(position(lower(?) in lower(name)) > 0 or position(lower(?) in lower(agent_key)) > 0)', [q, q])
  const order = { columns: agentColumns, key: 'agent_id', newest_first: false }
  const { rows, total } = await page<AgentRow>(tx, agents, order, at)
  return { rows: rows.map(agentView), total }
}
