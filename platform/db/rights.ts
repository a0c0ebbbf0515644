// The rights that migrations need on a PostgreSQL server: checked first, so that the start prints the statements that grant
// them instead of the statement that failed.
import { PlatformError } from '../errors.js'
import { type Database, withUnscopedTransaction } from './db.js'

interface Rights {
  readonly user: string
  readonly database: string
  /** Can create tables. */
  readonly can_create: boolean
  readonly can_create_role: boolean
  readonly role_exists: boolean
  /** True if the tables of this program exist. */
  readonly has_tables: boolean
  /** Is a member of the role that isolates organizations, or can grant it to itself. */
  readonly can_become: boolean
}

/** Rejects with CONFLICT, whose message holds the statements that an administrator must run. */
export async function assertRights(db: Database): Promise<void> {
  if (db.kind !== 'postgresql') return
  const rights = await withUnscopedTransaction(db, async (tx) => {
    const [row] = await tx.query<Rights>(`
      select quote_ident(current_user) as user, current_database() as database,
        coalesce(has_schema_privilege(to_regnamespace('public'), 'create'), false) as can_create,
        u.rolsuper or u.rolcreaterole as can_create_role,
        r.oid is not null as role_exists, to_regclass('public.org_log') is not null as has_tables,
        u.rolsuper or coalesce(pg_has_role(r.oid, 'member'), false)
          or u.rolcreaterole and current_setting('server_version_num')::int < 160000 as can_become
      from pg_roles u left join pg_roles r on r.rolname = 'svc_app' where u.rolname = current_user`)
    return row
  })
  if (rights !== undefined && !rights.role_exists && rights.has_tables) throw roleLost(rights.user)
  const statements = rights === undefined ? [] : missing(rights)
  if (rights === undefined || statements.length === 0) return
  throw new PlatformError(
    'CONFLICT',
    `the database user \`${rights.user}\` lacks rights: run these statements as an administrator in the database \`${rights.database}\`, then start again\n${statements.map((line) => `  ${line}\n`).join('')}`.trimEnd(),
  )
}

/** CONFLICT: roles belong to the server, so that the dump of a database lacks them, and its rights cannot be restored without. */
function roleLost(user: string): PlatformError {
  return new PlatformError(
    'CONFLICT',
    `the role \`svc_app\` is missing on this server, and the rights of the tables with it: run \`create role svc_app nologin; grant svc_app to ${user};\` as an administrator, restore the backup into an empty database, then start again`,
  )
}

/** The statements that grant the missing rights; a user who creates the role can also grant it. */
function missing(rights: Rights): string[] {
  const { user, can_create, can_create_role, role_exists, can_become } = rights
  const needsRole = !role_exists && !can_create_role
  const needsGrant = needsRole || (role_exists && !can_become)
  return [
    ...(needsGrant ? [`${needsRole ? 'create role svc_app nologin; ' : ''}grant svc_app to ${user};`] : []),
    ...(can_create ? [] : [`grant usage, create on schema public to ${user};`]),
  ]
}
