// Assigns the baseline to a new agent: an assignment whose repository is null (docs/design/engine.md §4).
import { materialise, parseManifest } from '@svc/engine'
import { baseline } from '@svc/library'
import { type Agent, isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import { insertAssignment } from '../store/assignments.js'
import { insertPolicies } from '../store/policies.js'

/** Assigns the baseline of this release. Called for new agents only, so that a removed baseline does not return. */
export async function applyBaseline(
  scope: Scope,
  tx: Transaction,
  now: number,
  agent: Pick<Agent, 'agent_id' | 'risk_classification'>,
): Promise<void> {
  const file = baseline()
  const { value, errors } = parseManifest(file.text, file.path)
  if (value === null || errors.length > 0) throw new Error('the bundled baseline is invalid')
  const { policies, manifest_id } = materialise(value, {
    source: 'baseline',
    path: file.path,
    sha: file.blob_sha,
    agent,
    assigned_at: isoTime(now),
    assigned_by: scope.actor.id,
  })
  const assignment_id = await insertAssignment(scope, tx, now, {
    agent_id: agent.agent_id,
    repo_id: null,
    manifest_path: file.path,
    manifest_sha: file.blob_sha,
    manifest_name: value.name,
    manifest_id,
  })
  await insertPolicies(scope, tx, now, assignment_id, policies)
  const data = {
    agent_id: agent.agent_id,
    manifest_path: file.path,
    manifest_sha: file.blob_sha,
    policies: policies.length,
  }
  await recordEvents(scope, tx, now, [
    { kind: 'assignment.created', subject_kind: 'assignment', subject_id: String(assignment_id), data },
  ])
}
