// The data of proofs: inner nodes of each log's tree, signed checkpoints, and their keys.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const tables = /* sql */ `
-- The hash of every full subtree of 256^level leaves: with the leaves themselves, 257/256 rows per leaf are enough to
-- make every proof by reading a few blocks of 256.
create table log_tiles (
  org_id text not null,
  level smallint not null check (level between 1 and 6),
  index bigint not null,
  hash text not null,
  primary key (org_id, level, index)
);

create table checkpoints (
  org_id text not null,
  incarnation integer not null,
  size bigint not null,
  root text not null,
  note text not null,
  published_at timestamptz(3) not null,
  primary key (org_id, incarnation, size, published_at)
);

alter table org_log
  add column incarnation integer not null default 1,
  add column checkpoint_size bigint not null default 0,
  add column checkpoint_root text not null default 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  add column checkpoint_at timestamptz(3);

-- The name of this installation in checkpoints and the key that signs them, fixed at the first start with a key.
create table svc_log_identity (
  only_one boolean primary key default true check (only_one),
  log_host text not null,
  public_key text not null
);
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables)
}
