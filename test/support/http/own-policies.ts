// Gives agents of a platform other policies, as an assignment does.
import { randomUUID } from 'node:crypto'
import { readConfig } from '@svc/platform'
import type { Policy } from '@svc/schemas'
import { type Database, openDatabase, withTransaction, withUnscopedTransaction } from '../../../platform/db/db.js'
import { scopeOf } from '../../../platform/db/scope.js'
import { bumpConfig, lockLog } from '../../../platform/ledger/log.js'
import { insertAssignment } from '../../../platform/policies/store/assignments.js'
import { insertPolicies } from '../../../platform/policies/store/policies.js'
import type { SentPolicy } from '../engine/changing-source.js'
import { policyDefaults } from '../engine/policy.js'
import type { TestPlatform } from '../server/platform.js'

type ByAgent = ReadonlyMap<string, readonly SentPolicy[]>

/**
 * Replaces the policies of the agents, the baseline included. An embedded database has one user at a time, so that its
 * platform starts again; use the returned one from then on.
 */
export async function givePolicies(platform: TestPlatform, policies: ByAgent): Promise<TestPlatform> {
  const embedded = platform.env.SVC_DATABASE_URL === undefined
  if (embedded) await platform.close()
  const db = await openDatabase(readConfig(platform.env).value)
  await replaceAll(db, policies)
  await db.close()
  return embedded ? platform.restart() : platform
}

async function replaceAll(db: Database, policies: ByAgent): Promise<void> {
  const [agent] = await withUnscopedTransaction(db, (tx) =>
    tx.query<{ org_id: string }>('select org_id from agents where agent_id = any($1::text[])', [[...policies.keys()]]),
  )
  const scope = scopeOf(agent?.org_id ?? '', { kind: 'system', id: 'test' })
  const manifest_path = `${randomUUID()}.yaml`
  await withTransaction(db, scope, async (tx) => {
    await lockLog(scope, tx)
    for (const [agent_id, own] of policies) {
      await tx.query('update policies set enabled = false where agent_id = $1', [agent_id])
      if (own.length === 0) continue
      const id = await insertAssignment(scope, tx, Date.now(), { agent_id, repo_id: null, manifest_path, pin: null })
      await insertPolicies(
        scope,
        tx,
        Date.now(),
        id,
        own.map((policy, index) => stored(policy, index, agent_id)),
      )
    }
    await bumpConfig(scope, tx)
  })
}

function stored(policy: SentPolicy, index: number, agent_id: string): Omit<Policy, 'id' | 'version' | 'waived_until'> {
  const { waived_until: _, id: _id, version: _version, ...own } = policy
  return { ...policyDefaults, name: `policy ${index}`, severity: 'low', ...own, agent_id }
}
