-- Up Migration
-- Teams (TE-*). A task's workflow decides and writes its row here, for readers and for its own next run.
create table teams (
  tenant_id   text not null references tenants,
  key         text not null,
  name        text,
  description text,
  lead        text not null,
  settings    jsonb not null default '{}',
  -- The newest task's number; a team that was deleted and made again goes on from it, since a number names a workflow.
  task_seq    int not null default 0,
  created_by  text,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  deleted_at  timestamptz,
  primary key (tenant_id, key),
  foreign key (tenant_id, lead) references agents (tenant_id, key)
);
create index teams_by_lead on teams (tenant_id, lead) where deleted_at is null;

create table team_members (
  tenant_id text not null,
  team_key  text not null,
  agent_key text not null,
  added_at  timestamptz not null default now(),
  primary key (tenant_id, team_key, agent_key),
  foreign key (tenant_id, team_key) references teams (tenant_id, key),
  foreign key (tenant_id, agent_key) references agents (tenant_id, key)
);
create index team_members_by_agent on team_members (tenant_id, agent_key);

create table team_tasks (
  tenant_id      text not null,
  team_key       text not null,
  number         int not null,
  subject        text not null,
  description    text not null default '',
  status         text not null check (status in
                   ('pending','in_progress','in_review','blocked','completed','failed','cancelled','stale')),
  assignee       text,
  owner          text,
  priority       int not null default 0,
  percent        int not null default 0,
  reason         text,
  result         text,
  -- All that the workflow decides by; its revision is the newest event's.
  state          jsonb not null,
  revision       int not null,
  -- The lead's turn that made it: its request. Told: the message that has brought its end to the lead.
  origin_session text,
  origin_turn    text,
  origin_context jsonb not null default '{}',
  told_by        int,
  -- Of the call or the request that made it, so that a repeat makes one.
  create_key     text not null,
  created_by     text not null,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  started_at     timestamptz,
  closed_at      timestamptz,
  words          tsvector generated always as
                   (to_tsvector('simple', subject || ' ' || left(description, 20000))) stored,
  primary key (tenant_id, team_key, number),
  foreign key (tenant_id, team_key) references teams (tenant_id, key)
);
create unique index team_tasks_once on team_tasks (tenant_id, team_key, create_key);
create index team_tasks_by_status on team_tasks (tenant_id, team_key, status, number desc);
create index team_tasks_of_turn on team_tasks (tenant_id, origin_turn) where origin_turn is not null;
create index team_tasks_by_words on team_tasks using gin (words);

-- What a task waits for.
create table team_task_blockers (
  tenant_id text not null,
  team_key  text not null,
  number    int not null,
  blocker   int not null,
  primary key (tenant_id, team_key, number, blocker),
  foreign key (tenant_id, team_key, number) references team_tasks (tenant_id, team_key, number),
  foreign key (tenant_id, team_key, blocker) references team_tasks (tenant_id, team_key, number)
);
create index team_task_blockers_back on team_task_blockers (tenant_id, team_key, blocker);

-- The audit (TE-4): one a change, by its revision.
create table team_task_events (
  tenant_id text not null,
  team_key  text not null,
  number    int not null,
  revision  int not null,
  id        bigint generated always as identity,
  action    text not null,
  actor     text not null,
  reason    text,
  status    text not null,
  owner     text,
  at        timestamptz not null default clock_timestamp(),
  primary key (tenant_id, team_key, number, revision)
);
create index team_task_events_in_order on team_task_events (tenant_id, team_key, id desc);

-- Texts about a task. One is written before the update that brings it, and shown when the workflow has taken it.
create table team_comments (
  tenant_id  text not null,
  id         text not null,
  team_key   text not null,
  number     int not null,
  kind       text check (kind in ('note','blocker','result','reason','question')),
  author     text not null,
  text       text not null,
  revision   int,
  created_at timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index team_comments_of_task on team_comments (tenant_id, team_key, number, created_at) where revision is not null;

create table team_messages (
  tenant_id  text not null,
  id         text not null,
  team_key   text not null,
  sender     text not null,
  addressee  text not null,
  text       text not null,
  created_at timestamptz not null default clock_timestamp(),
  read_at    timestamptz,
  primary key (tenant_id, id)
);
create index team_messages_unread on team_messages (tenant_id, team_key, addressee, created_at) where read_at is null;

-- Bytes, stored once by digest (SHA-256), and where they are attached.
create table files (
  tenant_id  text not null references tenants,
  digest     text not null,
  bytes      bytea not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, digest)
);
create table team_task_files (
  tenant_id  text not null,
  id         text not null,
  team_key   text not null,
  number     int not null,
  digest     text not null,
  name       text not null,
  size       int not null,
  author     text not null,
  revision   int,
  created_at timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, digest) references files (tenant_id, digest)
);
create index team_task_files_of_task on team_task_files (tenant_id, team_key, number) where revision is not null;
