-- Up Migration
-- Tools that a tenant makes from shell commands (CU-1): global, or of one agent. A deleted one is kept for a while, so
-- that running calls can report its deletion.
create table custom_tools (
  tenant_id       text not null references tenants,
  id              uuid not null,
  name            text not null,
  description     text not null,
  parameters      jsonb not null,
  command         text not null,
  working_dir     text,
  timeout_seconds int not null,
  agent_key       text,
  enabled         boolean not null,
  replay          text not null check (replay in ('readonly','idempotent','once')),
  env_names       text[] not null default '{}',
  revision        int not null default 1,
  created_by      text not null,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  deleted_at      timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, agent_key) references agents (tenant_id, key)
);
create unique index custom_tools_by_name on custom_tools (tenant_id, name, coalesce(agent_key, ''))
  where deleted_at is null;

-- The variables that only the command sees, as one sealed text (CU-2).
create table custom_tool_env (
  tenant_id text not null,
  tool_id   uuid not null,
  sealed    text not null,
  key_id    text not null,
  primary key (tenant_id, tool_id),
  foreign key (tenant_id, tool_id) references custom_tools (tenant_id, id) on delete cascade
);
