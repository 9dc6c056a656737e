-- Up Migration
-- Agents of other systems that agents of a tenant give work to. A deleted one is kept for a while, so that running calls
-- can report its deletion.
create table remote_agents (
  tenant_id   text not null references tenants,
  id          uuid not null,
  name        text not null,
  url         text not null,
  description text not null,
  -- The header Authorization, with `secret://NAME` in place of the credential.
  credential  text,
  revision    int not null default 1,
  updated_by  text not null,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  deleted_at  timestamptz,
  primary key (tenant_id, id)
);
create unique index remote_agents_by_name on remote_agents (tenant_id, name) where deleted_at is null;

-- The task that a call began there: only its own session may answer what it asks.
create table remote_agent_tasks (
  tenant_id   text not null,
  call_id     text not null,
  agent_id    uuid not null,
  session_key text not null,
  task_id     text not null,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, call_id)
);
create index remote_agent_tasks_of_session on remote_agent_tasks (tenant_id, session_key);
create index remote_agent_tasks_by_age on remote_agent_tasks (created_at);
