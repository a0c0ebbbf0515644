// Who wrote what agents read from their memories: digests of names and texts, and the labels of recorded reads.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const tables = /* sql */ `
-- One row for each name or text that an agent wrote, by keyed digest.
create table memory_marks (
  org_id text not null,
  agent_id text not null,
  digest text collate "C" not null,
  label text not null check (label in ('own', 'third_party', 'public')),
  primary key (org_id, agent_id, digest)
);

create table memory_agents (
  org_id text not null,
  agent_id text not null,
  marks bigint not null,
  worst text check (worst in ('third_party', 'public')),
  overflow boolean not null,
  primary key (org_id, agent_id)
);

-- The labels of steps that read memory. Paths of parts hold keys of the output: an erasure leaves the least trusted label alone.
create table memory_reads (
  org_id text not null,
  log_index bigint not null,
  least text not null check (least in ('third_party', 'public')),
  labels jsonb not null,
  primary key (org_id, log_index)
);

select svc_isolate('memory_marks'), svc_isolate('memory_agents'), svc_isolate('memory_reads');
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables)
}
