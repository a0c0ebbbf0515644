// The impact of a change on the embedded database, which runs in the thread that answers requests.
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPlatform, type Ground, impactOf, type Reading, readConfig } from '@svc/platform'
import type { MadeAssignment, RegisteredAgent, RepositoryList } from '@svc/schemas'
import { expect, it } from 'vitest'
import { withSnapshot } from '../../../platform/db/db.js'
import { scopeOf } from '../../../platform/db/scope.js'
import { noRoom } from '../../../platform/room.js'
import { nextManifest } from '../../support/engine/impact.js'
import { tasksOf } from '../../support/http/task-fill.js'

const manifest_path = 'operational/starter.yaml'
const amounts = {
  name: 'Amounts',
  rule_type: 'field_in_range',
  params: { field: 'input.amount', min: 0, max: 500, target_step_types: ['step.resource'] },
  scope: 'step_execution',
  severity: 'critical',
}

it('reads the tasks of the embedded database in small snapshots', async () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-test-'))
  const { value } = readConfig({ SVC_DATA_DIR: data_dir, SVC_LOG_LEVEL: 'error', SVC_CHECKPOINT_SECONDS: '0' })
  const grounds: Ground[] = []
  const platform = await createPlatform(value, Date.now, undefined, (ground) => {
    grounds.push(ground)
    return noRoom(ground)
  })
  try {
    await new Promise<void>((resolve) => platform.listener.listen(0, '127.0.0.1', () => resolve()))
    const { port } = platform.listener.address() as AddressInfo
    const { api_key, operator_token } = platform.credentials
    const call = async <T>(path: string, key: string | null, body?: object) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      return (await (await fetch(`http://127.0.0.1:${port}/api/v1${path}`, { headers, ...sent })).json()) as T
    }
    const { repos } = await call<RepositoryList>('/repos', operator_token)
    const repo_id = repos[0]?.id ?? 0
    const { agent_id } = await call<RegisteredAgent>('/agents', api_key, { agent_key: 'desk' })
    await call<MadeAssignment>('/assignments', operator_token, { agent_id, repo_id, manifest_path })
    const [{ db, first_workspace: org_id }] = grounds as [Ground]
    await db.pool.query(tasksOf(org_id, [agent_id], 100, 18, 100))
    const scope = scopeOf(org_id, { kind: 'system', id: 'test' })
    let snapshots = 0
    const read: Reading = (work) => {
      snapshots += 1
      return withSnapshot(db, scope, work)
    }
    const next = nextManifest(JSON.stringify({ name: 'M', version: '1', policies: [amounts] }), manifest_path)
    const request = { repo_id, changes: [{ manifest_path, next }], days: 30, max_tasks: 1000, max_steps: 300_000 }
    const report = await impactOf(read, scope, request, { clock: Date.now, seed: 'head' })
    expect(report).toMatchObject({ recorded_tasks: 100, tasks: 100, steps: 1800, left_out: [] })
    expect(report.newly_blocked_tasks).toBe(5)
    // Several tasks in each.
    expect(snapshots).toBeGreaterThan(5)
    expect(snapshots).toBeLessThan(20)
  } finally {
    await platform.close()
    rmSync(data_dir, { recursive: true, force: true })
  }
})
