// The parts of a check of one repository: what it may read, the one thing that it may write, and read-only snapshots.
import {
  assignedPaths,
  impactOf,
  inForceAfter,
  installedRepositories,
  type Reading,
  type ReadingParts,
  reconcile,
  type Scope,
  withSnapshot,
} from '@svc/platform'
import { reportMerge } from './check/after-merge.js'
import type { CheckParts, Checks, GithubReader } from './check/parts.js'
import { hiddenBy, settingsOf } from './check/rules/settings.js'
import { checksPermissions, createChecks } from './github/checks.js'
import { createReader, readerPermissions } from './github/reader.js'
import { type InstalledAt, type NarrowedParts, repositoryClient } from './github/repository-client.js'

export interface CheckingParts extends NarrowedParts {
  readonly reading: ReadingParts
  readonly scope: Scope
  readonly app_id: number
  /** Of the REST API. */
  readonly api_url: string
  /** Tells the operator in the log. */
  readonly warn: (message: string) => void
}

/** `signal` ends a replay. */
export function checkParts(parts: CheckingParts, target: InstalledAt, signal: AbortSignal): CheckParts {
  const { reading, scope, api_url } = parts
  const { clock } = reading
  const { owner, name, installation_id, github_id } = target
  const read = snapshotsOf(parts)
  return {
    reader: readerOf(parts, target),
    checks: checksOf(parts, target),
    followed: async (branch) => {
      const rows = await read((tx) => installedRepositories(scope, tx, { installation_id, github_ids: [github_id] }))
      const row = rows.find((one) => one.branch === branch)
      if (row === undefined) return null
      return { ...row, assigned: await read((tx) => assignedPaths(scope, tx, row.id)) }
    },
    impactOf: (request, seed) => impactOf(read, scope, request, { clock, seed, signal }),
    warn: warningOf(parts, target),
    web_url: `${webAddressOf(api_url)}/${owner}/${name}`,
    clock,
  }
}

/**
 * Reads the branch of a connection, and writes the check run of its head: what is in force now. False when a later
 * reading of the branch has begun.
 */
export async function followPush(parts: CheckingParts, target: InstalledAt, repo_id: number): Promise<boolean> {
  const { reading, scope } = parts
  const outcome = await reconcile(reading, scope, repo_id)
  if (outcome === 'superseded') return false
  if (outcome === 'read') await reportInForce(parts, target, repo_id)
  return true
}

/** Writes the check run of the commit that was read last. It reads as a check does: in snapshots, and with the token of a check. */
export async function reportInForce(parts: CheckingParts, target: InstalledAt, repo_id: number): Promise<void> {
  const { reading, scope } = parts
  const read = snapshotsOf(parts)
  const [row] = await read((tx) => installedRepositories(scope, tx, { ids: [repo_id] }))
  const commit_sha = row?.last_commit_sha ?? null
  if (row === undefined || commit_sha === null) return
  const { visibility, branch } = row
  const inForce = async () => {
    const reader = readerOf(parts, target)
    const { settings } = await settingsOf(reader.read, await reader.list(commit_sha))
    const report = await inForceAfter(read, scope, repo_id, commit_sha)
    return { report, hidden: hiddenBy(settings, visibility), branch }
  }
  const warn = warningOf(parts, target)
  await reportMerge({ checks: checksOf(parts, target), clock: reading.clock, warn, inForce }, commit_sha)
}

/** A check has no other access to the database. */
function snapshotsOf({ reading: { db }, scope }: CheckingParts): Reading {
  return (work) => withSnapshot(db, scope, work)
}

function readerOf(parts: CheckingParts, target: InstalledAt): GithubReader {
  const { reading, scope } = parts
  const { owner, name, ...of } = target
  const address = { provider: 'github' as const, owner, name, branch: null, url: null, token: null }
  const app_token = (rejected?: string) => parts.tokens.tokenFor({ ...of, permissions: readerPermissions }, rejected)
  const source = reading.sources.open({ ...address, app_token }, `${scope.org_id}/check`)
  return createReader(repositoryClient(parts, target, readerPermissions), source)
}

function checksOf(parts: CheckingParts, target: InstalledAt): Checks {
  return createChecks(repositoryClient(parts, target, checksPermissions), parts.app_id)
}

function warningOf({ warn }: CheckingParts, { owner, name }: InstalledAt): CheckParts['warn'] {
  return (problem) => warn(`a check of ${owner}/${name} could not be made: ${problem}`)
}

/** The address of the pages for people: GitHub Enterprise Server has its API below `/api/v3`. */
function webAddressOf(api_url: string): string {
  return api_url === 'https://api.github.com' ? 'https://github.com' : api_url.replace(/\/api\/v3$/, '')
}
