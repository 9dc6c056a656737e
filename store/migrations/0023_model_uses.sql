-- Up Migration
-- DU-7. What models were used for without an answer in a transcript: summaries, calls that failed after they were read, answers
-- that came too late. Those in a transcript are messages.
create table model_uses (
  tenant_id   text not null references tenants,
  id          uuid not null default gen_random_uuid(),
  kind        text not null check (kind in ('summary','failed','unused','embedding')),
  session_key text not null,
  turn_id     text not null,
  agent_key   text not null,
  model       text not null,
  -- As messages.usage and messages.usd.
  usage       jsonb not null,
  usd         numeric,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index model_uses_by_time on model_uses using brin (created_at);
