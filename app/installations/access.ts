// The access of the Git room through installations: which one covers a repository, and a token that can read its contents.
import {
  type AskGithub,
  type Database,
  type Installation,
  type Installations,
  notCovered,
  orNull,
  type Scope,
  SourceError,
  withTransaction,
} from '@svc/platform'
import { idIn, membersOf } from '../github/members.js'
import { metadataClient, type NarrowedParts } from '../github/repository-client.js'
import { findInstallation, type InstallationRow, listInstallations } from './installations-store.js'

interface Parts extends NarrowedParts {
  readonly db: Database
  /** The workspace that installations belong to. */
  readonly scope: Scope
  /** Requests of the App itself. */
  readonly asApp: AskGithub
}

const contents = { contents: 'read', metadata: 'read' } as const

export function installationAccess(parts: Parts): Installations {
  const { db, tokens, scope } = parts
  return {
    find: async ({ org_id }, owner, name) => {
      if (org_id !== scope.org_id) return null
      const known = await withTransaction(db, scope, (tx) => listInstallations(scope, tx))
      const candidates = known.filter(({ account }) => account.toLowerCase() === owner.toLowerCase())
      return candidates.length === 0 ? null : covering(parts, candidates, owner, name)
    },
    token: async (org_id, { installation_id, github_id }, rejected) => {
      if (org_id !== scope.org_id) throw notCovered()
      const known = await withTransaction(db, scope, (tx) => findInstallation(scope, tx, installation_id))
      if (known === null) throw notCovered()
      if (known.is_suspended) throw suspended(known)
      return tokens.tokenFor({ installation_id, github_id, permissions: contents }, rejected)
    },
  }
}

/** The installation of the repository, if it is one of the candidates. Rejects with SourceError. */
async function covering(
  parts: Parts,
  candidates: readonly InstallationRow[],
  owner: string,
  name: string,
): Promise<Installation | null> {
  const path = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`
  const found = await orNull(parts.asApp({ path: `${path}/installation` }))
  const installation_id = idIn(membersOf(found?.body))
  const own = candidates.find((one) => one.installation_id === installation_id && !one.is_suspended)
  if (own === undefined) return null
  const repository = await orNull(metadataClient(parts, own.installation_id)({ path }))
  const github_id = idIn(membersOf(repository?.body))
  return github_id === null ? null : { installation_id: own.installation_id, github_id }
}

function suspended({ account }: InstallationRow): SourceError {
  const message = `the installation of the GitHub App on ${account} is suspended: unsuspend it in the settings of that account, under \`GitHub Apps\``
  return new SourceError('access_revoked', message)
}
