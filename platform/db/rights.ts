// What the user of a PostgreSQL server must be allowed to do before migrations can run: asked first, so that a start names the
// statements that are missing and not the one that failed.
import { PlatformError } from '../errors.js'
import { type Database, withUnscopedTransaction } from './db.js'

interface Rights {
  readonly user: string
  readonly database: string
  /** May make tables. */
  readonly may_create: boolean
  readonly may_make_role: boolean
  readonly has_role: boolean
  /** May become the role that isolates organizations, or let itself become it. */
  readonly may_become: boolean
}

/** Rejects with CONFLICT, whose message holds the statements that an administrator must run. */
export async function assertRights(db: Database): Promise<void> {
  if (db.kind !== 'postgresql') return
  const rights = await withUnscopedTransaction(db, async (tx) => {
    const [row] = await tx.query<Rights>(`
      select quote_ident(current_user) as user, current_database() as database,
        coalesce(has_schema_privilege(to_regnamespace('public'), 'create'), false) as may_create,
        u.rolsuper or u.rolcreaterole as may_make_role,
        r.oid is not null as has_role,
        u.rolsuper or coalesce(pg_has_role(r.oid, 'member'), false)
          or u.rolcreaterole and current_setting('server_version_num')::int < 160000 as may_become
      from pg_roles u left join pg_roles r on r.rolname = 'svc_app' where u.rolname = current_user`)
    return row
  })
  const statements = rights === undefined ? [] : missing(rights)
  if (rights === undefined || statements.length === 0) return
  throw new PlatformError(
    'CONFLICT',
    `the database user \`${rights.user}\` lacks rights: run this as an administrator in the database \`${rights.database}\`, then start again\n${statements.map((line) => `  ${line}\n`).join('')}`.trimEnd(),
  )
}

/** Whoever makes the role may grant it. */
function missing({ user, may_create, may_make_role, has_role, may_become }: Rights): string[] {
  const needsRole = !has_role && !may_make_role
  const needsGrant = needsRole || (has_role && !may_become)
  return [
    ...(needsGrant ? [`${needsRole ? 'create role svc_app nologin; ' : ''}grant svc_app to ${user};`] : []),
    ...(may_create ? [] : [`grant usage, create on schema public to ${user};`]),
  ]
}
