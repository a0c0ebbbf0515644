// Actions, which answer incidents, and their deliveries (docs/design/platform.md §8).
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const actions = /* sql */ `
create table actions (
  org_id text not null,
  id text not null,
  name text not null,
  triggers text[] not null,
  min_severity text,
  agent_ids text[],
  policy_ids bigint[],
  kind text not null check (kind in ('webhook', 'email', 'slack')),
  -- As it is shown; the address of a receiver is a secret of its own.
  config jsonb not null,
  sealed_target text,
  sealed_secret text,
  sealed_previous_secret text,
  previous_secret_until timestamptz(3),
  enabled boolean not null,
  -- Attempts in a row without a receiver, and when the next one is due; null while it can be reached.
  failures integer not null default 0,
  retry_at timestamptz(3),
  receiver_error text,
  created_at timestamptz(3) not null,
  created_by text not null,
  updated_at timestamptz(3) not null,
  deleted_at timestamptz(3),
  primary key (org_id, id)
);
create index actions_enabled on actions (org_id) where enabled and deleted_at is null;
select svc_isolate('actions');
`

const deliveries = /* sql */ `
create table deliveries (
  org_id text not null,
  id text not null,
  -- In the order of what caused them.
  position bigint not null,
  action_id text not null,
  type text not null,
  subject_kind text not null,
  subject_id text not null,
  -- The same cause is delivered once.
  once text,
  -- The bytes of each attempt.
  body text not null,
  state text not null check (state in ('pending', 'delivered', 'dead', 'cancelled')),
  attempts integer not null default 0,
  created_at timestamptz(3) not null,
  next_attempt_at timestamptz(3) not null,
  -- Set by the first attempt, also by one for another delivery when the receiver cannot be reached.
  give_up_at timestamptz(3),
  claim text,
  -- By the clock of the database, because processes compare it.
  claimed_until timestamptz(3),
  last_attempt_at timestamptz(3),
  ended_at timestamptz(3),
  response_status integer,
  error text,
  primary key (org_id, id)
);
create unique index deliveries_in_order on deliveries (org_id, position);
create index deliveries_of_action on deliveries (org_id, action_id, position);
create unique index deliveries_once on deliveries (org_id, action_id, once) where once is not null;
create index deliveries_pending on deliveries (org_id, action_id, subject_id, position) where state = 'pending';
create index deliveries_dead on deliveries (org_id, action_id) where state = 'dead';
create index deliveries_ended on deliveries (ended_at) where ended_at is not null;
select svc_isolate('deliveries');
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(actions)
  await knex.raw(deliveries)
}
