// The queue of work (docs/adr/0040-jobs.md). Its rows belong to no organization, and the role of organizations cannot read them.

export const jobs = /* sql */ `
create table jobs (
  id bigint generated always as identity primary key,
  name text not null,
  -- Null: the job waits beside others of its name.
  key text,
  data jsonb not null default '{}',
  is_urgent boolean not null default false,
  -- By the clock of the platform, as all times at which something is due.
  run_at timestamptz(3) not null default now(),
  -- Runs that have begun, and how many may follow a failed first one.
  attempts integer not null default 0,
  retries integer not null default 3,
  started_at timestamptz(3),
  -- The process that runs it; null while it waits.
  process_id text
);
create unique index jobs_once on jobs (name, key) where started_at is null;
create index jobs_of_key on jobs (name, key, id) where key is not null;
create index jobs_waiting on jobs (name, run_at) where process_id is null;
create index jobs_running on jobs (process_id) where process_id is not null;

create table job_processes (
  id text primary key,
  -- By the clock of the database, because processes compare it.
  seen_at timestamptz(3) not null
);

create table job_runs (
  name text primary key,
  -- The minute of the schedule that was sent last.
  due_at timestamptz(3),
  started_at timestamptz(3),
  completed_at timestamptz(3),
  failed_at timestamptz(3),
  last_error text
);
`
