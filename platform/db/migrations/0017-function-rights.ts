// Functions are executable by every user of the database unless that is revoked. Only what the application's role calls is left
// to it: the partitions of a month are made by their owner, at its request.
import type { Knex } from 'knex'

const rights = /* sql */ `
do $$ declare
  name regprocedure;
begin
  for name in select p.oid from pg_proc p where p.pronamespace = 'public'::regnamespace and p.proname like 'svc\\_%' loop
    execute format('revoke execute on function %s from public', name);
  end loop;
end $$;
grant execute on function svc_ensure_month(timestamptz) to svc_app;
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(rights)
}

export async function down(): Promise<void> {
  throw new Error('this migration only revokes rights: restore a backup instead')
}
