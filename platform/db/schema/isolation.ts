// Isolation of tenants in the database: transactions of an organization run as a role that sees only the rows of the
// organization that the transaction has set, and no rows until then.

/** The role, and the function that gives it a table: a later migration calls it for its tables with rows of tenants. */
export const role = /* sql */ `
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

-- The subselect runs once per statement, not once per row.
create function svc_isolate(name regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', name);
  execute format('create policy of_one_organization on %s to svc_app
    using (org_id = (select current_setting(''app.org_id'', true)))
    with check (org_id = (select current_setting(''app.org_id'', true)))', name);
  execute format('grant select, insert, update, delete on %s to svc_app', name);
end $$;
`

/** Isolates every table of the first schema that has rows of tenants. */
export const isolation = /* sql */ `
select svc_isolate(c.oid::regclass) from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id'
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition;
revoke update, delete on events from svc_app;

-- Every user of the database can execute functions until that is revoked. The application's role keeps only the function
-- that creates the partitions of a month, which runs as its owner.
do $$ declare
  name regprocedure;
begin
  for name in select p.oid from pg_proc p where p.pronamespace = 'public'::regnamespace and p.proname like 'svc\\_%' loop
    execute format('revoke execute on function %s from public', name);
  end loop;
end $$;
grant execute on function svc_ensure_month(timestamptz) to svc_app;
`
