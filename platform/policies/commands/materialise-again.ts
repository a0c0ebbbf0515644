// Puts the manifests of an agent on it again, because its risk level in effect selects other policies.
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import type { Moment } from '../../ledger/moment.js'
import { loggedChanges } from '../changed-policies.js'
import { asWritten } from '../overrides.js'
import { assignmentsOf } from '../store/assignments.js'
import { policiesOf } from '../store/policies.js'
import { storedVersion } from '../stored-version.js'
import type { BaselineParts } from './put-baseline.js'
import { policiesFor, putManifest, type TargetAgent } from './put-manifest.js'

/** Changes the assignments whose skipped policies are others at the agent's level. The log must be locked. */
export async function materialiseAgain(
  parts: BaselineParts,
  scope: Scope,
  tx: Transaction,
  moment: Moment,
  agent: TargetAgent,
): Promise<void> {
  for (const assignment of await assignmentsOf(scope, tx, [agent.agent_id])) {
    const { manifest_sha: blob_sha, commit_sha } = assignment
    const version = await storedVersion(parts, scope, tx, assignment, { blob_sha, commit_sha })
    if (version === null) continue
    const after = policiesFor(agent, version, assignment)
    const { skipped } = after
    if (skipped.join('\n') === assignment.skipped.join('\n')) continue
    const before = (await policiesOf(scope, tx, assignment.id)).map(asWritten)
    const put = await putManifest(scope, tx, moment, assignment, agent, version)
    const { agent_id, effective_risk_classification } = agent
    const { manifest_path } = assignment
    const { in_leaf, data: changed } = loggedChanges({ policies: before, waivers: assignment.waivers }, after)
    const about = { agent_id, manifest_path, manifest_sha: blob_sha, effective_risk_classification }
    const data = { ...about, policies: put.policies.length, skipped, ...changed }
    await recordEvents(scope, tx, moment.now, [
      {
        kind: 'assignment.rematerialised',
        subject_kind: 'assignment',
        subject_id: String(assignment.id),
        data,
        in_leaf,
      },
    ])
  }
}
