-- Up Migration
-- The last turn that was exported (IN-8), in one row. The worker with its fence exports, unless its lease is over.
create table telemetry_cursor (
  is_only      boolean primary key default true check (is_only),
  at           timestamptz not null default now(),
  tenant_id    text not null default '',
  session_key  text not null default '',
  event_id     bigint not null default 0,
  leased_until timestamptz not null default '-infinity',
  fence        bigint not null default 0
);
insert into telemetry_cursor default values;
