// Every user of the database can execute functions until that is revoked. The application's role keeps only the function
// that creates the partitions of a month, which runs as its owner.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

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
