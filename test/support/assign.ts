// Puts a manifest on an agent of a platform as an assignment does, in place of the policies that the agent has.
import { materialise, parseManifest } from '@svc/engine'
import { readConfig } from '@svc/platform'
import { openDatabase, withTransaction, withUnscopedTransaction } from '../../platform/db/db.js'
import { scopeOf } from '../../platform/db/scope.js'
import { insertAssignment } from '../../platform/policies/store/assignments.js'
import { insertPolicies } from '../../platform/policies/store/policies.js'
import type { TestPlatform } from './platform.js'

/** Closes the platform, assigns the manifest, and starts it again; use the returned one from then on. */
export async function assign(platform: TestPlatform, agent_id: string, manifest: string): Promise<TestPlatform> {
  const path = 'manifest.yaml'
  const { value, errors } = parseManifest(manifest, path)
  if (value === null || errors.length > 0) throw new Error(JSON.stringify(errors))
  await platform.close()
  const db = await openDatabase(readConfig(platform.env).value)
  const [agent] = await withUnscopedTransaction(db, (tx) =>
    tx.query<{ org_id: string }>('select org_id from agents where agent_id = $1', [agent_id]),
  )
  const scope = scopeOf(agent?.org_id ?? '', { kind: 'system', id: 'test' })
  const now = Date.now()
  const assigned_at = new Date(now).toISOString()
  const { policies, manifest_id } = materialise(value, {
    source: 'file',
    path,
    sha: 'a'.repeat(40),
    agent: { agent_id, risk_classification: 'unclassified' },
    assigned_at,
    assigned_by: 'test',
  })
  await withTransaction(db, scope, async (tx) => {
    await tx.query('update policies set enabled = false where agent_id = $1', [agent_id])
    const id = await insertAssignment(scope, tx, now, {
      agent_id,
      repo_id: null,
      manifest_path: path,
      manifest_sha: 'a'.repeat(40),
      manifest_name: value.name,
      manifest_id,
    })
    await insertPolicies(scope, tx, now, id, policies)
  })
  await db.close()
  return platform.restart()
}
