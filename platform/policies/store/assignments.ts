// Assignments of manifests to agents. `repo_id` is null for the baseline.
import { type Assignment, type Condition, type EffectivePolicies, isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { equal, type Filter, type Listed, type Page, page, rowsOf } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { utc, utcText } from '../../db/sql.js'
import { nextIds } from './policies.js'

/** The state of an assignment that follows from its columns. */
const status = `case when a.pinned_sha is not null then 'pinned'
  when exists (select from jsonb_array_elements(a.conditions) c where c ->> 'kind' not in ('guard_tripped', 'rejected_version'))
    then 'degraded'
  when a.conditions <> '[]' or a.head_sha <> a.manifest_sha then 'out_of_sync' else 'synced' end`

const columns = `a.id, a.agent_id, g.agent_key, g.name as agent_name, a.repo_id, a.manifest_path, a.manifest_sha, a.head_sha, a.commit_sha, a.ref, a.manifest_id,
  a.manifest_name, a.manifest_repo,
  a.core_version, ${status} as status, a.conditions, a.pin, a.pinned_sha, a.held_sha, a.rejected_shas, a.policies, a.skipped,
  a.waivers, coalesce(${utcText('r.last_checked_at')}, ${utcText('a.created_at')}) as checked_at,
  ${utc('a.created_at', 'assigned_at')}, a.assigned_by, ${utc('f.from_at', 'in_force_since')}, f.put_by as in_force_by`

/**
 * Assignments with their agents and the repositories that they are from, where the baseline is from none, and with the beginning of the version in
 * force. A version that was put again, such as by another release of the engine, began the first time.
 */
const tables = `assignments a left join repositories r on r.org_id = a.org_id and r.id = a.repo_id
  left join agents g on g.org_id = a.org_id and g.agent_id = a.agent_id
  left join lateral (select v.from_at, v.put_by from assignment_versions v
    where v.org_id = a.org_id and v.assignment_id = a.id and v.number > coalesce((select max(w.number) from assignment_versions w
      where w.org_id = a.org_id and w.assignment_id = a.id and w.manifest_sha <> a.manifest_sha), 0)
    order by v.number limit 1) f on true`

interface NewAssignment {
  readonly agent_id: string
  readonly repo_id: number | null
  readonly manifest_path: string
  readonly pin: 'task' | null
}

/** The version of a manifest that an assignment puts in force. */
export interface Version {
  readonly manifest_sha: string
  readonly manifest_id: string
  readonly manifest_name: string
  /** The canonical address of the repository; null for the baseline and the library. */
  readonly manifest_repo: string | null
  readonly commit_sha: string | null
  readonly ref: string | null
  readonly core_version: string
  readonly policies: number
  readonly skipped: readonly string[]
  readonly waivers: Assignment['waivers']
}

/** Inserts an assignment without a version; returns its id. The caller puts a version in force in the same transaction. */
export async function insertAssignment(
  scope: Scope,
  tx: Transaction,
  now: number,
  { agent_id, repo_id, manifest_path, pin }: NewAssignment,
): Promise<number> {
  const id = await nextIds(scope, tx, 'assignment', 1)
  await tx.query(
    `insert into assignments (org_id, id, agent_id, repo_id, manifest_path, pin, manifest_sha, manifest_name, manifest_id,
       waivers, status, created_at, assigned_by)
     values ($1, $2, $3, $4, $5, $6, '', '', '', '[]', 'synced', $7, $8)`,
    [scope.org_id, id, agent_id, repo_id, manifest_path, pin, isoTime(now), scope.actor.id],
  )
  return id
}

/** Puts a version in force. */
export async function setVersion(scope: Scope, tx: Transaction, id: number, version: Version): Promise<void> {
  await tx.query(
    `update assignments set manifest_sha = $3, manifest_id = $4, manifest_name = $5, commit_sha = $6, ref = $7, core_version = $8,
       policies = $9, skipped = $10, waivers = $11, manifest_repo = $12, approved_sha = coalesce(approved_sha, $3)
     where org_id = $1 and id = $2`,
    [
      scope.org_id,
      id,
      version.manifest_sha,
      version.manifest_id,
      version.manifest_name,
      version.commit_sha,
      version.ref,
      version.core_version,
      version.policies,
      version.skipped,
      JSON.stringify(version.waivers),
      version.manifest_repo,
    ],
  )
}

/** Remembers that a person put the version in force. */
export async function approveVersion(scope: Scope, tx: Transaction, id: number): Promise<void> {
  await tx.query('update assignments set approved_sha = manifest_sha where org_id = $1 and id = $2', [scope.org_id, id])
}

export interface ApprovedText {
  readonly blob_sha: string
  readonly text: string
}

/** The version that a person put in force last; null when it is the one in force. */
export async function approvedText(scope: Scope, tx: Transaction, id: number): Promise<ApprovedText | null> {
  const [row] = await tx.query<ApprovedText>(
    `select t.blob_sha, t.body as text from assignments a
     join manifest_texts t on t.org_id = a.org_id and t.blob_sha = a.approved_sha
     where a.org_id = $1 and a.id = $2 and a.approved_sha <> a.manifest_sha`,
    [scope.org_id, id],
  )
  return row ?? null
}

/** The result of a reading of the branch for an assignment whose version stays in force. */
interface HeadState {
  /** Null when the manifest is not there. */
  readonly head_sha: string | null
  readonly held_sha: string | null
  readonly conditions: readonly Condition[]
}

export async function setHeadState(scope: Scope, tx: Transaction, id: number, state: HeadState): Promise<void> {
  await tx.query('update assignments set head_sha = $3, held_sha = $4, conditions = $5 where org_id = $1 and id = $2', [
    scope.org_id,
    id,
    state.head_sha,
    state.held_sha,
    JSON.stringify(state.conditions),
  ])
}

export async function setPin(scope: Scope, tx: Transaction, id: number, pin: 'task' | null): Promise<void> {
  await tx.query('update assignments set pin = $3 where org_id = $1 and id = $2', [scope.org_id, id, pin])
}

/** Keeps a version in force, or lets the assignment follow its branch again with null. */
export async function setPinnedVersion(
  scope: Scope,
  tx: Transaction,
  id: number,
  { pinned_sha, rejected_shas }: Pick<Assignment, 'pinned_sha' | 'rejected_shas'>,
): Promise<void> {
  await tx.query('update assignments set pinned_sha = $3, rejected_shas = $4 where org_id = $1 and id = $2', [
    scope.org_id,
    id,
    pinned_sha,
    rejected_shas,
  ])
}

export async function removeAssignment(scope: Scope, tx: Transaction, now: number, id: number): Promise<void> {
  await tx.query('update assignments set removed_at = $3 where org_id = $1 and id = $2', [
    scope.org_id,
    id,
    isoTime(now),
  ])
}

/** The assignment; null for an unknown or a removed one. */
export async function findAssignment(scope: Scope, tx: Transaction, id: number): Promise<Assignment | null> {
  const [row] = await tx.query<Assignment>(
    `select ${columns} from ${tables} where a.org_id = $1 and a.id = $2 and a.removed_at is null`,
    [scope.org_id, id],
  )
  return row ?? null
}

/** The assignments of these agents, in the order of their ids. */
export async function assignmentsOf(
  scope: Scope,
  tx: Transaction,
  agent_ids: readonly string[],
): Promise<Assignment[]> {
  return tx.query<Assignment>(
    `select ${columns} from ${tables}
     where a.org_id = $1 and a.agent_id = any($2::text[]) and a.removed_at is null order by a.id`,
    [scope.org_id, agent_ids],
  )
}

type ManifestInForce = EffectivePolicies['manifests'][number]

/** The manifests in force for each of these agents, in the order they were assigned, as a local engine gets them. */
export async function manifestsOf(scope: Scope, tx: Transaction, agent_ids: readonly string[]) {
  const rows = await tx.query<ManifestInForce & { agent_id: string }>(
    `select agent_id, manifest_id, manifest_name as name, manifest_repo as repo, manifest_path as path,
       manifest_sha as sha, pin
     from assignments where org_id = $1 and agent_id = any($2::text[]) and removed_at is null order by id`,
    [scope.org_id, agent_ids],
  )
  const manifests = new Map<string, ManifestInForce[]>(agent_ids.map((agent_id) => [agent_id, []]))
  for (const { agent_id, ...manifest } of rows) manifests.get(agent_id)?.push(manifest)
  return manifests
}

/** The assignments from a repository, in the order of their ids. */
export async function assignmentsFrom(scope: Scope, tx: Transaction, repo_id: number): Promise<Assignment[]> {
  return tx.query<Assignment>(
    `select ${columns} from ${tables} where a.org_id = $1 and a.repo_id = $2 and a.removed_at is null order by a.id`,
    [scope.org_id, repo_id],
  )
}

/** The id of the assignment by which the agent has this manifest, from any branch; null without one. */
export async function assignmentOfManifest(
  scope: Scope,
  tx: Transaction,
  agent_id: string,
  manifest_id: string,
): Promise<number | null> {
  const [row] = await tx.query<{ id: number }>(
    'select id from assignments where org_id = $1 and agent_id = $2 and manifest_id = $3 and removed_at is null',
    [scope.org_id, agent_id, manifest_id],
  )
  return row?.id ?? null
}

/** True if the agent has this manifest already. */
export async function isAssigned(
  scope: Scope,
  tx: Transaction,
  { agent_id, repo_id, manifest_path }: Omit<NewAssignment, 'pin'>,
): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from assignments where org_id = $1 and agent_id = $2 and coalesce(repo_id, 0) = $3 and manifest_path = $4
       and removed_at is null`,
    [scope.org_id, agent_id, repo_id ?? 0, manifest_path],
  )
  return rows.length > 0
}

export async function listAssignments(
  scope: Scope,
  tx: Transaction,
  filter: Filter,
  at: Page,
): Promise<Listed<Assignment>> {
  const assignments = rowsOf(scope, tables)
    .whereNull('a.removed_at')
    .where(
      equal({ 'a.agent_id': filter.agent_id, 'a.repo_id': filter.repo_id, 'a.manifest_path': filter.manifest_path }),
    )
  if (filter.held === 'true') assignments.whereNotNull('a.held_sha')
  if (filter.held === 'false') assignments.whereNull('a.held_sha')
  if (filter.status !== undefined) assignments.whereRaw(`${status} = ?`, [filter.status])
  return page<Assignment>(tx, assignments, { columns, key: 'a.id', newest_first: false }, at)
}

/** Marks assignments of the baseline whose version is not the one of this build. */
export async function markBaselinesUnscoped(tx: Transaction, manifest_sha: string): Promise<void> {
  await tx.query(
    'update assignments set head_sha = $1 where repo_id is null and removed_at is null and head_sha is distinct from $1',
    [manifest_sha],
  )
}
