-- Up Migration
-- Schedules: messages at future instants, and the firings of each.
create table schedules (
  tenant_id        text not null,
  id               text not null,
  name             text not null,
  agent_key        text not null,
  user_id          text,
  message          text not null,
  -- Timing of features/schedules/schema/schedule.ts.
  timing           jsonb not null,
  -- Where it is posted; null means a session of the run's own.
  session_key      text,
  delete_after_run boolean not null,
  enabled          boolean not null,
  overlap          text not null check (overlap in ('skip','allow')),
  catchup_seconds  int not null,
  -- ScheduleRights of features/schedules/contract/schedule.ts.
  rights           jsonb not null,
  -- HeartbeatSettings of features/schedules/contract/heartbeat.ts for an agent's heartbeat; null for a plain schedule.
  heartbeat        jsonb,
  created_by       text not null,
  revision         int not null default 1,
  -- The revision that its Temporal Schedule has, and its last instant there.
  planned          int,
  planned_until    timestamptz,
  -- Who updates its Temporal Schedule now, and until when nobody else does.
  planner          text,
  planner_until    timestamptz,
  -- The first instant that no run has taken; null when none comes.
  next_at          timestamptz,
  created_at       timestamptz not null default clock_timestamp(),
  updated_at       timestamptz not null default clock_timestamp(),
  -- Its Temporal Schedule is deleted first, then the row.
  deleted_at       timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, agent_key) references agents (tenant_id, key)
);
create unique index schedules_by_name on schedules (tenant_id, agent_key, name) where deleted_at is null and heartbeat is null;
create unique index schedules_heartbeat on schedules (tenant_id, agent_key, coalesce(user_id, '')) where deleted_at is null and heartbeat is not null;
create index schedules_by_time on schedules (tenant_id, created_at desc, id);

-- `key` is the instant, or what identifies a requested run: none starts twice.
create table schedule_runs (
  tenant_id   text not null,
  schedule_id text not null,
  key         text not null,
  at          timestamptz not null,
  forced      boolean not null,
  -- Null until its message has been handed over. The last three are how the turn of a heartbeat ended.
  state       text check (state in ('started','skipped','refused','quiet','said','failed')),
  reason      text,
  session_key text,
  turn_id     text,
  -- For a heartbeat, whose turn is tried again when it fails.
  attempt     int not null default 1,
  created_at  timestamptz not null default clock_timestamp(),
  primary key (tenant_id, schedule_id, key),
  foreign key (tenant_id, schedule_id) references schedules (tenant_id, id) on delete cascade
);
create index schedule_runs_by_time on schedule_runs (tenant_id, schedule_id, created_at desc, key);
create index schedule_runs_by_session on schedule_runs (tenant_id, session_key) where session_key is not null;

-- Schedules of a deleted agent run no more.
create function end_schedules_of_agent() returns trigger
language plpgsql as $$
begin
  update schedules set deleted_at = now()
    where tenant_id = new.tenant_id and agent_key = new.key and deleted_at is null;
  return null;
end $$;
create trigger agents_end_schedules after update of deleted_at on agents
  for each row when (new.deleted_at is not null and old.deleted_at is null) execute function end_schedules_of_agent();
