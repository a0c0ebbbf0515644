// Isolation of tenants in the database: transactions of an organization run as a role that sees only the rows of the
// organization that the transaction has set, and no rows until then.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const functions = /* sql */ `
do $$ begin
  -- Roles belong to the whole server: another database may have created this one, or be creating it now.
  if not exists (select 1 from pg_roles where rolname = 'svc_app') then
    create role svc_app nologin;
  end if;
exception
  when duplicate_object or unique_violation then null;
  when insufficient_privilege then
    raise exception 'the role svc_app is missing: have an administrator of the database run "create role svc_app nologin; grant svc_app to %"', current_user;
end $$;
do $$ begin
  if not (select rolsuper from pg_roles where rolname = current_user) and not pg_has_role(current_user, 'svc_app', 'member') then
    execute format('grant svc_app to %I', current_user);
  end if;
exception when insufficient_privilege then
  raise exception 'this user cannot become svc_app: have an administrator of the database run "grant svc_app to %"', current_user;
end $$;
grant usage on schema public to svc_app;

-- Gives the role access to a table with rows of tenants; called when the table is created. The subselect runs once per
-- statement, not once per row.
create function svc_isolate(name regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', name);
  execute format('create policy of_one_organization on %s to svc_app
    using (org_id = (select current_setting(''app.org_id'', true)))
    with check (org_id = (select current_setting(''app.org_id'', true)))', name);
  execute format('grant select, insert, update, delete on %s to svc_app', name);
end $$;

select svc_isolate(c.oid::regclass) from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id'
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition;
revoke update, delete on events from svc_app;

-- The owner of the partitions creates them, not the role that needs them.
alter function svc_ensure_month(timestamptz) security definer;
alter function svc_ensure_month(timestamptz) set search_path = public, pg_temp;
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(functions)
}
