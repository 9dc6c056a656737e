-- Up Migration
-- Calls that are held back before they start, until the freeze is lifted (DU-11).
create table freezes (
  tenant_id      text not null references tenants,
  id             text not null,
  reason         text not null,
  -- Null for every agent, and for every revision of the agent.
  agent_key      text,
  agent_revision int check (agent_revision is null or agent_key is not null),
  -- Patterns of tools; null for all calls of tools and models.
  tools          text[],
  created_by     text not null,
  created_at     timestamptz not null default now(),
  lifted_by      text,
  lifted_at      timestamptz,
  primary key (tenant_id, id),
  check ((lifted_by is null) = (lifted_at is null))
);
create index freezes_in_force on freezes (tenant_id) where lifted_at is null;
