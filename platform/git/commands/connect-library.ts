// Connects the bundled library to a new workspace: an ordinary repository that members can disconnect (docs/design/git.md §2).
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { noteRepository } from '../events.js'
import { insertRepository } from '../store/repositories.js'

/** The library as a repository. */
export const bundledLibrary = {
  provider: 'bundled',
  owner: 'svc',
  name: 'library',
  branch: 'main',
  url: null,
  visibility: 'public',
  token: null,
} as const

/** Returns its id. Its manifests are listed once a job has read it. */
export async function connectLibrary(scope: Scope, tx: Transaction, now: number): Promise<number> {
  const id = await insertRepository(scope, tx, now, bundledLibrary, now)
  await noteRepository(scope, tx, now, 'repository.connected', { id, ...bundledLibrary }, { provider: 'bundled' })
  return id
}
