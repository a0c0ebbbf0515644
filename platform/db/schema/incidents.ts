// Incidents, their occurrences and counts, the actions that answer them, and questions that a person approved late.
import { countedRows } from './counting.js'

const key =
  'org_id, policy_id, agent_id, state, severity, mode, scope, rule_type, manifest_id, policy_name, effect, code, reviewed_by'
const columns = `org_id, policy_id, agent_id, state, severity, mode, scope, rule_type, coalesce(manifest_id, '') as manifest_id, policy_name, effect, code, coalesce(reviewed_by, '') as reviewed_by`

/** Columns that filters of lists compare. */
const filtered =
  'state, severity, agent_id, task_id, step, policy_id, policy_name, rule_type, manifest_id, scope, mode, effect, code, reviewed_by'

/** Adds incidents, `n` each, with their occurrences to the counts. */
const addCounts = (rows: string) => /* sql */ `
    insert into incident_counts as c (${key}, incidents, occurrences, last_seen)
      select * from (select ${columns}, sum(i.n) as incidents, sum(i.n * i.occurrences) as occurrences,
          coalesce(max(i.last_seen) filter (where i.n > 0), '-infinity') as last_seen
        from (${rows}) i group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13) d
      where d.incidents <> 0 or d.occurrences <> 0
    on conflict (${key}) do update set incidents = c.incidents + excluded.incidents,
      occurrences = c.occurrences + excluded.occurrences, last_seen = greatest(c.last_seen, excluded.last_seen);`

const withOccurrences = /* sql */ `
    delete from incident_occurrences o using before_change b where o.org_id = b.org_id and o.incident_id = b.id;`

export const incidents = /* sql */ `
create table incidents (
  org_id text not null,
  id text not null,
  agent_id text not null,
  task_id text,
  log_id text,
  step bigint,
  log_index bigint not null default 0,
  -- Unique and ascending as the log index is, but by severity first, and then by whether a step ran.
  urgency bigint not null generated always as (
    (case severity when 'critical' then 8 when 'high' then 6 when 'medium' then 4 else 2 end
      + case when executed > 0 then 1 else 0 end) * 100000000000000 + log_index) stored,
  policy_id bigint not null,
  policy_name text not null,
  rule_type text not null,
  manifest_id text,
  severity text not null check (severity in ('low', 'medium', 'high', 'critical')),
  scope text not null check (scope in ('agent_registration', 'step_execution', 'task_execution')),
  state text not null check (state in ('open', 'active', 'resolved', 'ignored')),
  mode text not null check (mode in ('enforce', 'observe')),
  risk_score double precision not null,
  violation_details json not null,
  -- The code of the details, which filters compare.
  code text not null,
  occurrences integer not null check (occurrences > 0),
  -- Occurrences by effect; of the others it is not known.
  blocked integer not null default 0,
  executed integer not null default 0,
  -- The worst one: what ran, then what may have run.
  effect text not null generated always as (
    case when executed > 0 then 'executed' when blocked < occurrences then 'unknown' else 'blocked' end) stored,
  first_seen timestamptz(3) not null,
  last_seen timestamptz(3) not null,
  reviewed_by text,
  note text,
  history jsonb not null default '[]',
  primary key (org_id, id)
);
create unique index incidents_once on incidents (org_id, policy_id, agent_id, coalesce(task_id, ''))
  where state in ('open', 'active');
create index incidents_of_subject on incidents (org_id, policy_id, agent_id, task_id);
-- The first and the latest incident of a group, also with a filter.
create index incidents_of_group on incidents (org_id, policy_id, agent_id, code, effect, log_index)
  include (state, severity, reviewed_by);
-- An index that orders incidents includes the columns that filter them, so that a filter which matches few incidents reads
-- no rows of the table but those of its page.
create index incidents_written on incidents (org_id, log_index)
  include (${filtered});
create index incidents_by_severity on incidents (org_id, urgency) include (${filtered}, log_index);
create index incidents_of_state on incidents (org_id, state, log_index);
create index incidents_of_agent on incidents (org_id, agent_id, log_index);
create index incidents_of_task on incidents (org_id, task_id, log_index);

-- One row for each violation that an incident counts. A registration has no task and no step: '' and 0, which plain
-- comparisons and indexes can serve.
create table incident_occurrences (
  org_id text not null,
  incident_id text not null,
  number bigint not null,
  policy_id bigint not null,
  agent_id text not null,
  task_id text not null,
  step bigint not null,
  at timestamptz(3) not null,
  log_id text,
  -- The platform evaluated the step itself; otherwise an engine alone has reported it so far.
  is_evaluated boolean not null,
  evaluation_id text,
  -- The answer to the first report of it; null while no engine has reported it.
  reported_as text check (reported_as in ('new', 'counted', 'known')),
  -- Why an engine reported it, such as executed_although_blocked.
  reported_reason text,
  -- Whether the step ran (docs/adr/0060-effects.md).
  effect text not null default 'unknown' check (effect in ('blocked', 'executed', 'unknown')),
  -- A keyed hash of the action that an engine asked about, and when it asked; null once the question is settled.
  question bytea,
  asked_at timestamptz,
  -- The gate by which a person approved the action later, and the step that it was recorded as.
  approved_by_step bigint,
  settled_by_step bigint,
  primary key (org_id, incident_id, number)
);
create index incident_occurrences_of_step on incident_occurrences (org_id, task_id, step, policy_id, log_id);
create index incident_occurrences_of_evaluation on incident_occurrences (org_id, evaluation_id, policy_id)
  where evaluation_id is not null;
-- What engines alone have reported; each violation of a step is compared with it, and there is seldom any.
create index incident_occurrences_reported on incident_occurrences (org_id, task_id, step, policy_id) where not is_evaluated;
create index incident_occurrences_questions on incident_occurrences (org_id, task_id, question) where question is not null;

-- Steps that a gate approved, for questions whose reports arrive after them.
create table approved_steps (
  org_id text not null,
  task_id text not null,
  -- A keyed hash of the action: the digest itself could confirm a guess of erased content.
  action bytea not null,
  policy_id bigint not null,
  log_index bigint not null,
  agent_id text not null,
  approved_by_step bigint not null,
  step bigint not null,
  -- The earlier of the time that its sender states and of its arrival.
  at timestamptz not null,
  primary key (org_id, task_id, action, policy_id, log_index)
);
-- For the retention of the log.
create index approved_steps_index on approved_steps (org_id, log_index);

create table incident_counts (
  org_id text not null,
  policy_id bigint not null,
  agent_id text not null,
  state text not null,
  severity text not null,
  mode text not null,
  scope text not null,
  rule_type text not null,
  manifest_id text not null,
  policy_name text not null,
  effect text not null,
  code text not null,
  reviewed_by text not null,
  incidents bigint not null,
  occurrences bigint not null,
  -- When one of them was last seen; an incident that left, because its state or effect changed, may have been the last one.
  last_seen timestamptz(3) not null,
  primary key (${key})
);
create index incident_counts_of_agent on incident_counts (org_id, agent_id, state);

${countedRows({ what: 'incidents', table: 'incidents', counts: 'incident_counts', add: addCounts, on_delete: withOccurrences })}
-- Actions, which answer incidents, and their deliveries (docs/design/platform.md §8).
create table actions (
  org_id text not null,
  id text not null,
  name text not null,
  triggers text[] not null,
  min_severity text,
  agent_ids text[],
  policy_ids bigint[],
  kind text not null,
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
-- What waits for the receiver of an action, in order.
create index deliveries_waiting on deliveries (org_id, action_id, position) where state = 'pending';
create index deliveries_dead on deliveries (org_id, action_id) where state = 'dead';
create index deliveries_ended on deliveries (ended_at) where ended_at is not null;
`
