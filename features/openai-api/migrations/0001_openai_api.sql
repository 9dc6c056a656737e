-- Up Migration
-- IN-3: which session has a conversation whose messages its client sends whole each time.
create table openai_conversations (
  tenant_id   text not null references tenants,
  -- SHA-256 of the caller, the agent and all messages up to an answer.
  digest      bytea not null,
  session_key text not null,
  -- The turn whose answer is the last message.
  turn_id     text not null,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, digest)
);
create index openai_conversations_of_session on openai_conversations (tenant_id, session_key);
create index openai_conversations_by_age on openai_conversations (created_at);
