// Connects repositories, changes their tokens, and disconnects them (docs/design/git.md §1).

import { randomBytes } from 'node:crypto'
import type { Repository, RepositoryRequest, WebhookSecret } from '@svc/schemas'
import { changeAs } from '../../access/commands/members.js'
import { type Transaction, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { invalid, PlatformError } from '../../errors.js'
import { admins } from '../../http/principal.js'
import { assignmentsFrom } from '../../policies/store/assignments.js'
import { keyInvalid } from '../../secrets/encryption-key.js'
import { tokenContext, webhookContext } from '../../secrets/store.js'
import { reading, repositoryNotFound } from '../errors.js'
import { noteRepository } from '../events.js'
import type { GitParts } from '../parts.js'
import { inPlace } from '../places.js'
import { readSoon } from '../read-soon.js'
import { reconcileFor, reconcileNow } from '../reconcile.js'
import type { RepositoryAddress } from '../source/source.js'
import {
  countRepositories,
  findRepository,
  insertRepository,
  lockRepository,
  type NewRepository,
  type RepositoryRow,
  removeRepository,
  repositoryView,
  sameRepository,
  setToken,
  setWebhookSecret,
} from '../store/repositories.js'
import { bundledLibrary } from './connect-library.js'

/**
 * Connects a branch and reads its manifests. Rejects with PRIVATE_REPO_NEEDS_TOKEN, NOT_FOUND for what the caller cannot see,
 * CONFLICT for a branch that is connected already and beyond the limit of a workspace, RATE_LIMITED, UNAVAILABLE when the host does not answer, and ENCRYPTION_KEY_INVALID.
 */
export async function connectRepository(
  parts: GitParts,
  scope: Scope,
  request: RepositoryRequest,
): Promise<Repository> {
  if (request.library === true) return connectLibraryAgain(parts, scope, request)
  const asked = addressOf(request)
  if (asked.token !== null) parts.assertKeyKept()
  const { installation, address } = await reading('name', byInstallation(parts, scope, asked))
  const { token, provider, owner, name, url } = address
  const inspection = () => reading(url === null ? 'name' : 'url', parts.sources.inspect(address))
  const { visibility, branch } = await inPlace(parts.places, scope, provider, inspection)
  const id = await add(parts, scope, { provider, owner, name, url, branch, visibility, installation }, token)
  // It is connected: without a place for Git a job reads it.
  if ((await reconcileFor(parts, scope, id)) === 'busy') await readSoon(parts, scope, id)
  return repositoryOf(parts, scope, id)
}

/** Rejects with CONFLICT while the library is connected. */
async function connectLibraryAgain(
  parts: GitParts,
  scope: Scope,
  { library: _library, ...others }: RepositoryRequest,
): Promise<Repository> {
  const beside = Object.entries(others).filter(([, value]) => value !== null)
  if (beside.length > 0)
    throw invalid(beside.map(([path]) => ({ path, message: 'is given beside `library`: send one of them' })))
  const id = await add(parts, scope, bundledLibrary, null)
  await reconcileFor(parts, scope, id)
  return repositoryOf(parts, scope, id)
}

/** The address with access by the GitHub App, where an installation of the workspace covers it and the caller gives no token. */
async function byInstallation({ installations }: GitParts, scope: Scope, address: RepositoryAddress) {
  const { provider, token, owner, name } = address
  const installation = provider === 'github' && token === null ? await installations.find(scope, owner, name) : null
  if (installation === null) return { installation, address }
  return {
    installation,
    address: {
      ...address,
      app_token: (rejected?: string) => installations.token(scope.org_id, installation, rejected),
    },
  }
}

/** Throws INVALID for a request that names no repository. */
function addressOf({ owner, name, branch, token, url }: RepositoryRequest): RepositoryAddress {
  const github = /^https:\/\/github\.com\/([^/]+)\/([^/]+?)(?:\.git)?\/?$/i.exec(url ?? '')
  const rest = { branch: branch ?? null, token: token ?? null }
  if (url == null || github !== null) {
    const [found_owner, found_name] = [owner ?? github?.[1], name ?? github?.[2]]
    const missing = [...(found_owner == null ? ['owner'] : []), ...(found_name == null ? ['name'] : [])]
    if (found_owner == null || found_name == null)
      throw invalid(missing.map((path) => ({ path, message: 'is missing: send `owner` and `name`, or `url`' })))
    return { provider: 'github', owner: found_owner, name: found_name, url: null, ...rest }
  }
  const at = url.replace(/\/+$/, '')
  const [last = '', folder = ''] = at
    .replace(/\.git$/, '')
    .split('/')
    .reverse()
  return { provider: 'git', owner: owner ?? folder, name: name ?? last, url: at, ...rest }
}

/** Each is read by a timer, and may keep two copies of 200 MiB on the disk. */
const maxRepositories = 100

/** A job reads what this process has not read by then. */
const unreadMs = 30_000

function add(parts: GitParts, scope: Scope, repository: NewRepository, token: string | null): Promise<number> {
  return changeAs(parts, scope, admins, async (tx, { now }) => {
    const known = await sameRepository(scope, tx, repository)
    if (known !== null) throw new PlatformError('CONFLICT', `this branch is connected already, as repository ${known}`)
    if ((await countRepositories(scope, tx)) >= maxRepositories)
      throw new PlatformError(
        'CONFLICT',
        `a workspace has at most ${maxRepositories} repositories: disconnect one with \`svc disconnect-repo ID\``,
      )
    const id = await insertRepository(scope, tx, now, repository, now + unreadMs)
    if (token !== null) await setToken(scope, tx, id, sealed(parts, tokenContext(scope.org_id, id), token))
    const { provider, url } = repository
    await noteRepository(scope, tx, now, 'repository.connected', { id, ...repository }, { provider, url })
    return id
  })
}

/** Throws ENCRYPTION_KEY_INVALID when there is no key to seal with, or its file does not hold it. */
function sealed({ sealer, assertKeyKept }: GitParts, context: string, secret: string): string {
  assertKeyKept()
  const text = sealer.seal(context, Buffer.from(secret))
  if (text === null) throw keyInvalid()
  return text
}

export async function repositoryOf({ db }: Pick<GitParts, 'db'>, scope: Scope, id: number): Promise<Repository> {
  const row = await withTransaction(db, scope, (tx) => findRepository(scope, tx, id))
  if (row === null) throw repositoryNotFound()
  return repositoryView(row)
}

/** Replaces the token and reads the branch with it. */
export async function changeToken(parts: GitParts, scope: Scope, id: number, token: string): Promise<Repository> {
  await changing(parts, scope, id, async (tx, now, repository) => {
    await setToken(scope, tx, id, sealed(parts, tokenContext(scope.org_id, id), token))
    await noteRepository(scope, tx, now, 'repository.token_changed', repository)
  })
  // A reading in progress uses the token before.
  await reconcileNow(parts, scope, id)
  return repositoryOf(parts, scope, id)
}

/** Makes a new secret for the webhook; the one before is no longer accepted. */
export async function makeWebhookSecret(
  parts: GitParts,
  scope: Scope,
  id: number,
  base: string,
): Promise<WebhookSecret> {
  const secret = randomBytes(32).toString('base64url')
  await changing(parts, scope, id, async (tx, now, repository) => {
    await setWebhookSecret(scope, tx, id, sealed(parts, webhookContext(scope.org_id, id), secret))
    await noteRepository(scope, tx, now, 'repository.webhook_changed', repository)
  })
  return { secret, url: `${base}/api/v1/repos/${id}/webhook?workspace=${scope.org_id}` }
}

/** Disconnects a repository. Rejects with CONFLICT naming the assignments that are active. */
export async function disconnectRepository(parts: GitParts, scope: Scope, id: number): Promise<void> {
  await changing(parts, scope, id, async (tx, now, repository) => {
    const assignments = await assignmentsFrom(scope, tx, id)
    if (assignments.length > 0) throw inUse(assignments.map((one) => one.id))
    await removeRepository(scope, tx, now, id)
    await noteRepository(scope, tx, now, 'repository.disconnected', repository)
  })
  await parts.sources.forget(`${scope.org_id}/${id}`)
}

function inUse(ids: readonly number[]): PlatformError {
  const shown = ids.slice(0, 20).join(', ')
  const more = ids.length > 20 ? ` and ${ids.length - 20} more` : ''
  const many = ids.length === 1 ? `assignment ${shown} uses` : `assignments ${shown}${more} use`
  const remedy = `remove ${ids.length === 1 ? 'it' : 'them'} first, with \`svc unassign-manifest ID\` or DELETE /api/v1/assignments/{id}`
  return new PlatformError('CONFLICT', `${many} this repository: ${remedy}`)
}

/** Changes the repository under the lock of the log. Rejects with NOT_FOUND. */
function changing(
  parts: GitParts,
  scope: Scope,
  id: number,
  change: (tx: Transaction, now: number, repository: RepositoryRow) => Promise<void>,
): Promise<void> {
  return changeAs(parts, scope, admins, async (tx, { now }) => {
    const repository = await lockRepository(scope, tx, id)
    if (repository === null) throw repositoryNotFound()
    await change(tx, now, repository)
  })
}
