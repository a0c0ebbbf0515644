// Histories of an agent's engines and policies on a real database, through the commands of the platform.
import { isoTime } from '@svc/schemas'
import { seedWorkspace } from '../../../platform/access/commands/seed-workspace.js'
import { activate, setFields } from '../../../platform/agents/commands/change-agent.js'
import { registerAgent } from '../../../platform/agents/commands/register-agent.js'
import { takeHeartbeat } from '../../../platform/agents/commands/take-heartbeat.js'
import { readGovernance } from '../../../platform/agents/read-governance.js'
import type { Config } from '../../../platform/config.js'
import {
  type Database,
  openDatabase,
  type Transaction,
  withSnapshot,
  withTransaction,
} from '../../../platform/db/db.js'
import { migrate } from '../../../platform/db/migrations/index.js'
import { type Scope, scopeOf } from '../../../platform/db/scope.js'
import { unassign } from '../../../platform/git/commands/assign-manifest.js'
import { recordEvents } from '../../../platform/ledger/events.js'
import { lockLog, readLogSize } from '../../../platform/ledger/log.js'
import { changePolicy, createPolicy, deletePolicy } from '../../../platform/policies/commands/write-policy.js'
import { readNewPolicy } from '../../../platform/policies/given/read-policy.js'
import { createManifestReader } from '../../../platform/policies/manifest-reader.js'
import { assignmentsOf, insertAssignment } from '../../../platform/policies/store/assignments.js'
import { insertPolicies, policiesOf } from '../../../platform/policies/store/policies.js'
import { beginVersion } from '../../../platform/policies/store/versions.js'
import type { Governance } from '../../../report/governance/governance.js'
import { policyDefaults } from '../engine/policy.js'

export interface Beat {
  readonly run: string
  readonly state: 'enforcing' | 'stale_cache' | 'none_configured' | 'unavailable' | 'all_dropped'
  /** ms since 1970 */
  readonly since: number
  readonly until?: number
  readonly ended?: boolean
}

export interface CutOff {
  readonly size: number
  readonly at: string
}

export interface GovernedWorkspace {
  readonly db: Database
  readonly scope: Scope
  /** Each call happens at the time that was set last. */
  readonly setTime: (ms: number) => void
  /** Returns the id of the agent, which has the baseline. */
  readonly register: (agent_key: string) => Promise<string>
  readonly beat: (agent_key: string, beat: Beat) => Promise<void>
  readonly activate: (agent_id: string, active: boolean) => Promise<void>
  /** Replaces the policies of the agent; none: removes its assignments. */
  readonly setPolicies: (agent_id: string, policies: readonly TestPolicy[]) => Promise<void>
  /** Writes a policy as a member of the workspace does; returns its id. */
  readonly write: (body: object) => Promise<number>
  readonly change: (id: number, body: object) => Promise<void>
  readonly remove: (id: number) => Promise<void>
  /** The ids of the agent's policies from manifests in force. */
  readonly assigned: (agent_id: string) => Promise<number[]>
  /** Sets the risk level, which is in effect at once. */
  readonly setLevel: (agent_id: string, level: 'minimal' | 'limited' | 'high') => Promise<void>
  /** The place of the log now. */
  readonly cutOff: () => Promise<CutOff>
  readonly read: (
    agent_ids: readonly string[],
    period: { readonly from: number; readonly to: number },
    cut_off: CutOff,
  ) => Promise<Map<string, Governance>>
  readonly close: () => Promise<void>
}

export interface TestPolicy {
  readonly mode?: 'enforce' | 'observe'
  readonly enabled?: boolean
  readonly scope?: 'agent_registration' | 'step_execution'
  readonly waived_until?: string
}

/** A policy that is enforced on steps. */
const written = {
  rule_type: 'execution_max_steps',
  params: { step_type: 'step.model', max_steps: 9 },
  scope: 'step_execution',
  severity: 'critical',
}

const key = { key_id: 'key_test', first_key_hash: new Uint8Array(32), scopes: [] }

export async function openGovernedWorkspace(config: Config, begin: number): Promise<GovernedWorkspace> {
  const db = await openDatabase(config)
  await migrate(db)
  let now = begin
  const clock = () => now
  const { org_id } = await seedWorkspace(db, config, now, async () => undefined)
  const scope = scopeOf(org_id, { kind: 'system', id: 'test' })
  const parts = { db, clock, manifests: createManifestReader(10), send: async () => undefined }
  return {
    db,
    scope,
    setTime: (ms) => {
      now = ms
    },
    register: async (agent_key) => (await registerAgent(parts, scope, key, { agent_key })).answer.agent_id,
    beat: (agent_key, { run, state, since, until, ended }) =>
      takeHeartbeat(parts, scope, key, {
        instance_id: run,
        agent_key,
        load_state: state,
        since: isoTime(since),
        ...(until !== undefined && { until: isoTime(until) }),
        ...(ended !== undefined && { ended }),
        policy_count: 1,
        version: '1.0.0',
      }),
    activate: async (agent_id, active) => {
      await activate(parts, scope, agent_id, active)
    },
    setPolicies: async (agent_id, policies) => {
      const known = await withSnapshot(db, scope, (tx) => assignmentsOf(scope, tx, [agent_id]))
      for (const { id } of known) await unassign(parts, scope, id)
      if (policies.length > 0) await withTransaction(db, scope, (tx) => assign(scope, tx, now, agent_id, policies))
    },
    write: async (body) => (await createPolicy(parts, scope, readNewPolicy({ ...written, ...body }))).id,
    change: async (id, body) => {
      await changePolicy(parts, scope, id, body, () => true)
    },
    remove: async (id) => {
      await deletePolicy(parts, scope, id, () => true)
    },
    assigned: (agent_id) =>
      withSnapshot(db, scope, async (tx) => {
        const known = await assignmentsOf(scope, tx, [agent_id])
        const policies = await Promise.all(known.map(({ id }) => policiesOf(scope, tx, id)))
        return policies.flat().map(({ id }) => id)
      }),
    setLevel: async (agent_id, risk_classification) => {
      await setFields(parts, scope, agent_id, { risk_classification })
    },
    cutOff: async () => {
      const size = await withSnapshot(db, scope, (tx) => readLogSize(scope, tx))
      return { size, at: isoTime(now) }
    },
    read: (agent_ids, { from, to }, cut_off) =>
      withSnapshot(db, scope, (tx) =>
        readGovernance(scope, tx, { agent_ids, from: isoTime(from), to: isoTime(to), cut_off }),
      ),
    close: () => db.close(),
  }
}

async function assign(scope: Scope, tx: Transaction, now: number, agent_id: string, policies: readonly TestPolicy[]) {
  const { size: log_index } = await lockLog(scope, tx)
  const id = await insertAssignment(scope, tx, now, { agent_id, repo_id: null, manifest_path: 'own.yaml', pin: null })
  const own = {
    ...policyDefaults,
    rule_type: 'execution_max_steps' as const,
    params: { max_steps: 9 },
    agent_id,
    manifest_id: 'man_0',
  }
  const rows = policies.map((policy, index) => ({
    ...own,
    name: `policy ${index}`,
    severity: 'critical' as const,
    ...policy,
  }))
  await insertPolicies(scope, tx, now, id, rows, log_index)
  await beginVersion(scope, tx, now, { assignment_id: id, manifest_sha: 'a'.repeat(40), commit_sha: null }, log_index)
  await recordEvents(scope, tx, now, [
    { kind: 'assignment.created', subject_kind: 'assignment', subject_id: String(id), data: {} },
  ])
}
