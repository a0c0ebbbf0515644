// Brings one assignment in step with the head of its branch, or records why it stays (docs/design/git.md §2).
import { type Assignment, isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import type { Triggering } from '../../incidents/actions/triggers.js'
import type { Moment } from '../../ledger/moment.js'
import { loggedChanges } from '../../policies/changed-policies.js'
import type { BaselineParts } from '../../policies/commands/put-baseline.js'
import {
  type ManifestVersion,
  policiesFor,
  putManifest,
  type TargetAgent,
} from '../../policies/commands/put-manifest.js'
import { asWritten } from '../../policies/overrides.js'
import { type ApprovedText, approvedText, approveVersion, setHeadState } from '../../policies/store/assignments.js'
import { keepText } from '../../policies/store/manifest-texts.js'
import { policiesOf } from '../../policies/store/policies.js'
import { differ, since } from '../conditions.js'
import { noteAssignment } from '../events.js'
import { noteFailed, noteHeld } from '../failed-readings.js'
import type { Known, OnAgent } from '../guards.js'
import { type AtHead, type Plan, planOf } from '../plan.js'

/** The head of a branch, as one reading found it. */
interface HeadOfBranch {
  readonly commit_sha: string | null
  readonly ref: string | null
  /** `baseline`, `bundled`, or the canonical address of the repository. */
  readonly source: string
  readonly at: AtHead
}

/** Plans and applies the change. The log must be locked. */
export async function resyncAssignment(
  { manifests, send }: BaselineParts & Triggering,
  scope: Scope,
  tx: Transaction,
  moment: Moment,
  assignment: Assignment,
  agent: TargetAgent,
  head: HeadOfBranch,
  by_hand: boolean,
): Promise<Plan> {
  const version = versionAt(assignment, head)
  const known = version === null ? nothing : await knownOf(manifests, scope, tx, assignment, agent)
  const after = () => (version === null ? known.in_force : policiesFor(agent, version, assignment))
  const plan = planOf(assignment, head.at, by_hand, { known, after })
  if (plan.kind === 'keep') {
    // People compare the version that waits with the one in force.
    if (version !== null) await keepText(scope, tx, version.file.blob_sha, version.file.text)
    await keepVersion({ send }, scope, tx, moment, assignment, plan)
  } else if (version !== null) await applyVersion(scope, tx, moment, assignment, agent, version, by_hand)
  return plan
}

const nothing: Known = { in_force: { policies: [], waivers: [] }, approved: null }

/** The versions that guards compare a new one with. */
async function knownOf(
  manifests: BaselineParts['manifests'],
  scope: Scope,
  tx: Transaction,
  assignment: Assignment,
  agent: TargetAgent,
): Promise<Known> {
  const { id } = assignment
  const approved = await approvedText(scope, tx, id)
  const in_force = await inForce(scope, tx, assignment)
  return { in_force, approved: approved && approvedOn(manifests, assignment, agent, approved) }
}

/** The version in force. What people set holds for the next one too, so that guards and the log compare what the manifests say. */
async function inForce(scope: Scope, tx: Transaction, { id, waivers }: Assignment): Promise<OnAgent> {
  return { policies: (await policiesOf(scope, tx, id)).map(asWritten), waivers }
}

/** The policies that the agent would have in the version that a person put in force last, at its present risk level. */
function approvedOn(
  manifests: BaselineParts['manifests'],
  assignment: Assignment,
  agent: TargetAgent,
  { blob_sha, text }: ApprovedText,
): OnAgent | null {
  const file = { path: assignment.manifest_path, blob_sha, text }
  const { value } = manifests.read(file)
  return value && policiesFor(agent, { file, manifest: value, source: 'file' }, assignment)
}

/** Null when the version at the head is in force, or cannot be. */
function versionAt(
  { manifest_path: path, manifest_sha }: Assignment,
  { at, source, commit_sha, ref }: HeadOfBranch,
): ManifestVersion | null {
  if (at.kind !== 'valid' || at.blob_sha === manifest_sha) return null
  const { blob_sha, text, manifest } = at
  return { file: { path, blob_sha, text }, manifest, source, commit_sha, ref }
}

/** Puts a version in force, which is then the one at the head. */
export async function applyVersion(
  scope: Scope,
  tx: Transaction,
  moment: Moment,
  assignment: Assignment,
  agent: TargetAgent,
  version: ManifestVersion,
  by_hand: boolean,
): Promise<void> {
  const { blob_sha: to_sha } = version.file
  const before = await inForce(scope, tx, assignment)
  const { policies, skipped } = await putManifest(scope, tx, moment, assignment, agent, version)
  const changes = loggedChanges(before, policiesFor(agent, version, assignment))
  if (by_hand) await approveVersion(scope, tx, assignment.id)
  await setHeadState(scope, tx, assignment.id, { head_sha: to_sha, held_sha: null, conditions: [] })
  const data = {
    from_sha: assignment.manifest_sha,
    to_sha,
    commit_sha: version.commit_sha,
    policies: policies.length,
    skipped,
    by_hand,
    held: assignment.held_sha === to_sha,
    ...changes.data,
  }
  const resynced = { ...assignment, manifest_sha: to_sha }
  await noteAssignment(scope, tx, moment.now, 'assignment.resynced', resynced, data, changes.in_leaf)
}

async function keepVersion(
  triggering: Triggering,
  scope: Scope,
  tx: Transaction,
  moment: Moment,
  assignment: Assignment,
  { head_sha, held_sha, conditions: found }: Extract<Plan, { kind: 'keep' }>,
): Promise<void> {
  const conditions = since(isoTime(moment.now), assignment.conditions, found)
  const isChanged = differ(assignment.conditions, conditions)
  if (!isChanged && held_sha === assignment.held_sha && head_sha === assignment.head_sha) return
  await setHeadState(scope, tx, assignment.id, { head_sha, held_sha, conditions })
  if (held_sha !== null) await noteHeld(triggering, scope, tx, moment.now, assignment, held_sha, conditions)
  if (!isChanged) return
  const data = {
    head_sha,
    conditions: conditions.map(({ kind, reason, message }) => ({ kind, reason, message })),
  }
  const kind = eventOf(held_sha, conditions.length)
  await noteAssignment(scope, tx, moment.now, kind, assignment, data)
  if (kind === 'assignment.degraded') await noteFailed(triggering, scope, tx, moment.now, assignment, conditions)
}

function eventOf(held_sha: string | null, conditions: number): string {
  if (held_sha !== null) return 'assignment.held'
  return conditions > 0 ? 'assignment.degraded' : 'assignment.recovered'
}
