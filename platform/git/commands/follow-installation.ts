// Repositories that installations of the GitHub App cover: connects them, follows their names, and ends the access
// (docs/design/git.md §4). GitHub's id of a repository stays; its name and owner do not.
import { type Transaction, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { lockLog } from '../../ledger/log.js'
import { assignmentsFrom } from '../../policies/store/assignments.js'
import { noteRepository } from '../events.js'
import type { Installation } from '../installations.js'
import type { ReadingParts } from '../parts.js'
import { readSoon } from '../read-soon.js'
import {
  type InstalledRow,
  installedRepositories,
  namesakes,
  renameRepository,
  setInstallation,
  setVisibility,
} from '../store/installed.js'
import { forgetHead, insertRepository, lockRepository, removeRepository } from '../store/repositories.js'

type Parts = Pick<ReadingParts, 'db' | 'clock' | 'sources' | 'send'>

/** A repository of GitHub as an installation lists it now. */
export interface CoveredRepository extends Installation {
  readonly owner: string
  readonly name: string
  readonly default_branch: string
  readonly visibility: 'public' | 'private'
}

/** The result for a repository; `problem` is for the operator. */
interface Covering {
  /** The connections whose branch is to be read. */
  readonly changed: readonly number[]
  readonly problem: string | null
}

/** Gives the connections of this repository the installation; without a connection, connects its default branch. */
export function coverRepository(parts: Parts, scope: Scope, covered: CoveredRepository): Promise<Covering> {
  const { db, clock } = parts
  return withTransaction(db, scope, async (tx) => {
    await lockLog(scope, tx)
    const now = clock()
    const known = await installedRepositories(scope, tx, { github_ids: [covered.github_id] })
    const sameName = await namesakes(scope, tx, covered)
    // INVARIANT (a name is not an identity): a connection that knows its repository never moves to another one with its name.
    const unknown = sameName.filter(({ github_id }) => github_id === null)
    const rows = [...known, ...unknown]
    const moved = rows.filter(
      ({ installation_id, github_id }) =>
        installation_id !== covered.installation_id || github_id !== covered.github_id,
    )
    for (const row of moved) {
      await moveTo(scope, tx, now, row, covered)
      await readSoon(parts, scope, row.id, tx)
    }
    await setVisibility(scope, tx, covered.github_id, covered.visibility)
    if (rows.length > 0) return { changed: moved.map(({ id }) => id), problem: null }
    const former = sameName.find(({ branch }) => branch === covered.default_branch)
    if (former !== undefined) return { changed: [], problem: replaced(former) }
    return { changed: [await connect(scope, tx, now, covered)], problem: null }
  })
}

function replaced({ id, owner, name }: InstalledRow): string {
  return `${owner}/${name} is another repository than the one that was connected as repository ${id}: it is connected when repository ${id} is removed, with \`svc disconnect-repo ${id}\` or DELETE /api/v1/repos/${id}`
}

async function connect(scope: Scope, tx: Transaction, now: number, covered: CoveredRepository): Promise<number> {
  const { owner, name, default_branch: branch, visibility, installation_id, github_id } = covered
  const installation = { installation_id, github_id }
  const repository = { provider: 'github' as const, owner, name, branch, url: null, visibility, installation }
  const id = await insertRepository(scope, tx, now, repository, now)
  const more = { provider: 'github', url: null, installation_id }
  await noteRepository(scope, tx, now, 'repository.connected', { id, ...repository }, more)
  return id
}

/** A connection with a token of its own is still read with that token; its events reach it by the installation. */
async function moveTo(scope: Scope, tx: Transaction, now: number, row: InstalledRow, covered: CoveredRepository) {
  const { installation_id, github_id } = covered
  // A connection that was made by hand may write the name in another case.
  if (row.github_id === null) await renameRepository(scope, tx, row.id, covered)
  await setInstallation(scope, tx, row.id, { installation_id, github_id })
  await forgetHead(scope, tx, row.id)
  await noteRepository(scope, tx, now, 'repository.installed', row, { installation_id })
}

/** Gives connections the names that their repositories have now. Returns the ids of those that got another name. */
export function renameRepositories(
  { db, clock }: Parts,
  scope: Scope,
  covered: readonly CoveredRepository[],
): Promise<number[]> {
  const byId = new Map(covered.map((one) => [one.github_id, one]))
  return withTransaction(db, scope, async (tx) => {
    await lockLog(scope, tx)
    const now = clock()
    const rows = await installedRepositories(scope, tx, { github_ids: [...byId.keys()] })
    const stale = rows.flatMap((row) => {
      const today = byId.get(row.github_id ?? 0)
      const isSame = today === undefined || (today.owner === row.owner && today.name === row.name)
      return isSame ? [] : [{ row, today }]
    })
    // Two repositories may have exchanged their names.
    for (const { row } of stale) await renameRepository(scope, tx, row.id, { owner: row.owner, name: `~${row.id}` })
    for (const { row, today } of stale) await rename(scope, tx, now, row, today)
    return stale.map(({ row }) => row.id)
  })
}

async function rename(scope: Scope, tx: Transaction, now: number, row: InstalledRow, today: CoveredRepository) {
  const others = await namesakes(scope, tx, today)
  const isTaken = others.some(({ id, branch }) => id !== row.id && branch === row.branch)
  // GitHub redirects the former name until another repository takes it.
  const { owner, name } = isTaken ? row : today
  await renameRepository(scope, tx, row.id, { owner, name })
  if (isTaken) return
  const from = `${row.owner}/${row.name}`
  await noteRepository(scope, tx, now, 'repository.renamed', { ...row, owner, name }, { from })
}

/** The connections that lose their access; `github_ids` null: all that the installation covers. */
interface Lost {
  readonly installation_id: number
  readonly github_ids: readonly number[] | null
}

/**
 * Ends the access of connections. Those without assignments are disconnected; the others stay without an installation, and their
 * next reading says what to do. Returns the ids of those that stay.
 */
export async function uncoverRepositories(parts: Parts, scope: Scope, lost: Lost): Promise<number[]> {
  const { db, sources } = parts
  const rows = await withTransaction(db, scope, (tx) => installedRepositories(scope, tx, lost))
  const kept: number[] = []
  for (const { id } of rows) {
    const outcome = await withTransaction(db, scope, (tx) => uncover(parts, scope, tx, id, lost.installation_id))
    if (outcome === 'kept') kept.push(id)
    if (outcome === 'removed') await sources.forget(`${scope.org_id}/${id}`)
  }
  return kept
}

async function uncover(parts: Parts, scope: Scope, tx: Transaction, id: number, installation_id: number) {
  const now = parts.clock()
  await lockLog(scope, tx)
  const row = await lockRepository(scope, tx, id)
  // Another installation may cover it by now.
  if (row === null || row.installation_id !== installation_id) return 'gone'
  const isUsed = row.has_token || (await assignmentsFrom(scope, tx, id)).length > 0
  if (!isUsed) {
    await removeRepository(scope, tx, now, id)
    await noteRepository(scope, tx, now, 'repository.disconnected', row, { installation_id })
    return 'removed'
  }
  await setInstallation(scope, tx, id, { installation_id: null, github_id: row.github_id })
  await forgetHead(scope, tx, id)
  await readSoon(parts, scope, id, tx)
  await noteRepository(scope, tx, now, 'repository.uninstalled', row, { installation_id })
  return 'kept'
}
