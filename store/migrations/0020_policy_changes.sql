-- Up Migration
-- Each change of a tenant's policy: who made it, and from what to what.
create table policy_changes (
  tenant_id  text not null references tenants,
  id         bigint generated always as identity,
  before     jsonb,
  after      jsonb not null,
  changed_by text not null,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id)
);
