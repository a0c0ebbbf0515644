// Puts one version of a manifest on an agent: its policies replace those of the version before (docs/design/git.md §2).

import { materialise } from '@svc/engine'
import { waivedUntil } from '@svc/engine/parts'
import { type Agent, type Assignment, isoTime, type Manifest, type Policy, versionOf } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { bumpConfig } from '../../ledger/log.js'
import type { Moment } from '../../ledger/moment.js'
import type { ManifestFile } from '../manifest-reader.js'
import { setVersion } from '../store/assignments.js'
import { keepText } from '../store/manifest-texts.js'
import { insertPolicies, type NewPolicy, overriddenOf, retirePolicies } from '../store/policies.js'
import { beginVersion, endVersion } from '../store/versions.js'
import { noteOverrides, withOverrides } from './carry-overrides.js'

/** The agent of an assignment, with its risk level in effect. */
export type TargetAgent = Pick<Agent, 'agent_id' | 'agent_key' | 'effective_risk_classification'>

/** The assignment that gets the version. */
type PutOn = Pick<Assignment, 'id' | 'assigned_at' | 'assigned_by'>

/** A valid version of a manifest, and where it is from. */
export interface ManifestVersion {
  readonly file: ManifestFile
  readonly manifest: Manifest
  /** `baseline`, `bundled`, or the canonical address of the repository. */
  readonly source: string
  readonly commit_sha: string | null
  readonly ref: string | null
}

interface PutManifest {
  readonly policies: readonly Policy[]
  readonly skipped: readonly string[]
  readonly waivers: Assignment['waivers']
}

/** Replaces the policies of the assignment. The log must be locked. */
export async function putManifest(
  scope: Scope,
  tx: Transaction,
  moment: Moment,
  { id, assigned_at, assigned_by }: PutOn,
  agent: TargetAgent,
  version: ManifestVersion,
): Promise<PutManifest> {
  const { now, log_index } = moment
  const { file, manifest, commit_sha, ref } = version
  const overridden = (await overriddenOf(scope, tx, [id])).get(id) ?? []
  const { policies, skipped, waivers, manifest_id, manifest_repo } = policiesFor(agent, version, {
    assigned_at,
    assigned_by,
  })
  await retirePolicies(scope, tx, now, id, log_index)
  await endVersion(scope, tx, now, id, log_index)
  const inserted = await insertPolicies(scope, tx, now, id, withOverrides(policies, overridden), log_index)
  await beginVersion(scope, tx, now, { assignment_id: id, manifest_sha: file.blob_sha, commit_sha }, log_index)
  await keepText(scope, tx, file.blob_sha, file.text)
  await setVersion(scope, tx, id, {
    manifest_sha: file.blob_sha,
    manifest_id,
    manifest_name: manifest.name,
    manifest_repo,
    commit_sha,
    ref,
    core_version: versionOf('engine'),
    policies: inserted.length,
    skipped,
    waivers,
  })
  await noteOverrides(scope, tx, moment, overridden, inserted)
  await bumpConfig(scope, tx)
  return { policies: inserted, skipped, waivers }
}

/** The policies of a version for an agent, with its waivers. */
export function policiesFor(
  agent: TargetAgent,
  { file, manifest, source }: Pick<ManifestVersion, 'file' | 'manifest' | 'source'>,
  assigned: Pick<Assignment, 'assigned_at' | 'assigned_by'>,
) {
  const { agent_id, agent_key, effective_risk_classification: risk_classification } = agent
  const { policies, skipped, manifest_id } = materialise(manifest, {
    source,
    path: file.path,
    sha: file.blob_sha,
    agent: { agent_id, risk_classification },
    ...assigned,
  })
  const until = waivedUntil(manifest, agent_key)
  const waived = policies.map((policy): NewPolicy => {
    const end = until.get(policy.name)
    return end === undefined ? policy : { ...policy, waived_until: isoTime(end) }
  })
  const waivers = waived.flatMap(({ name, waived_until }) =>
    waived_until == null ? [] : [{ policy: name, waived_until }],
  )
  const manifest_repo = /^(bundled|baseline)$/.test(source) ? null : source
  return { policies: waived, skipped: [...skipped], waivers, manifest_id, manifest_repo }
}
