// Brings the workspace in step with the installations: what GitHub says now counts, whatever the webhooks have announced.
import {
  type CoveredRepository,
  coverRepository,
  type Ground,
  installedRepositories,
  type ReadingParts,
  renameRepositories,
  type Scope,
  uncoverRepositories,
  withTransaction,
} from '@svc/platform'
import { type AppApi, type Installation, repositoryIn } from '../github/app-api.js'
import { listAll } from '../github/pages.js'
import { metadataClient, type NarrowedParts } from '../github/repository-client.js'
import type { Repeats } from '../github/retry-later.js'
import { isAccepted, lacking, leftOut } from './accepted.js'
import { endInstallation, findInstallation, listInstallations, saveInstallation } from './installations-store.js'

export interface InstallationParts extends NarrowedParts {
  readonly reading: ReadingParts
  readonly logger: Ground['logger']
  readonly app: AppApi
  readonly repeats: Repeats
  /** The workspace that installations belong to. */
  readonly scope: Scope
  readonly accounts: readonly string[]
  /** Logs a warning once in this process. */
  readonly warnOnce: (message: string) => void
  /** Reads the branch of a connection, and finds the checks that it lacks. */
  readonly readSoon: (repo_id: number) => Promise<void>
}

/** The most repositories of an installation that are connected. */
const maxRepositories = 500

/** Every installation that GitHub lists, and those that it lists no more. Rejects with SourceError. */
export async function followInstallations(
  parts: InstallationParts,
  follow: (id: number) => Promise<void>,
): Promise<void> {
  const { app, reading, scope } = parts
  const listed = await app.installations()
  const known = await withTransaction(reading.db, scope, (tx) => listInstallations(scope, tx))
  const ids = new Set([...listed, ...known].map(({ installation_id }) => installation_id))
  for (const id of ids) await follow(id)
}

/** One installation, as it is now. Rejects with SourceError. */
export async function followInstallation(parts: InstallationParts, id: number): Promise<void> {
  const { app, accounts, warnOnce } = parts
  const found = await app.installation(id)
  if (found === null) return removeInstallation(parts, id)
  if (!isAccepted(found, await app.owner(), accounts)) {
    warnOnce(leftOut(found))
    // It may have been accepted before the configuration changed.
    return removeInstallation(parts, id)
  }
  const before = await keep(parts, found)
  const lack = lacking(found)
  if (lack !== null) warnOnce(lack)
  // New permissions make another token.
  parts.tokens.forget(id)
  if (found.is_suspended) return readAll(parts, id)
  await followRepositories(parts, found)
  if (before?.is_suspended === true) await readAll(parts, id)
}

async function keep({ reading, scope }: InstallationParts, found: Installation) {
  const { db, clock } = reading
  return withTransaction(db, scope, async (tx) => {
    const before = await findInstallation(scope, tx, found.installation_id)
    await saveInstallation(scope, tx, clock(), found)
    return before
  })
}

async function removeInstallation(parts: InstallationParts, id: number): Promise<void> {
  const { reading, scope, tokens } = parts
  tokens.forget(id)
  const { db, clock } = reading
  await withTransaction(db, scope, (tx) => endInstallation(scope, tx, clock(), id))
  // Also for an installation that has ended: the process may have been killed between the two.
  const kept = await uncoverRepositories(reading, scope, { installation_id: id, github_ids: null })
  for (const repo_id of kept) await parts.readSoon(repo_id)
}

/** A suspended installation keeps its repositories: they are degraded, and read again when the suspension ends. */
async function readAll({ reading, scope, readSoon }: InstallationParts, installation_id: number) {
  const rows = await withTransaction(reading.db, scope, (tx) => installedRepositories(scope, tx, { installation_id }))
  for (const { id } of rows) await readSoon(id)
}

async function followRepositories(parts: InstallationParts, found: Installation): Promise<void> {
  const { reading, scope, readSoon, warnOnce } = parts
  const { installation_id } = found
  const { covered, is_complete } = await coveredBy(parts, installation_id)
  if (is_complete) await uncoverOthers(parts, installation_id, covered)
  else
    warnOnce(
      `installation ${installation_id} covers more than ${maxRepositories} repositories: the others are connected with \`svc connect-repo\`, or select fewer repositories in the settings of the installation`,
    )
  const changed = new Set(await renameRepositories(reading, scope, covered))
  for (const one of covered) {
    const { changed: ids, problem } = await coverRepository(reading, scope, one)
    for (const id of ids) changed.add(id)
    if (problem !== null) warnOnce(problem)
  }
  for (const repo_id of changed) await readSoon(repo_id)
}

async function uncoverOthers(
  { reading, scope, readSoon }: InstallationParts,
  installation_id: number,
  covered: readonly CoveredRepository[],
): Promise<void> {
  const rows = await withTransaction(reading.db, scope, (tx) => installedRepositories(scope, tx, { installation_id }))
  const listed = new Set(covered.map(({ github_id }) => github_id))
  const github_ids = rows.flatMap(({ github_id }) => (github_id !== null && !listed.has(github_id) ? [github_id] : []))
  if (github_ids.length === 0) return
  for (const repo_id of await uncoverRepositories(reading, scope, { installation_id, github_ids }))
    await readSoon(repo_id)
}

async function coveredBy(parts: InstallationParts, installation_id: number) {
  const { items, is_complete } = await listAll(metadataClient(parts, installation_id), {
    path: '/installation/repositories',
    member: 'repositories',
    max_items: maxRepositories,
  })
  const covered = items.flatMap((item): CoveredRepository[] => {
    const found = repositoryIn(item)
    if (found === null) return []
    const { is_private, ...repository } = found
    return [{ ...repository, installation_id, visibility: is_private ? 'private' : 'public' }]
  })
  // An entry that cannot be read must not look like a repository that was removed.
  return { covered, is_complete: is_complete && covered.length === items.length }
}
