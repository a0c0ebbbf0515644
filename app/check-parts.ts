// The parts of a check of one repository: what it may read, the one thing that it may write, and read-only snapshots.
import {
  type Database,
  type InstalledRow,
  impactOf,
  installedRepositories,
  type ReadingParts,
  type Scope,
  withSnapshot,
  withTransaction,
} from '@svc/platform'
import type { CheckParts } from './check/parts.js'
import type { Api } from './github/api.js'
import { checksPermissions, createChecks } from './github/checks.js'
import { asSource } from './github/errors.js'
import type { InstallationTokens } from './github/installation-tokens.js'
import { createReader, readerPermissions } from './github/reader.js'
import { type InstalledAt, repositoryClient } from './github/repository-client.js'

export interface CheckingParts {
  readonly reading: Pick<ReadingParts, 'db' | 'clock' | 'sources'>
  readonly scope: Scope
  readonly api: Api
  readonly tokens: InstallationTokens
  readonly app_id: number
  /** Of the REST API. */
  readonly api_url: string
}

/** `signal` ends a replay. */
export function checkParts(parts: CheckingParts, target: InstalledAt, signal: AbortSignal): CheckParts {
  const { reading, scope, app_id, api_url } = parts
  const { db, clock, sources } = reading
  const { owner, name } = target
  const reader = repositoryClient(parts, target, readerPermissions)
  const address = { provider: 'github' as const, owner, name, branch: null, url: null, token: null }
  const source = sources.open({ ...address, app_token: () => asSource(reader.token()) }, `${scope.org_id}/check`)
  return {
    reader: createReader(reader, source),
    checks: createChecks(repositoryClient(parts, target, checksPermissions), app_id),
    followed: async (branch) => {
      const rows = await connectionsOf(db, scope, target)
      return rows.find((row) => row.branch === branch) ?? null
    },
    impactOf: (request, seed) =>
      impactOf((work) => withSnapshot(db, scope, work), scope, request, { clock, seed, signal }),
    web_url: `${webAddressOf(api_url)}/${owner}/${name}`,
    clock,
  }
}

function connectionsOf(
  db: Database,
  scope: Scope,
  { installation_id, github_id }: InstalledAt,
): Promise<InstalledRow[]> {
  return withTransaction(db, scope, (tx) =>
    installedRepositories(scope, tx, { installation_id, github_ids: [github_id] }),
  )
}

/** Where people see what the REST API describes: GitHub Enterprise Server has its API below `/api/v3`. */
export function webAddressOf(api_url: string): string {
  return api_url === 'https://api.github.com' ? 'https://github.com' : api_url.replace(/\/api\/v3$/, '')
}
