// Puts manifests on agents, and takes them off (docs/design/git.md §2).
import { manifestIdOf } from '@svc/engine'
import { isTestFile, quotePath } from '@svc/engine/parts'
import { type AssignmentRequest, isoTime, type MadeAssignment } from '@svc/schemas'
import { changeAs } from '../../access/commands/members.js'
import { agentNotFound } from '../../agents/errors.js'
import { type AgentRow, findAgents } from '../../agents/store/agents.js'
import { type Resources, type Transaction, withSnapshot } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { invalid, PlatformError } from '../../errors.js'
import { operators } from '../../http/principal.js'
import { bumpConfig } from '../../ledger/log.js'
import type { Moment } from '../../ledger/moment.js'
import { baselineVersion, putBaseline } from '../../policies/commands/put-baseline.js'
import { type ManifestVersion, putManifest } from '../../policies/commands/put-manifest.js'
import {
  assignmentOfManifest,
  findAssignment,
  insertAssignment,
  isAssigned,
  removeAssignment,
  setHeadState,
} from '../../policies/store/assignments.js'
import { policiesOf, retirePolicies } from '../../policies/store/policies.js'
import { endVersion } from '../../policies/store/versions.js'
import { readBranch } from '../branch.js'
import { assignmentNotFound, reading, repositoryNotFound } from '../errors.js'
import { noteAssignment } from '../events.js'
import { type GitParts, sourceNameOf, sourceOf } from '../parts.js'
import { inPlace } from '../places.js'
import type { AtHead } from '../plan.js'
import { readSoon } from '../read-soon.js'
import { findRepository, forgetHead, lockRepository } from '../store/repositories.js'

/**
 * Puts the manifest at the head of the branch on the agent; `repo_id` null puts the baseline back. Rejects with NOT_FOUND,
 * with CONFLICT when the agent has the manifest already, and with INVALID and every finding for an invalid manifest or one whose tests fail.
 */
export async function assignManifest(
  parts: GitParts,
  scope: Scope,
  request: AssignmentRequest,
): Promise<MadeAssignment> {
  const { repo_id = null } = request
  return repo_id === null ? assignBaseline(parts, scope, request) : assignFrom(parts, scope, repo_id, request)
}

async function assignBaseline(
  parts: GitParts,
  scope: Scope,
  { agent_id, manifest_path, pin = null }: AssignmentRequest,
): Promise<MadeAssignment> {
  const { path } = baselineVersion(parts).file
  if (manifest_path != null && manifest_path !== path)
    throw invalid([
      { path: 'manifest_path', message: `the baseline is \`${path}\`: send \`repo_id\` for another manifest` },
    ])
  return assigning(parts, scope, agent_id, async (tx, moment, agent) => {
    await assertNew(scope, tx, { agent_id, repo_id: null, manifest_path: path })
    const { id } = await putBaseline(parts, scope, tx, moment, agent, pin)
    return id
  })
}

async function assignFrom(
  parts: GitParts,
  scope: Scope,
  repo_id: number,
  { agent_id, manifest_path, pin = null }: AssignmentRequest,
): Promise<MadeAssignment> {
  if (manifest_path == null)
    throw invalid([{ path: 'manifest_path', message: 'is missing: send the path of the manifest' }])
  const path = manifest_path.replace(/^(\.?\/)+/, '')
  if (path === '')
    throw invalid([
      { path: 'manifest_path', message: 'names no file: send the path of the manifest in the repository' },
    ])
  // Checks of changes read such a file as tests: policies in it would change unseen.
  if (isTestFile(path))
    throw invalid([{ path: 'manifest_path', message: 'is a file of tests: send the path of the manifest beside it' }])
  const found = await headAt(parts, scope, repo_id, path)
  const made = await assigning(parts, scope, agent_id, async (tx, moment, agent) => {
    const repository = await lockRepository(scope, tx, repo_id)
    if (repository === null) throw repositoryNotFound()
    await assertNew(scope, tx, { agent_id, repo_id, manifest_path: path })
    await assertNoOtherBranch(scope, tx, agent_id, found)
    const id = await insertAssignment(scope, tx, moment.now, { agent_id, repo_id, manifest_path: path, pin })
    const put = { id, assigned_at: isoTime(moment.now), assigned_by: scope.actor.id }
    const { blob_sha: head_sha } = found.file
    const { policies } = await putManifest(scope, tx, moment, put, agent, found)
    await setHeadState(scope, tx, id, { head_sha, held_sha: null, conditions: [] })
    const made = { id, agent_id, repo_id, manifest_path: path, manifest_sha: head_sha }
    await noteAssignment(scope, tx, moment.now, 'assignment.created', made, {
      policies: policies.length,
      commit_sha: found.commit_sha,
    })
    // The branch was read before the log was locked: another reading may find a later head, and not this assignment.
    if (repository.is_reading || repository.last_commit_sha !== found.commit_sha) await forgetHead(scope, tx, repo_id)
    return id
  })
  await readSoon(parts, scope, repo_id)
  return made
}

async function headAt(parts: GitParts, scope: Scope, repo_id: number, path: string): Promise<ManifestVersion> {
  const repository = await withSnapshot(parts.db, scope, (tx) => findRepository(scope, tx, repo_id))
  if (repository === null) throw repositoryNotFound()
  const assigned = { manifest_path: path, manifest_sha: '' }
  const readHead = async () => {
    const source = sourceOf(parts, scope.org_id, repository)
    const head = await source.resolve(null)
    const branch = await readBranch(parts, source, head.commit_sha, { files: null, assignments: [assigned] })
    return { commit_sha: head.commit_sha, at: branch.at(assigned), paths: branch.paths }
  }
  const { commit_sha, at, paths } = await reading(
    'repo_id',
    inPlace(parts.places, scope, repository.provider, readHead),
  )
  const { text, manifest, blob_sha } = usable(at, path, paths)
  return {
    file: { path, blob_sha, text },
    manifest,
    source: sourceNameOf(repository),
    commit_sha,
    ref: repository.branch,
  }
}

function usable(at: AtHead, path: string, paths: readonly string[]) {
  if (at.kind === 'valid') {
    if (at.failed_tests.length === 0) return at
    throw invalid(at.failed_tests.slice(0, 100).map((message) => ({ path: 'manifest_path', message })))
  }
  if (at.kind === 'missing') {
    const shown = paths.length === 0 ? 'it has no YAML file' : `it has ${paths.slice(0, 10).map(quotePath).join(', ')}`
    throw new PlatformError('NOT_FOUND', `the branch has no file ${quotePath(path)}: ${shown}`)
  }
  if (at.kind === 'known') throw new Error('the file was not read')
  if (at.kind === 'unreadable') throw invalid([{ path: 'manifest_path', message: at.problem }])
  throw invalid(
    at.findings
      .slice(0, 100)
      .map(({ id, message, line, column }) => ({ path: 'manifest_path', message, id, line, column })),
  )
}

async function assertNew(
  scope: Scope,
  tx: Transaction,
  assigned: { readonly agent_id: string; readonly repo_id: number | null; readonly manifest_path: string },
): Promise<void> {
  if (await isAssigned(scope, tx, assigned))
    throw new PlatformError(
      'CONFLICT',
      `the agent has ${quotePath(assigned.manifest_path)} already: \`svc list-assignments --agent-id ${assigned.agent_id}\` shows it`,
    )
}

/** A task keeps one version of each manifest, so that an agent has a manifest from one branch of its repository only. */
async function assertNoOtherBranch(
  scope: Scope,
  tx: Transaction,
  agent_id: string,
  { source, file: { path } }: ManifestVersion,
): Promise<void> {
  const known = await assignmentOfManifest(scope, tx, agent_id, manifestIdOf(source, path))
  if (known !== null)
    throw new PlatformError(
      'CONFLICT',
      `the agent has \`${path}\` from another branch of the same repository, by assignment ${known}: remove that one first`,
    )
}

/** Runs `make`, which returns the id of a new assignment, under the lock of the log. */
function assigning(
  parts: GitParts,
  scope: Scope,
  agent_id: string,
  make: (tx: Transaction, moment: Moment, agent: AgentRow) => Promise<number>,
): Promise<MadeAssignment> {
  return changeAs(parts, scope, operators, async (tx, moment) => {
    const [agent] = await findAgents(scope, tx, [agent_id])
    if (agent === undefined) throw agentNotFound()
    const id = await make(tx, moment, agent)
    const assignment = await findAssignment(scope, tx, id)
    if (assignment === null) throw assignmentNotFound()
    return { ...assignment, policies: await policiesOf(scope, tx, id) }
  })
}

/** Removes an assignment: its policies end at once, also for running tasks. Rejects with NOT_FOUND. */
export function unassign(parts: Resources, scope: Scope, id: number): Promise<void> {
  return changeAs(parts, scope, operators, async (tx, { now, log_index }) => {
    const assignment = await findAssignment(scope, tx, id)
    if (assignment === null) throw assignmentNotFound()
    await retirePolicies(scope, tx, now, id, log_index)
    await endVersion(scope, tx, now, id, log_index)
    await removeAssignment(scope, tx, now, id)
    await noteAssignment(scope, tx, now, 'assignment.removed', assignment, { policies: assignment.policies })
    await bumpConfig(scope, tx)
  })
}
