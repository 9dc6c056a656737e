-- Up Migration
-- Which call reverses which (DU-9). A reversal that failed is replaced by the next.
create table undone_calls (
  tenant_id    text not null references tenants,
  call_id      text not null,
  session_key  text not null,
  undo_turn_id text not null,
  undo_call_id text not null,
  created_at   timestamptz not null default now(),
  primary key (tenant_id, call_id)
);
create index undone_calls_by_session on undone_calls (tenant_id, session_key);
