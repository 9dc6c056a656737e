-- Up Migration
-- Objects of deleted rows of files, until the objects are gone and every process that wrote them has ended.
create table gone_objects (
  tenant_id text not null,
  id        bigint not null generated always as identity,
  digest    text not null,
  made      uuid not null,
  removed_at timestamptz,
  primary key (tenant_id, id)
);

-- Files that people and models exchange.
create table artifacts (
  tenant_id  text not null references tenants,
  -- Derived from tenant, user, name and bytes: the same file uploaded again is the same artifact.
  id         text not null,
  -- Null means the tenant's, for anybody who knows the id.
  user_id    text,
  -- The type that its bytes show.
  type       text not null,
  filename   text,
  digest     text not null,
  size       int not null,
  -- Pixels of an image that models may see.
  width      int,
  height     int,
  created_at timestamptz not null default now(),
  -- When it was last uploaded; retention counts from this time.
  brought_at timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, digest) references files (tenant_id, digest) on delete cascade
);
create index artifacts_by_age on artifacts (tenant_id, brought_at);
create index artifacts_of_bytes on artifacts (tenant_id, digest);
create index artifacts_of_user on artifacts (tenant_id, user_id);
