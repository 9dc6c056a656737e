-- Up Migration
-- Values that people give and only activities read (SC-2, SH-4). `sealed` is AES-256-GCM bound to tenant and row; `key_id`
-- names its key, so that a rotation finds the rows of old ones.
create table secrets (
  tenant_id  text not null references tenants,
  name       text not null,
  sealed     text not null,
  key_id     text not null,
  updated_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, name)
);

-- What processes keep in memory per tenant, and when it last changed: makes up for notices that were lost.
create table changes (
  tenant_id  text not null references tenants,
  kind       text not null,
  version    bigint not null default 1,
  changed_at timestamptz not null default now(),
  primary key (tenant_id, kind)
);
create index changes_by_time on changes (changed_at);
