-- Up Migration
-- Programs that run tools written in TypeScript: each is a Temporal worker on a task queue of its own.
create table tool_hosts (
  tenant_id  text not null references tenants,
  name       text not null,
  -- The key that seals its payloads, and the master key that sealed it.
  sealed     text not null,
  key_id     text not null,
  -- Digest of its tools' sources: calls go only to processes that have these.
  version    text not null,
  updated_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, name)
);

-- A deleted one is kept for a while, so that running calls can report its deletion.
create table code_tools (
  tenant_id  text not null references tenants,
  id         uuid not null,
  host       text not null,
  name       text not null,
  definition jsonb not null,
  revision   int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (tenant_id, id)
);
create unique index code_tools_by_name on code_tools (tenant_id, name) where deleted_at is null;
create index code_tools_by_host on code_tools (tenant_id, host) where deleted_at is null;
