// Changes assignments by hand: resync, approve, pin, roll back (docs/design/git.md §2).
import type { Assignment } from '@svc/schemas'
import { assertStillAllowed, changeAs } from '../../access/commands/members.js'
import { agentNotFound } from '../../agents/errors.js'
import { type AgentRow, findAgents } from '../../agents/store/agents.js'
import { type Transaction, withSnapshot, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { invalid, invalidTransition, PlatformError } from '../../errors.js'
import { operators } from '../../http/principal.js'
import { bumpConfig } from '../../ledger/log.js'
import type { Moment } from '../../ledger/moment.js'
import { baselineVersion } from '../../policies/commands/put-baseline.js'
import type { ManifestVersion } from '../../policies/commands/put-manifest.js'
import { findAssignment, setHeadState, setPin, setPinnedVersion } from '../../policies/store/assignments.js'
import { versionsOf } from '../../policies/store/versions.js'
import { storedVersion } from '../../policies/stored-version.js'
import { whilePinned } from '../conditions.js'
import { assignmentNotFound } from '../errors.js'
import { noteAssignment } from '../events.js'
import type { GitParts } from '../parts.js'
import { reconcileNow } from '../reconcile.js'
import { forgetHead } from '../store/repositories.js'
import { applyVersion } from './resync-assignment.js'

/**
 * Reads the branch and puts the version at its head in force, without guards; a pinned assignment stays. What keeps the version
 * from being used is among the conditions of the answer. Rejects with NOT_FOUND.
 */
export async function resyncByHand(parts: GitParts, scope: Scope, id: number): Promise<Assignment> {
  const { repo_id } = await assignmentOf(parts, scope, id)
  if (repo_id === null) return resyncBaseline(parts, scope, id)
  await withTransaction(parts.db, scope, (tx) => assertStillAllowed(scope, tx, operators))
  await reconcileNow(parts, scope, repo_id, { by_hand: id })
  return assignmentOf(parts, scope, id)
}

/** The assignment. Rejects with NOT_FOUND. */
export async function assignmentOf({ db }: Pick<GitParts, 'db'>, scope: Scope, id: number): Promise<Assignment> {
  const found = await withSnapshot(db, scope, (tx) => findAssignment(scope, tx, id))
  if (found === null) throw assignmentNotFound()
  return found
}

/** Puts the baseline of this build in force. */
function resyncBaseline(parts: GitParts, scope: Scope, id: number): Promise<Assignment> {
  return changing(parts, scope, id, async (tx, moment, { assignment, agent }) => {
    const version = baselineVersion(parts)
    if (assignment.pinned_sha !== null || version.file.blob_sha === assignment.manifest_sha) return
    await applyVersion(scope, tx, moment, assignment, agent, version, true)
  })
}

/** Puts the version in force that guards have held. Rejects with INVALID_TRANSITION, and with CONFLICT for another version. */
export async function approve(
  parts: GitParts,
  scope: Scope,
  id: number,
  manifest_sha: string | null,
): Promise<Assignment> {
  const assignment = await assignmentOf(parts, scope, id)
  const { held_sha, repo_id } = assignment
  if (held_sha === null || repo_id === null)
    throw invalidTransition('approve', 'an assignment', stateOf(assignment), ['held'])
  if (manifest_sha !== null && manifest_sha !== held_sha)
    throw new PlatformError('CONFLICT', `the version that waits is \`${held_sha}\`: read it, then approve that one`)
  await withTransaction(parts.db, scope, (tx) => assertStillAllowed(scope, tx, operators))
  await reconcileNow(parts, scope, repo_id, { by_hand: id, expected_sha: held_sha })
  const approved = await assignmentOf(parts, scope, id)
  if (approved.manifest_sha !== held_sha)
    throw new PlatformError(
      'CONFLICT',
      `the branch has no longer the version \`${held_sha}\`, which was not put in force: see GET /api/v1/assignments/${id}`,
    )
  return approved
}

/**
 * Keeps a version in force until the assignment is unpinned: the one in force, or an earlier one, to which it rolls back. The
 * version that a roll-back replaces is not applied automatically again. Rejects with INVALID for a version that was never in force.
 */
export function pinVersion(parts: GitParts, scope: Scope, id: number, wanted: string | null): Promise<Assignment> {
  return changing(parts, scope, id, async (tx, moment, { assignment, agent }) => {
    const { manifest_sha, rejected_shas: known } = assignment
    const pinned_sha = wanted ?? manifest_sha
    if (pinned_sha === manifest_sha && pinned_sha === assignment.pinned_sha) return
    if (pinned_sha !== manifest_sha) {
      const version = await earlierVersion(parts, scope, tx, assignment, pinned_sha)
      await applyVersion(scope, tx, moment, assignment, agent, version, true)
    }
    const { head_sha, conditions } = assignment
    await setHeadState(scope, tx, id, { head_sha, held_sha: null, conditions: whilePinned(conditions) })
    const rejected_shas = known.filter((sha) => sha !== pinned_sha)
    if (pinned_sha !== manifest_sha) rejected_shas.push(manifest_sha)
    await setPinnedVersion(scope, tx, id, { pinned_sha, rejected_shas: rejected_shas.slice(-maxRejected) })
    await noteAssignment(scope, tx, moment.now, 'assignment.pinned', assignment, { pinned_sha })
  })
}

function stateOf({ held_sha, status }: Assignment): string {
  return held_sha === null ? status : 'held'
}

/** Rolled-back versions that an assignment remembers. */
const maxRejected = 100

/** Lets the assignment follow its branch again. */
export async function unpin(parts: GitParts, scope: Scope, id: number): Promise<Assignment> {
  const { repo_id } = await changing(parts, scope, id, async (tx, moment, { assignment }) => {
    const { pinned_sha, rejected_shas } = assignment
    if (pinned_sha === null) throw invalidTransition('unpin', 'an assignment', stateOf(assignment), ['pinned'])
    await setPinnedVersion(scope, tx, id, { pinned_sha: null, rejected_shas })
    // Also when this process is killed before it reads the branch.
    if (assignment.repo_id !== null) await forgetHead(scope, tx, assignment.repo_id)
    await noteAssignment(scope, tx, moment.now, 'assignment.unpinned', assignment, { pinned_sha })
  })
  if (repo_id !== null) await reconcileNow(parts, scope, repo_id)
  return assignmentOf(parts, scope, id)
}

/** `task`: running tasks keep the version that they began with. */
export function changePin(parts: GitParts, scope: Scope, id: number, pin: 'task' | null): Promise<Assignment> {
  return changing(parts, scope, id, async (tx, moment, { assignment }) => {
    if (assignment.pin === pin) return
    await setPin(scope, tx, id, pin)
    await noteAssignment(scope, tx, moment.now, 'assignment.changed', assignment, { pin })
    await bumpConfig(scope, tx)
  })
}

/** A version that the assignment had in force. Throws INVALID. */
async function earlierVersion(
  parts: GitParts,
  scope: Scope,
  tx: Transaction,
  assignment: Assignment,
  blob_sha: string,
): Promise<ManifestVersion> {
  const versions = await versionsOf(scope, tx, assignment.id)
  const known = versions.find(({ manifest_sha }) => manifest_sha === blob_sha)
  const version = known && (await storedVersion(parts, scope, tx, assignment, { ...known, blob_sha }))
  if (version) return version
  const shown = [...new Set(versions.map(({ manifest_sha }) => manifest_sha))].slice(0, 10).map((sha) => `\`${sha}\``)
  throw invalid([{ path: 'manifest_sha', message: `was never in force here: use one of ${shown.join(', ')}` }])
}

interface Changed {
  readonly assignment: Assignment
  readonly agent: AgentRow
}

/** Changes the assignment under the lock of the log, and returns it. Rejects with NOT_FOUND. */
function changing(
  parts: GitParts,
  scope: Scope,
  id: number,
  change: (tx: Transaction, moment: Moment, changed: Changed) => Promise<void>,
): Promise<Assignment> {
  return changeAs(parts, scope, operators, async (tx, moment) => {
    const assignment = await findAssignment(scope, tx, id)
    if (assignment === null) throw assignmentNotFound()
    const [agent] = await findAgents(scope, tx, [assignment.agent_id])
    if (agent === undefined) throw agentNotFound()
    await change(tx, moment, { assignment, agent })
    return (await findAssignment(scope, tx, id)) ?? assignment
  })
}
