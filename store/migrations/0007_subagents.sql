-- Up Migration
-- Subagents (SA-*). A row that is queued or running is the lease that the limits count.
create table subagents (
  tenant_id      text not null references tenants,
  id             text not null,
  parent_session text not null,
  parent_turn    text not null,
  parent_call    text not null,
  session_key    text not null,
  depth          int not null,
  agent_key      text not null,
  user_id        text,
  label          text not null,
  task           text not null,
  -- Whose turn waits for it (sync), or nobody's.
  mode           text not null check (mode in ('async', 'sync')),
  announce       text not null check (announce in ('queue', 'steer')),
  -- Goes on when its parent's session is stopped.
  detached       boolean not null default false,
  timeout_seconds int not null,
  -- The parent turn's context, for the message that tells of the end; and what binds the subagent's own turns.
  context        jsonb not null,
  bound          jsonb not null,
  status         text not null check (status in ('queued','running','completed','failed','cancelled','timeout')),
  result         text,
  error          jsonb,
  iterations     int not null default 0,
  input_tokens   bigint not null default 0,
  output_tokens  bigint not null default 0,
  stopped_by     text,
  replaced_by    text,
  -- Workflow that waits for its end.
  waiter         text,
  -- Who has told the parent: a subagent, a call, or 'nobody' when it need not be told.
  told_by        text,
  created_at     timestamptz not null default now(),
  started_at     timestamptz,
  ended_at       timestamptz,
  primary key (tenant_id, id)
);
create index subagents_active on subagents (tenant_id, parent_session) where ended_at is null;
create index subagents_by_parent on subagents (tenant_id, parent_session, created_at desc);
create index subagents_untold on subagents (tenant_id, parent_session) where ended_at is not null and told_by is null;
create unique index subagents_by_session on subagents (tenant_id, session_key);

-- What is bound to a session holds for each of its turns, whatever their messages say.
alter table sessions add column bound_context jsonb;
