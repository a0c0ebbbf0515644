// Puts the manifests of an agent on it again, because its risk level in effect selects other policies.
import type { Assignment } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import { assignmentsOf } from '../store/assignments.js'
import { readText } from '../store/manifest-texts.js'
import type { BaselineParts } from './put-baseline.js'
import { type ManifestVersion, type Moment, policiesFor, putManifest, type TargetAgent } from './put-manifest.js'

/** Changes the assignments whose skipped policies are others at the agent's level. The log must be locked. */
export async function materialiseAgain(
  parts: BaselineParts,
  scope: Scope,
  tx: Transaction,
  moment: Moment,
  agent: TargetAgent,
): Promise<void> {
  for (const assignment of await assignmentsOf(scope, tx, [agent.agent_id])) {
    const version = await versionInForce(parts, scope, tx, assignment)
    if (version === null) continue
    const { skipped } = policiesFor(agent, version, assignment)
    if (skipped.join('\n') === assignment.skipped.join('\n')) continue
    const put = await putManifest(scope, tx, moment, assignment, agent, version)
    const { effective_risk_classification } = agent
    const data = { effective_risk_classification, policies: put.policies.length, skipped }
    await recordEvents(scope, tx, moment.now, [
      { kind: 'assignment.rematerialised', subject_kind: 'assignment', subject_id: String(assignment.id), data },
    ])
  }
}

/** Null for a version of an earlier release whose text was not stored; only the baseline has such, and it names no level. */
async function versionInForce(
  { manifests }: BaselineParts,
  scope: Scope,
  tx: Transaction,
  { repo_id, manifest_path: path, manifest_sha: blob_sha, manifest_repo, commit_sha, ref }: Assignment,
): Promise<ManifestVersion | null> {
  const text = await readText(scope, tx, blob_sha)
  if (text === null) return null
  const file = { path, blob_sha, text }
  const { value } = manifests.read(file)
  const source = manifest_repo ?? (repo_id === null ? 'baseline' : 'bundled')
  return value === null ? null : { file, manifest: value, source, commit_sha, ref }
}
