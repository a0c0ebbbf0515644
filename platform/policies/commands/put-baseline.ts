// Puts the baseline on an agent: an assignment whose repository is null (docs/design/git.md §2).
import { baseline } from '@svc/library'
import { isoTime, type Policy } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import type { Moment } from '../../ledger/moment.js'
import type { ManifestReader } from '../manifest-reader.js'
import { insertAssignment, setHeadState } from '../store/assignments.js'
import { type ManifestVersion, putManifest, type TargetAgent } from './put-manifest.js'

export interface BaselineParts {
  readonly manifests: ManifestReader
}

/** The baseline of this build. Throws when it is invalid, which its tests prevent. */
export function baselineVersion({ manifests }: BaselineParts): ManifestVersion {
  const file = baseline()
  const { value, errors } = manifests.read(file)
  if (value === null || errors.length > 0) throw new Error('the bundled baseline is invalid')
  return { file, manifest: value, source: 'baseline', commit_sha: null, ref: null }
}

/**
 * Assigns the baseline. Called for new agents, and when an operator puts it back, so that a removed baseline does not return by
 * itself. The log must be locked.
 */
export async function putBaseline(
  parts: BaselineParts,
  scope: Scope,
  tx: Transaction,
  moment: Moment,
  agent: TargetAgent,
  pin: 'task' | null = null,
): Promise<{ readonly id: number; readonly policies: readonly Policy[] }> {
  const version = baselineVersion(parts)
  const { path: manifest_path, blob_sha: manifest_sha } = version.file
  const { agent_id } = agent
  const id = await insertAssignment(scope, tx, moment.now, { agent_id, repo_id: null, manifest_path, pin })
  const put = { id, assigned_at: isoTime(moment.now), assigned_by: scope.actor.id }
  const { policies } = await putManifest(scope, tx, moment, put, agent, version)
  await setHeadState(scope, tx, id, { head_sha: manifest_sha, held_sha: null, conditions: [] })
  const data = { agent_id, manifest_path, manifest_sha, policies: policies.length }
  await recordEvents(scope, tx, moment.now, [
    { kind: 'assignment.created', subject_kind: 'assignment', subject_id: String(id), data },
  ])
  return { id, policies }
}
