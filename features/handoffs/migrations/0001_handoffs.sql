-- Up Migration
-- Where the messages of a chat go (DE-5).
create table handoff_routes (
  tenant_id   text not null references tenants,
  channel     text not null,
  chat_id     text not null,
  from_key    text not null,
  to_key      text not null,
  session_key text not null,
  reason      text not null,
  -- Agents that have had the chat since a person last wrote, oldest first.
  path        jsonb not null,
  created_by  text not null,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, channel, chat_id)
);
