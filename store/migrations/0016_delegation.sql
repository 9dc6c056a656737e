-- Up Migration
-- Who may hand work to whom (DE-1). `settings` is judged when the link is used, and refuses when it cannot be read.
create table agent_links (
  tenant_id      text not null references tenants,
  id             text not null,
  source_key     text not null,
  target_key     text not null,
  direction      text not null check (direction in ('outbound', 'inbound', 'bidirectional')),
  status         text not null check (status in ('active', 'disabled')),
  max_concurrent int not null default 0 check (max_concurrent >= 0),
  settings       jsonb not null default '{}',
  description    text,
  created_by     text,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, source_key) references agents (tenant_id, key),
  foreign key (tenant_id, target_key) references agents (tenant_id, key),
  check (source_key <> target_key)
);
create unique index agent_links_by_pair on agent_links (tenant_id, source_key, target_key);
create index agent_links_by_target on agent_links (tenant_id, target_key);

-- Work that one agent gave to another (DE-2). A row that is queued or running is the lease that the limits count.
create table delegations (
  tenant_id      text not null references tenants,
  id             text not null,
  -- Who gave it, where; whom the result is told.
  origin_session text not null,
  origin_turn    text not null,
  origin_call    text not null,
  link_id        text,
  source_key     text not null,
  target_key     text not null,
  session_key    text not null,
  depth          int not null,
  user_id        text,
  label          text not null,
  task           text not null,
  mode           text not null check (mode in ('async', 'sync')),
  timeout_seconds int not null,
  -- The origin turn's context, for the message that tells of the end; and what binds the target's turns.
  context        jsonb not null,
  bound          jsonb not null,
  -- Of the target, as they were when the work was given (DE-6).
  gates          jsonb not null default '[]',
  status         text not null check (status in ('queued','running','completed','failed','cancelled','timeout')),
  result         text,
  error          jsonb,
  -- Of gates that let it pass all the same.
  warnings       jsonb not null default '[]',
  iterations     int not null default 0,
  input_tokens   bigint not null default 0,
  output_tokens  bigint not null default 0,
  stopped_by     text,
  -- Who has told the origin: a delegation, a call, or 'nobody' when it need not be told.
  told_by        text,
  created_at     timestamptz not null default now(),
  started_at     timestamptz,
  ended_at       timestamptz,
  primary key (tenant_id, id)
);
create index delegations_active on delegations (tenant_id, target_key) where ended_at is null;
create index delegations_open on delegations (tenant_id, origin_session) where ended_at is null;
create index delegations_untold on delegations (tenant_id, origin_session) where ended_at is not null and told_by is null;
create index delegations_by_source on delegations (tenant_id, source_key, created_at desc, id);
create index delegations_by_time on delegations (tenant_id, created_at desc, id);
create unique index delegations_by_session on delegations (tenant_id, session_key);

-- Each run of a gate (DE-6): what it found of which attempt, and what followed.
create table gate_checks (
  tenant_id  text not null references tenants,
  -- The delegation, task or turn that was judged.
  owner_id   text not null,
  gate       int not null,
  attempt    int not null,
  name       text not null,
  kind       text not null check (kind in ('passed', 'failed', 'broken')),
  step       text not null check (step in ('pass', 'retry', 'warn', 'block')),
  feedback   text not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, owner_id, gate, attempt)
);

-- Rounds of making and judging (DE-4).
create table evaluations (
  tenant_id      text not null references tenants,
  id             text not null,
  origin_session text not null,
  origin_turn    text not null,
  origin_call    text not null,
  generator_key  text not null,
  evaluator_key  text not null,
  user_id        text,
  label          text not null,
  task           text not null,
  criteria       text,
  context_text   text,
  max_rounds     int not null,
  context        jsonb not null,
  depth          int not null,
  status         text not null check (status in ('running','approved','not_approved','failed','cancelled')),
  error          jsonb,
  stopped_by     text,
  created_at     timestamptz not null default now(),
  ended_at       timestamptz,
  primary key (tenant_id, id)
);
create index evaluations_by_time on evaluations (tenant_id, created_at desc, id);
create index evaluations_open on evaluations (tenant_id, origin_session) where ended_at is null;

create table evaluation_rounds (
  tenant_id     text not null,
  evaluation_id text not null,
  round         int not null,
  draft         text not null,
  verdict       text check (verdict in ('approved', 'rejected')),
  feedback      text,
  created_at    timestamptz not null default now(),
  ended_at      timestamptz,
  primary key (tenant_id, evaluation_id, round),
  foreign key (tenant_id, evaluation_id) references evaluations (tenant_id, id)
);

-- Where the messages of a chat go (DE-5).
create table handoff_routes (
  tenant_id   text not null references tenants,
  channel     text not null,
  chat_id     text not null,
  from_key    text not null,
  to_key      text not null,
  session_key text not null,
  reason      text not null,
  -- Agents that have had the chat since a person last said something, oldest first.
  path        jsonb not null,
  created_by  text not null,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, channel, chat_id)
);

-- Agents that this one may give work to, so that a step of an agent without links asks no further (DE-3).
alter table agents add column links int not null default 0;

create function count_agent_links() returns trigger
language plpgsql as $$
begin
  update agents a set links = (select count(*) from agent_links l where l.tenant_id = a.tenant_id and l.status = 'active'
      and ((l.source_key = a.key and l.direction <> 'inbound') or (l.target_key = a.key and l.direction <> 'outbound')))
    where (a.tenant_id, a.key) in ((new.tenant_id, new.source_key), (new.tenant_id, new.target_key),
                                   (old.tenant_id, old.source_key), (old.tenant_id, old.target_key));
  return null;
end $$;
create trigger agent_links_count after insert or update or delete on agent_links
  for each row execute function count_agent_links();
