// Puts a manifest on an agent of a platform as an assignment does, in place of the policies that the agent has.
import { parseManifest } from '@svc/engine'
import { readConfig } from '@svc/platform'
import { openDatabase, withTransaction, withUnscopedTransaction } from '../../../platform/db/db.js'
import { scopeOf } from '../../../platform/db/scope.js'
import { lockLog } from '../../../platform/ledger/log.js'
import { putManifest } from '../../../platform/policies/commands/put-manifest.js'
import { insertAssignment } from '../../../platform/policies/store/assignments.js'
import type { TestPlatform } from '../server/platform.js'

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
  const blob_sha = 'a'.repeat(40)
  await withTransaction(db, scope, async (tx) => {
    await tx.query('update policies set enabled = false where agent_id = $1', [agent_id])
    const id = await insertAssignment(scope, tx, now, { agent_id, repo_id: null, manifest_path: path, pin: null })
    const put = { id, assigned_at: new Date(now).toISOString(), assigned_by: 'test' }
    const agent = { agent_id, agent_key: '', effective_risk_classification: 'unclassified' as const }
    const { size: log_index } = await lockLog(scope, tx)
    const version = {
      file: { path, blob_sha, text: manifest },
      manifest: value,
      source: 'file',
      commit_sha: null,
      ref: null,
    }
    await putManifest(scope, tx, { now, log_index }, put, agent, version)
  })
  await db.close()
  return platform.restart()
}
