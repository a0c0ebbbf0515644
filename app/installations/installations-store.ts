// Installations of the GitHub App in a workspace.
import type { Scope, Transaction } from '@svc/platform'
import { isoTime } from '@svc/schemas'

export interface InstallationRow {
  readonly installation_id: number
  readonly account: string
  readonly is_suspended: boolean
}

const columns = 'installation_id, account, suspended_at is not null as is_suspended'

interface Saved {
  readonly installation_id: number
  readonly account: { readonly id: number; readonly login: string }
  readonly is_suspended: boolean
}

/** Adds or changes an installation. `now` in ms since 1970. */
export async function saveInstallation(
  scope: Scope,
  tx: Transaction,
  now: number,
  { installation_id, account, is_suspended }: Saved,
): Promise<void> {
  await tx.query(
    `insert into github_installations (org_id, installation_id, account_id, account, suspended_at, created_at)
     values ($1, $2, $3, $4, case when $5 then $6::timestamptz end, $6)
     on conflict (org_id, installation_id) do update set account_id = excluded.account_id, account = excluded.account,
       removed_at = null,
       suspended_at = case when $5 then coalesce(github_installations.suspended_at, excluded.suspended_at) end`,
    [scope.org_id, installation_id, account.id, account.login, is_suspended, isoTime(now)],
  )
}

/** Ends an installation; without effect for one that the workspace does not have. */
export async function endInstallation(
  scope: Scope,
  tx: Transaction,
  now: number,
  installation_id: number,
): Promise<void> {
  await tx.query(
    `update github_installations set removed_at = $3
     where org_id = $1 and installation_id = $2 and removed_at is null`,
    [scope.org_id, installation_id, isoTime(now)],
  )
}

/** Null for an installation that the workspace does not have, or no longer. */
export async function findInstallation(
  scope: Scope,
  tx: Transaction,
  installation_id: number,
): Promise<InstallationRow | null> {
  const [row] = await tx.query<InstallationRow>(
    `select ${columns} from github_installations where org_id = $1 and installation_id = $2 and removed_at is null`,
    [scope.org_id, installation_id],
  )
  return row ?? null
}

export async function listInstallations(scope: Scope, tx: Transaction): Promise<InstallationRow[]> {
  return tx.query<InstallationRow>(
    `select ${columns} from github_installations where org_id = $1 and removed_at is null order by installation_id`,
    [scope.org_id],
  )
}
