-- Up Migration
-- VF-6: the files themselves are objects outside Postgres; without `workspaces.follow` there are no rows.
create table workspaces (
  tenant_id  text not null references tenants,
  name       text not null,
  revision   int not null default 0,
  -- Digests of the newest revisions' roots, the newest first.
  roots      text[] not null default '{}',
  -- The worker that has it, or had it last.
  holder     text not null,
  -- Null when it was released.
  held_until timestamptz,
  -- Counts its holders, from the microsecond of the first. A workspace that is forgotten and made again thus continues
  -- above its old value.
  fence      bigint not null,
  -- The revision at which objects that nothing names were last removed.
  cleaned    int not null default 0,
  primary key (tenant_id, name)
);
