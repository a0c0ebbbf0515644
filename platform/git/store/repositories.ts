// Connected repositories. The tokens and webhook secrets are sealed.
import { type Condition, isoTime, type Repository } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { equal, type Filter, type Listed, type Page, page, rowsOf } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'
import { nextIds } from '../../policies/store/policies.js'
import type { Installation } from '../installations.js'

/** A repository as stored. */
export interface RepositoryRow extends Repository {
  readonly sealed_token: string | null
  readonly sealed_webhook_secret: string | null
  /** GitHub's own id; null for a repository that the GitHub App does not read. */
  readonly github_id: number | null
  readonly etag: string | null
  readonly failures: number
  /** True if a reading of the branch has begun and not ended. */
  readonly is_reading: boolean
}

const columns = `id, owner, name, branch, url, provider, visibility, installation_id, sealed_token is not null as has_token,
  sealed_webhook_secret is not null as has_webhook, status, conditions, last_commit_sha, ${utc('last_checked_at')},
  ${utc('created_at')}, created_by`
const rowColumns = `${columns}, sealed_token, sealed_webhook_secret, github_id, etag, failures, reading_since is not null as is_reading`

/** The repository as callers see it. */
export function repositoryView({
  sealed_token: _token,
  sealed_webhook_secret: _secret,
  github_id: _github,
  etag: _etag,
  failures: _failures,
  is_reading: _reading,
  ...repository
}: RepositoryRow): Repository {
  return repository
}

export interface NewRepository {
  readonly provider: Repository['provider']
  readonly owner: string
  readonly name: string
  readonly branch: string
  readonly url: string | null
  readonly visibility: Repository['visibility']
  /** The installation of the GitHub App that reads it. */
  readonly installation?: Installation | null
}

/** The repositories that people of the workspace connected: without the library, and those of the GitHub App. */
export async function countRepositories({ org_id }: Scope, tx: Transaction): Promise<number> {
  const theirs = `removed_at is null and provider <> 'bundled' and installation_id is null`
  const rows = await tx.query(`select 1 from repositories where org_id = $1 and ${theirs}`, [org_id])
  return rows.length
}

/** Inserts a repository; `next_check_at` is null for one that no timer reads. */
export async function insertRepository(
  scope: Scope,
  tx: Transaction,
  now: number,
  { provider, owner, name, branch, url, visibility, installation = null }: NewRepository,
  next_check_at: number | null,
): Promise<number> {
  const id = await nextIds(scope, tx, 'repo', 1)
  await tx.query(
    `insert into repositories (org_id, id, provider, owner, name, branch, url, visibility, status, created_at, created_by,
       next_check_at, installation_id, github_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 'synced', $9, $10, $11, $12, $13)`,
    [
      scope.org_id,
      id,
      provider,
      owner,
      name,
      branch,
      url,
      visibility,
      isoTime(now),
      scope.actor.id,
      next_check_at === null ? null : isoTime(next_check_at),
      installation?.installation_id ?? null,
      installation?.github_id ?? null,
    ],
  )
  return id
}

/** Locks the repository until the transaction ends; null for an unknown or a removed one. */
export async function lockRepository(scope: Scope, tx: Transaction, id: number): Promise<RepositoryRow | null> {
  const [row] = await tx.query<RepositoryRow>(
    `select ${rowColumns} from repositories where org_id = $1 and id = $2 and removed_at is null for update`,
    [scope.org_id, id],
  )
  return row ?? null
}

/** Null for an unknown or a removed repository. */
export async function findRepository(scope: Scope, tx: Transaction, id: number): Promise<RepositoryRow | null> {
  const [row] = await tx.query<RepositoryRow>(
    `select ${rowColumns} from repositories where org_id = $1 and id = $2 and removed_at is null`,
    [scope.org_id, id],
  )
  return row ?? null
}

/** The id of the same branch of the same repository; null when it is not connected. */
export async function sameRepository(
  scope: Scope,
  tx: Transaction,
  { provider, owner, name, branch, url }: Omit<NewRepository, 'visibility' | 'installation'>,
): Promise<number | null> {
  const [row] = await tx.query<{ id: number }>(
    `select id from repositories where org_id = $1 and provider = $2 and coalesce(url, '') = $3 and lower(owner) = lower($4)
       and lower(name) = lower($5) and branch = $6 and removed_at is null`,
    [scope.org_id, provider, url ?? '', owner, name, branch],
  )
  return row?.id ?? null
}

export async function listRepositories(
  scope: Scope,
  tx: Transaction,
  filter: Filter,
  at: Page,
): Promise<Listed<Repository>> {
  const repositories = rowsOf(scope, 'repositories')
    .whereNull('removed_at')
    .where(equal({ provider: filter.provider, status: filter.status }))
  return page<Repository>(tx, repositories, { columns, key: 'id', newest_first: false }, at)
}

export async function removeRepository(scope: Scope, tx: Transaction, now: number, id: number): Promise<void> {
  await tx.query(
    `update repositories set removed_at = $3, sealed_token = null, sealed_webhook_secret = null where org_id = $1 and id = $2`,
    [scope.org_id, id, isoTime(now)],
  )
}

export async function setToken(scope: Scope, tx: Transaction, id: number, sealed: string | null): Promise<void> {
  await tx.query('update repositories set sealed_token = $3 where org_id = $1 and id = $2', [scope.org_id, id, sealed])
}

export async function setWebhookSecret(scope: Scope, tx: Transaction, id: number, sealed: string): Promise<void> {
  await tx.query('update repositories set sealed_webhook_secret = $3 where org_id = $1 and id = $2', [
    scope.org_id,
    id,
    sealed,
  ])
}

/** A reading of a branch by one process. `turn` increases with each one. */
export interface Reading {
  readonly repository: RepositoryRow
  readonly turn: number
}

/**
 * Begins a reading of the branch at `now`; null if it is removed, or if a reading that began after `since` has not ended (`since`
 * null: begins in any case). The branch is due until the reading ends, so that another one follows when the process is killed.
 * Times are ms since 1970.
 */
export async function beginReading(
  scope: Scope,
  tx: Transaction,
  id: number,
  now: number,
  since: number | null,
): Promise<Reading | null> {
  const [row] = await tx.query<RepositoryRow & { turn: number }>(
    `update repositories set turn = turn + 1, reading_since = $3, next_check_at = least(next_check_at, $3)
     where org_id = $1 and id = $2 and removed_at is null and (reading_since > $4) is not true returning ${rowColumns}, turn`,
    [scope.org_id, id, isoTime(now), since === null ? null : isoTime(since)],
  )
  if (row === undefined) return null
  const { turn, ...repository } = row
  return { repository, turn }
}

/**
 * True if the reading is still the last one that began; locks the repository until the transaction ends. The next reading compares every assignment with the head
 * unless this one ends: some assignments may have been written when the process is killed.
 */
export async function beginWriting(scope: Scope, tx: Transaction, id: number, turn: number): Promise<boolean> {
  const rows = await tx.query(
    `update repositories set last_commit_sha = null
     where org_id = $1 and id = $2 and turn = $3 and removed_at is null returning 1`,
    [scope.org_id, id, turn],
  )
  return rows.length > 0
}

/** The outcome of a reading. */
export interface ReadState {
  readonly status: Repository['status']
  readonly conditions: readonly Condition[]
  readonly last_commit_sha: string | null
  readonly etag: string | null
  readonly failures: number
  readonly visibility: Repository['visibility']
  /** ms since 1970; null for a repository that no timer reads. */
  readonly next_check_at: number | null
}

/** Ends the reading: the branch was read at `now`, unless it failed. False when a later one has begun: nothing was written. */
export async function endReading(
  scope: Scope,
  tx: Transaction,
  id: number,
  turn: number,
  now: number,
  state: ReadState,
): Promise<boolean> {
  const rows = await tx.query(
    `update repositories set status = $4, conditions = $5, last_commit_sha = $6, etag = $7, failures = $8, visibility = $9,
       next_check_at = $10, last_checked_at = case when $8 = 0 then $11::timestamptz else last_checked_at end, reading_since = null
     where org_id = $1 and id = $2 and turn = $3 and removed_at is null returning 1`,
    [
      scope.org_id,
      id,
      turn,
      state.status,
      JSON.stringify(state.conditions),
      state.last_commit_sha,
      state.etag,
      state.failures,
      state.visibility,
      state.next_check_at === null ? null : isoTime(state.next_check_at),
      isoTime(now),
    ],
  )
  return rows.length > 0
}

/**
 * Lets the next reading compare every assignment with the head, although the head may not change. A reading in progress, which
 * may have listed the assignments before, is superseded.
 */
export async function forgetHead(scope: Scope, tx: Transaction, id: number): Promise<void> {
  await tx.query(
    `update repositories set last_commit_sha = null, etag = null, turn = turn + 1, reading_since = null
     where org_id = $1 and id = $2`,
    [scope.org_id, id],
  )
}

/** Repositories whose branch is due to be read by a time, ms since 1970, the longest due first. */
export async function dueRepositoriesUnscoped(tx: Transaction, by: number, limit: number) {
  return tx.query<{ org_id: string; id: number; next_check_at: string }>(
    `select org_id, id, ${utc('next_check_at')} from repositories
     where removed_at is null and next_check_at <= $1 order by repositories.next_check_at limit ${limit}`,
    [isoTime(by)],
  )
}

/** Bundled repositories that were last read from another build. */
export async function outdatedLibrariesUnscoped(tx: Transaction, commit_sha: string) {
  return tx.query<{ org_id: string; id: number }>(
    `select org_id, id from repositories
     where provider = 'bundled' and removed_at is null and last_commit_sha is distinct from $1 order by org_id`,
    [commit_sha],
  )
}
