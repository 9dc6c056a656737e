-- Up Migration
-- The spine: who may call, which agents there are, what was said and done (DESIGN §6).

create table tenants (
  id         text primary key,
  name       text not null,
  created_at timestamptz not null default now()
);

create table api_keys (
  tenant_id    text not null references tenants,
  id           text not null,
  name         text not null,
  user_id      text,
  hash         bytea not null unique,
  scopes       text[] not null,
  created_at   timestamptz not null default now(),
  expires_at   timestamptz,
  revoked_at   timestamptz,
  primary key (tenant_id, id)
);

create table agents (
  tenant_id  text not null references tenants,
  key        text not null,
  revision   int not null,
  config     jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (tenant_id, key)
);

create table agent_revisions (
  tenant_id  text not null,
  agent_key  text not null,
  revision   int not null,
  config     jsonb not null,
  created_at timestamptz not null default now(),
  created_by text,
  primary key (tenant_id, agent_key, revision),
  foreign key (tenant_id, agent_key) references agents (tenant_id, key)
);

-- `position` numbers the transcript, `event_seq` the feed: both are taken under this row's lock, so that a reader never
-- sees a later number before an earlier one.
create table sessions (
  tenant_id        text not null references tenants,
  key              text not null,
  agent_key        text not null,
  user_id          text,
  channel          text,
  chat_id          text,
  title            text,
  position         bigint not null default 0,
  event_seq        bigint not null default 0,
  events_from      bigint not null default 1,
  summary          text,
  summary_position bigint not null default 0,
  turns            int not null default 0,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  primary key (tenant_id, key)
);
create index sessions_by_update on sessions (tenant_id, updated_at desc, key);

create table turns (
  tenant_id      text not null,
  id             text not null,
  session_key    text not null,
  agent_key      text not null,
  agent_revision int,
  status         text not null check (status in ('queued','running','waiting_approval','completed','failed','stopped')),
  steps          int not null default 0,
  text           text,
  error          jsonb,
  context        jsonb not null default '{}',
  run_id         text,
  input_tokens   bigint not null default 0,
  output_tokens  bigint not null default 0,
  cached_tokens  bigint not null default 0,
  cost_usd       numeric,
  unpriced_calls int not null default 0,
  created_at     timestamptz not null default now(),
  started_at     timestamptz,
  ended_at       timestamptz,
  primary key (tenant_id, id)
);
create index turns_open on turns (tenant_id, status) where ended_at is null;
create index turns_by_session on turns (tenant_id, session_key, created_at desc);

-- A user's message is written before it is submitted; `position` and `turn_id` are set when a turn takes it.
create table messages (
  tenant_id   text not null,
  id          text not null,
  session_key text not null,
  turn_id     text,
  step        int,
  role        text not null check (role in ('user','assistant')),
  text        text not null,
  calls       jsonb,
  mode        text,
  context     jsonb,
  finish      text,
  model       text,
  usage       jsonb,
  position    bigint,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, id)
);
create unique index messages_in_order on messages (tenant_id, session_key, position) where position is not null;
create unique index messages_answer on messages (tenant_id, turn_id, step) where role = 'assistant';

-- The ledger (DU-2) and the audit of every call. `args` is what people may see; `args_sealed` holds the real ones where
-- they differ. `fence` belongs to the attempt that holds the claim: a late attempt's result is refused.
create table tool_calls (
  tenant_id   text not null,
  id          text not null,
  session_key text not null,
  turn_id     text not null,
  step        int not null,
  index       int not null,
  tool        text not null,
  asked_as    text not null,
  summary     text not null,
  args        jsonb not null,
  args_sealed bytea,
  digest      text not null,
  verdict     text not null check (verdict in ('allow','ask','deny')),
  reason      text,
  approval_id text,
  state       text not null default 'requested' check (state in ('requested','running','done')),
  fence       text,
  ok          boolean,
  code        text,
  result      text,
  whole_id    text,
  child       jsonb,
  created_at  timestamptz not null default now(),
  started_at  timestamptz,
  ended_at    timestamptz,
  primary key (tenant_id, id)
);
create index tool_calls_of_step on tool_calls (tenant_id, turn_id, step, index);

-- Output that is more than a model reads (EX-5).
create table tool_results (
  tenant_id  text not null,
  id         text not null,
  text       text not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, id)
);

create table approvals (
  tenant_id   text not null,
  id          text not null,
  call_id     text not null,
  session_key text not null,
  turn_id     text not null,
  agent_key   text not null,
  user_id     text,
  tool        text not null,
  args        jsonb not null,
  summary     text not null,
  digest      text not null,
  reason      text,
  risk        text,
  status      text not null default 'pending'
              check (status in ('pending','approved','denied','responded','expired','withdrawn')),
  decision    text,
  decided_by  text,
  decision_key text,
  decided_at  timestamptz,
  note        text,
  used_at     timestamptz,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz not null,
  primary key (tenant_id, id)
);
create index approvals_by_status on approvals (tenant_id, status, created_at desc);
create index approvals_by_turn on approvals (tenant_id, turn_id) where status = 'pending';

-- What `approve_always` allows from then on, per agent and user (SH-2).
create table exec_allowlist (
  tenant_id   text not null,
  id          text not null,
  agent_key   text not null,
  user_id     text,
  tool        text not null,
  pattern     text not null,
  approval_id text,
  created_by  text not null,
  created_at  timestamptz not null default now(),
  revoked_at  timestamptz,
  primary key (tenant_id, id)
);
create unique index exec_allowlist_once
  on exec_allowlist (tenant_id, agent_key, coalesce(user_id, ''), tool, pattern) where revoked_at is null;

create table tool_rate_buckets (
  tenant_id   text not null,
  session_key text not null,
  tokens      float not null,
  filled_at   timestamptz not null default now(),
  primary key (tenant_id, session_key)
);

create table events (
  tenant_id   text not null,
  session_key text not null,
  id          bigint not null,
  type        text not null,
  turn_id     text,
  data        jsonb not null,
  at          timestamptz not null default now(),
  primary key (tenant_id, session_key, id)
);

-- Idempotency-Key: the answer that was given, so that a repeated POST gets it again.
create table idempotency_keys (
  tenant_id    text not null,
  api_key_id   text not null,
  key          text not null,
  request_hash text not null,
  status       int,
  body         text,
  headers      jsonb,
  created_at   timestamptz not null default now(),
  primary key (tenant_id, api_key_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
