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

-- Bytes of a user's artifacts together ('' for the tenant's own), so that an upload need not add them all up.
create table artifact_sizes (
  tenant_id text not null references tenants,
  user_id   text not null,
  bytes     bigint not null,
  primary key (tenant_id, user_id)
) with (fillfactor = 50);

-- Counts whatever adds or removes artifacts. Users are counted in one order. Nobody without artifacts has a row.
create function count_artifacts() returns trigger
language plpgsql as $$
begin
  insert into artifact_sizes
    select tenant_id, coalesce(user_id, ''), sum(case tg_op when 'DELETE' then -size else size end)
      from changed group by 1, 2 order by 1, 2
    on conflict (tenant_id, user_id) do update set bytes = artifact_sizes.bytes + excluded.bytes;
  if tg_op = 'DELETE' then
    delete from artifact_sizes s using (select distinct tenant_id, coalesce(user_id, '') as user_id from changed) c
      where s.tenant_id = c.tenant_id and s.user_id = c.user_id and s.bytes = 0;
  end if;
  return null;
end $$;
-- The sums of a tenant that is moved are moved too (features/tenant-move).
create trigger artifacts_added after insert on artifacts
  referencing new table as changed for each statement when (current_setting('tempoclaw.moving', true) is distinct from 'on')
  execute function count_artifacts();
create trigger artifacts_removed after delete on artifacts
  referencing old table as changed for each statement execute function count_artifacts();
