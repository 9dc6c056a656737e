-- Up Migration
-- Requests to fork a session, under the key of the session that each makes (DU-6).
create table forks (
  tenant_id    text not null references tenants,
  session_key  text not null,
  from_session text not null,
  from_turn    text not null,
  from_step    int,
  agent_key    text not null,
  user_id      text,
  -- Context of the message that the fork goes on with: of whoever asks for the fork.
  context      jsonb not null,
  -- SHA-256 of the request, so that another one under the same key is refused.
  digest       text not null,
  -- What was given with the request (contract.ts: ForkInput), sealed.
  sealed       text,
  key_id       text,
  -- open: it is being made, and no session is there yet. failed: nothing of it is there.
  status       text not null default 'open' check (status in ('open','done','failed')),
  -- The turn that goes on; null for a copy that waits for a message.
  turn_id      text,
  -- What was copied, and what could not be put back (contract.ts: ForkResult).
  result       jsonb,
  error        jsonb,
  created_by   text not null,
  created_at   timestamptz not null default now(),
  ended_at     timestamptz,
  primary key (tenant_id, session_key),
  check ((sealed is null) = (key_id is null))
);
create index forks_of_session on forks (tenant_id, from_session, created_at desc);
create index forks_open on forks (created_at) where status = 'open';
