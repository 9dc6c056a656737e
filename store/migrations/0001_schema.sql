-- Up Migration
-- All tables, noun by noun. Each table of tenants has its tenant first in its key and in each of its references.

-- One row. Its id distinguishes this database's Temporal namespace from those of other databases
-- (temporal/installation.ts).
create table installation (id uuid primary key default gen_random_uuid());
insert into installation default values;

-- Tenants and keys

create table tenants (
  id         text primary key,
  name       text not null,
  -- The policy for all its agents (PO-1): `TenantPolicy` of domain/tenant.ts.
  policy     jsonb,
  -- How long data is kept: `Retention` of domain/forgetting.ts; it replaces the settings'.
  retention  jsonb,
  -- While it is frozen, nothing new begins: the API refuses writes, and the sweep passes over it (store/tenant-freeze.ts).
  frozen_at  timestamptz,
  -- Why it is frozen, in words for people.
  frozen_for text,
  created_at timestamptz not null default now(),
  check ((frozen_at is null) = (frozen_for is null))
);

-- Changes of a tenant's policy: who made them, and the policy before and after.
create table policy_changes (
  tenant_id  text not null references tenants,
  id         bigint generated always as identity,
  before     jsonb,
  after      jsonb not null,
  changed_by text not null,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id)
);

-- Workers that run. Each raises its beat; one that stays the same for two seconds is lost, and its model calls start
-- again elsewhere (workers/watch-workers.ts). `claimed_by` searches for these calls, and last began at `claimed_at`.
create table workers (
  id         text primary key,
  machine    text,
  process    text not null,
  -- The release, what identifies the code of its workflows, and its activities that run, as {type: count}.
  version    text not null,
  build      text not null,
  running    jsonb not null default '{}',
  beat       int not null default 0,
  beat_at    timestamptz not null default now(),
  claimed_by text,
  claimed_at timestamptz
) with (fillfactor = 50);

-- The last look of each part of the sweep (workflows/sweep.ts): what it found, and how many of its works failed.
create table sweep_parts (
  part     text primary key,
  ended_at timestamptz not null,
  found    int not null,
  failed   int not null
);

-- What processes keep in memory per tenant, and when it last changed. It makes up for notices that were lost.
create table changes (
  tenant_id  text not null references tenants,
  kind       text not null,
  version    bigint not null default 1,
  changed_at timestamptz not null default now(),
  primary key (tenant_id, kind)
);
create index changes_by_time on changes (changed_at);

create table api_keys (
  tenant_id  text not null references tenants,
  id         text not null,
  name       text not null,
  user_id    text,
  hash       bytea not null unique,
  scopes     text[] not null,
  -- For a person of an identity provider: the groups in the newest token, and when that was issued.
  groups     text[] not null default '{}',
  issued_at  timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  primary key (tenant_id, id)
);

-- Idempotency-Key: the stored answer, which a repeated POST gets again.
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

-- Agents

create table agents (
  tenant_id  text not null references tenants,
  key        text not null,
  revision   int not null,
  config     jsonb not null,
  -- Number of links over which it may delegate (count_agent_links), so that a step of an agent without links needs no
  -- query (DE-3).
  links      int not null default 0,
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
  created_by text,
  created_at timestamptz not null default now(),
  primary key (tenant_id, agent_key, revision),
  foreign key (tenant_id, agent_key) references agents (tenant_id, key)
);

-- Documents: context files and memory (VF-1, VF-2)

-- A user's document takes precedence over the agent's own of the same path, whose `user_id` is empty.
create table documents (
  tenant_id  text not null,
  agent_key  text not null,
  user_id    text not null default '',
  path       text not null,
  revision   int not null,
  text       text not null,
  -- SHA-256 of the text.
  digest     bytea not null,
  -- It was written by a session that had read something from outside (SC-4).
  outside    boolean not null default false,
  -- PO-5. What that session had read from outside: {source: call}.
  read       jsonb not null default '{}',
  -- SHA-256 of the text that the memory index contains; null before it contains any.
  indexed    bytea,
  -- The model whose vectors of that text the index contains; null before it has any.
  embedded   text,
  -- SHA-256 of the text that the knowledge graph's facts were extracted from; null before any were.
  extracted  bytea,
  updated_at timestamptz not null default now(),
  primary key (tenant_id, agent_key, user_id, path),
  foreign key (tenant_id, agent_key) references agents (tenant_id, key)
);

-- The result of each write, the newest ones; `text` is null when it was removed.
create table document_versions (
  tenant_id  text not null,
  agent_key  text not null,
  user_id    text not null,
  path       text not null,
  revision   int not null,
  text       text,
  outside    boolean not null default false,
  read       jsonb not null default '{}',
  author     text not null,
  -- The idempotency key of the call that wrote it ({tenant}/{call}), which writes once, however often it runs.
  call_id    text,
  -- Grows with each write of a scope: the last one is the version of the whole scope.
  id         bigint generated always as identity,
  created_at timestamptz not null default now(),
  primary key (tenant_id, agent_key, user_id, path, revision)
);
create index document_versions_by_id on document_versions (tenant_id, agent_key, user_id, id);

-- Each step uses this index.
create index documents_outside on documents (tenant_id, agent_key) where outside;
-- For the sweep: memory documents whose index is out of date.
create index documents_to_index on documents (tenant_id, agent_key, user_id)
  where indexed is distinct from digest and (path in ('MEMORY.md', 'memory.md') or path like 'memory/%.md');
-- For the sweep: the same for vectors, which depend on the model of the settings.
create index documents_embedded on documents (embedded, tenant_id, agent_key, user_id) where indexed is not null;
-- For the sweep: the same for facts, for agents that have a model for them.
create index documents_to_extract on documents (tenant_id, agent_key, user_id)
  where extracted is distinct from digest and (path in ('MEMORY.md', 'memory.md') or path like 'memory/%.md');

-- The memory index: pieces of documents in whole lines, without secrets.
create extension if not exists pg_trgm;

-- Sessions, turns, messages, calls, events

-- `position` numbers the transcript, `event_seq` the feed. Both are assigned under this row's lock, so that a reader
-- never sees a later number before an earlier one.
create table sessions (
  tenant_id        text not null references tenants,
  key              text not null,
  agent_key        text not null,
  user_id          text,
  channel          text,
  chat_id          text,
  title            text,
  -- Applies to each of its turns, whatever their messages contain.
  bound_context    jsonb,
  -- DU-7. The root whose budgets its turns use: {turn, session, agent, team?} of its tree; null for a root itself.
  budget_root      jsonb,
  position         bigint not null default 0,
  event_seq        bigint not null default 0,
  summary          text,
  summary_position bigint not null default 0,
  -- Position up to which the transcript was written to memory, or checked for that (VF-2).
  recorded         bigint not null default 0,
  turns            int not null default 0,
  -- Other clients than our API write to it: their messages have no row before a turn takes them.
  has_unwritten    boolean not null default false,
  -- PO-5. The tools whose results it has read: {tool: {call: the first, at: seconds since 1970}} (note_used).
  used             jsonb not null default '{}',
  created_at       timestamptz not null default now(),
  -- To ten seconds while a turn runs (active_at).
  updated_at       timestamptz not null default now(),
  primary key (tenant_id, key)
-- Its counters change often: the next version of a row finds place on the same page, without a write to an index.
) with (fillfactor = 60);
create index sessions_by_update on sessions (tenant_id, updated_at desc, key);
create index sessions_unrecorded on sessions (tenant_id, agent_key, user_id) where recorded < position;
-- Sessions that work for another one, which also shows their approvals (DE-2).
create index sessions_given_by on sessions (tenant_id, (bound_context #>> '{delegation,session}'))
  where bound_context #>> '{delegation,session}' is not null;

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
  -- Skills in use: [{name, allowed, brings, step: of the call that started it}] (use_skill).
  skills         jsonb not null default '[]',
  -- Budget root of its first message.
  budget_root    jsonb,
  run_id         text,
  input_tokens   bigint not null default 0,
  output_tokens  bigint not null default 0,
  cached_tokens  bigint not null default 0,
  cost_usd       numeric,
  unpriced_calls int not null default 0,
  -- Names of model uses that count once, however often they are recorded (ModelUse.once).
  uses_once      text[] not null default '{}',
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
  -- Attachments of a user's message: [Attachment] (domain/files/attachment.ts).
  attachments jsonb,
  -- PO-5. The text comes from the session's user alone.
  is_own      boolean not null default false,
  mode        text,
  context     jsonb,
  -- The decision of hooks on a user's message, which therefore do not run again.
  hooked      text check (hooked in ('allow','deny')),
  -- DU-7. The budget root of the turn that it starts, as in sessions.budget_root, when another turn sends it; null for
  -- people and schedules.
  budget_root jsonb,
  finish      text,
  model       text,
  -- Which attempt of its model call an answer comes from.
  attempt     int,
  usage       jsonb,
  -- Cost of the answer; null when the model's price is unknown.
  usd         numeric,
  position    bigint,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, id)
);
create unique index messages_in_order on messages (tenant_id, session_key, position) where position is not null;
-- Messages that no turn has taken; each answer that would end a turn checks for them.
create index messages_waiting on messages (tenant_id, session_key) where position is null and turn_id is null;
create unique index messages_answer on messages (tenant_id, turn_id, step) where role = 'assistant';
create index messages_with_attachments on messages using gin (attachments jsonb_path_ops) where attachments is not null;

-- The ledger (DU-2) and the audit log of every call. `args` is what people may see; `args_sealed` contains the real
-- ones where they differ. `fence` belongs to the attempt that has the claim: the result of a late attempt is refused.
create table tool_calls (
  tenant_id            text not null,
  id                   text not null,
  session_key          text not null,
  turn_id              text not null,
  step                 int not null,
  index                int not null,
  tool                 text not null,
  called_as             text not null,
  summary              text not null,
  args                 jsonb not null,
  args_sealed          bytea,
  digest               text not null,
  -- The definition that it was judged by, for a custom tool or one of an MCP server.
  custom_tool_id       uuid,
  custom_tool_revision int,
  verdict              text not null check (verdict in ('allow','ask','deny')),
  reason               text,
  -- The decisions of hooks before the call, and what they changed (domain/turn/hook.ts).
  hooks                jsonb,
  approval_id          text,
  -- For a call of an MCP server: its sealed state there (domain/turn/pending-call.ts), and the approval by which people
  -- answer the server's question.
  outside              bytea,
  form_id              text,
  state                text not null default 'requested' check (state in ('requested','running','done')),
  fence                text,
  -- How many attempts have claimed it; a call that only reads is not claimed.
  attempts             int not null default 0,
  ok                   boolean,
  code                 text,
  result               text,
  whole_id             text,
  -- Facts of images (domain/model/image.ts), whose bytes are in files.
  images               jsonb,
  child                jsonb,
  created_at           timestamptz not null default now(),
  started_at           timestamptz,
  ended_at             timestamptz,
  primary key (tenant_id, id)
);
create index tool_calls_of_step on tool_calls (tenant_id, turn_id, step, index);
create index tool_calls_with_images on tool_calls using gin (images jsonb_path_ops) where images is not null;
create index tool_calls_by_time on tool_calls using brin (created_at);

-- Output that is longer than what a model reads (EX-5).
create table tool_results (
  tenant_id  text not null,
  id         text not null,
  text       text not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, id)
);

create table tool_rate_buckets (
  tenant_id   text not null,
  session_key text not null,
  tokens      float not null,
  filled_at   timestamptz not null default now(),
  primary key (tenant_id, session_key)
);

-- One partition a month (functions/keep_event_months.sql), so that what retention has left of a month is dropped with it.
-- The session's row gives the ids, so they are unique without the index, whose key must contain the time.
create table events (
  tenant_id   text not null,
  session_key text not null,
  id          bigint not null,
  type        text not null,
  turn_id     text,
  data        jsonb not null,
  at          timestamptz not null default now(),
  primary key (tenant_id, session_key, id, at)
) partition by range (at);
create index events_by_time on events using brin (at);
create schema event_months;
-- For times without a month of their own.
create table event_months.other partition of events default;

-- Approvals

create table approvals (
  tenant_id    text not null,
  id           text not null,
  call_id      text not null,
  session_key  text not null,
  turn_id      text not null,
  agent_key    text not null,
  user_id      text,
  tool         text not null,
  args         jsonb not null,
  summary      text not null,
  digest       text not null,
  reason       text,
  risk         text,
  -- AP-4: the terms of the decision (domain/approval/approval-terms.ts), and when others were permitted to decide as well.
  terms        jsonb not null default '{}',
  escalated_at timestamptz,
  reminders    int not null default 0,
  -- Messages over Temporal that changed nothing, and the last of them (RefusedRequest, with the key that identified
  -- it).
  refused      int not null default 0,
  last_refused jsonb,
  -- What it shows besides the call: what "always" would store, or why it is refused (SH-2). Its digest is bound to the
  -- sandbox, and to the workspace files that the call would run, as they were when it was created.
  always       jsonb not null,
  sandbox      jsonb,
  files        jsonb not null default '[]',
  -- The question of an MCP server during the call (domain/form.ts): then `args` are the answer, sealed like other
  -- arguments.
  form         jsonb,
  args_sealed  bytea,
  status       text not null default 'pending'
               check (status in ('pending','approved','denied','responded','expired','withdrawn')),
  decision     text,
  decided_by   text,
  decision_key text,
  decided_at   timestamptz,
  note         text,
  used_at      timestamptz,
  created_at   timestamptz not null default now(),
  expires_at   timestamptz not null,
  -- A feed of all sessions continues after this time. It is the clock's time, not that of the transaction's start: a
  -- change that waited for a lock is not dated before what readers have seen.
  changed_at   timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id)
);
create index approvals_by_status on approvals (tenant_id, status, created_at desc);
create index approvals_by_turn on approvals (tenant_id, turn_id) where status = 'pending';
create index approvals_by_time on approvals (tenant_id, created_at desc, id);
create index approvals_by_change on approvals (tenant_id, changed_at, id);

-- AP-4: each decision that counted. `person` is null when the person is only claimed; `digest` is the version that they
-- agreed to. `groups` are those by which the person may decide: agreement counts while they are in one of them.
create table approval_decisions (
  tenant_id   text not null,
  approval_id text not null,
  key         text not null,
  decision    text not null,
  by          text not null,
  person      text,
  api_key_id  text,
  groups      text[],
  via         text not null check (via in ('api','link','temporal')),
  digest      text,
  note        text,
  at          timestamptz not null default now(),
  primary key (tenant_id, approval_id, key)
);

-- The sender of the decision that the approval's workflow will receive under this key. The API writes it before it
-- sends the decision, so that a client which can only reach Temporal cannot decide in another's name.
create table decision_proofs (
  tenant_id   text not null,
  approval_id text not null,
  key         text not null,
  by          text not null,
  user_id     text,
  scopes      text[] not null,
  groups      text[] not null default '{}',
  api_key_id  text,
  via         text not null,
  link_id     text,
  -- The real arguments of an edit, when the message over Temporal hides some of them (SC-3).
  sealed_args text,
  -- Identifies the message that used it: from then on the history contains the key, which proves nothing about another
  -- message.
  message     text,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, approval_id, key)
);

-- Decision tokens in messages, by their nonces, until the approval is over: no other message can use them.
create table decision_tokens (
  tenant_id   text not null,
  approval_id text not null,
  nonce       text not null,
  -- Identifies the message that used it up.
  message     text not null,
  primary key (tenant_id, approval_id, nonce)
);

-- What `approve_always` allows permanently, per agent and user (SH-2).
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
  revoked_by  text,
  revoked_at  timestamptz,
  primary key (tenant_id, id)
);
create unique index exec_allowlist_once
  on exec_allowlist (tenant_id, agent_key, coalesce(user_id, ''), tool, pattern) where revoked_at is null;

-- Secrets

-- Values that people set and only activities read (SC-2, SH-4). `sealed` is AES-256-GCM bound to tenant and row.
-- `key_id` identifies its key, so that a rotation finds the rows of old ones.
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

-- Assignments

-- Work that one agent gave to another: a subagent's (SA-*), a delegation (DE-2), rounds of making and judging (DE-4). A
-- queued or running row is the lease that the limits count.
create table assignments (
  tenant_id       text not null references tenants,
  id              text not null,
  kind            text not null check (kind in ('subagent', 'delegation', 'evaluation')),
  -- The giver of the work, which is notified of the result.
  origin_session  text not null,
  origin_turn     text not null,
  origin_call     text not null,
  link_id         text,
  source_key      text not null,
  -- The agent that does the work; for an evaluation the generator.
  target_key      text not null,
  session_key     text not null,
  depth           int not null,
  user_id         text,
  label           text not null,
  task            text not null,
  -- `sync` when the giver's turn waits for it.
  mode            text not null check (mode in ('async', 'sync')),
  announce        text not null check (announce in ('queue', 'steer')),
  -- It continues when its origin's session is stopped.
  detached        boolean not null,
  timeout_seconds int not null,
  -- The origin turn's context, for the message that announces the end; and the context that binds its session's turns.
  context         jsonb not null,
  bound           jsonb not null,
  -- Gates of the target when the work was given (DE-6).
  gates           jsonb not null,
  -- For an evaluation: evaluator, criteria, context, max_rounds; and its rounds so far: round, draft, verdict,
  -- feedback.
  details         jsonb,
  rounds          jsonb not null default '[]',
  status          text not null check (status in ('queued','running','completed','failed','cancelled','timeout','approved','not_approved')),
  result          text,
  error           jsonb,
  -- Warnings of gates that let the work pass.
  warnings        jsonb not null default '[]',
  iterations      int not null default 0,
  input_tokens    bigint not null default 0,
  output_tokens   bigint not null default 0,
  stopped_by      text,
  replaced_by     text,
  -- Id of the workflow that waits for its end.
  waiter          text,
  -- What announced the result: the claim of a message, a call, or 'nobody' when no announcement is needed.
  announced_by    text,
  created_at      timestamptz not null default now(),
  started_at      timestamptz,
  ended_at        timestamptz,
  primary key (tenant_id, id)
);
create index assignments_open on assignments (tenant_id, kind) where ended_at is null;
create index assignments_unannounced on assignments (tenant_id, origin_session) where announced_by is null;
create index assignments_by_origin on assignments (tenant_id, origin_session, created_at desc);
create index assignments_by_source on assignments (tenant_id, kind, source_key, created_at desc, id);
create index assignments_by_time on assignments (tenant_id, kind, created_at desc, id);
create unique index assignments_by_session on assignments (tenant_id, session_key);

-- Teams

create table teams (
  tenant_id   text not null references tenants,
  key         text not null,
  name        text,
  description text,
  lead        text not null,
  settings    jsonb not null default '{}',
  -- The newest task's number. A team that is created again continues from it, because the number is part of a workflow
  -- id.
  task_seq    int not null default 0,
  created_by  text,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  deleted_at  timestamptz,
  primary key (tenant_id, key),
  foreign key (tenant_id, lead) references agents (tenant_id, key)
);
create index teams_by_lead on teams (tenant_id, lead) where deleted_at is null;

create table team_members (
  tenant_id text not null,
  team_key  text not null,
  agent_key text not null,
  added_at  timestamptz not null default now(),
  primary key (tenant_id, team_key, agent_key),
  foreign key (tenant_id, team_key) references teams (tenant_id, key),
  foreign key (tenant_id, agent_key) references agents (tenant_id, key)
);
create index team_members_by_agent on team_members (tenant_id, agent_key);

-- A task's workflow decides, and writes its row here for readers and for its next run.
create table team_tasks (
  tenant_id      text not null,
  team_key       text not null,
  number         int not null,
  subject        text not null,
  description    text not null default '',
  words          tsvector generated always as
                   (to_tsvector('simple', subject || ' ' || left(description, 20000))) stored,
  status         text not null check (status in
                   ('pending','in_progress','in_review','blocked','completed','failed','cancelled','stale')),
  assignee       text,
  owner          text,
  priority       int not null default 0,
  percent        int not null default 0,
  reason         text,
  result         text,
  -- The whole state of the workflow; its revision is that of the newest event.
  state          jsonb not null,
  revision       int not null,
  -- The lead's turn that created it, which is its request; and the message that reported its end to the lead.
  origin_session text,
  origin_turn    text,
  origin_context jsonb not null default '{}',
  announced_by        int,
  -- Signals that changed nothing, and the last of them (RefusedRequest, with the key that identified it).
  refused        int not null default 0,
  last_refused   jsonb,
  -- Key of the call or request that created it, so that a repeat creates only one.
  create_key     text not null,
  created_by     text not null,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  started_at     timestamptz,
  closed_at      timestamptz,
  primary key (tenant_id, team_key, number),
  foreign key (tenant_id, team_key) references teams (tenant_id, key)
);
create unique index team_tasks_once on team_tasks (tenant_id, team_key, create_key);
create index team_tasks_by_status on team_tasks (tenant_id, team_key, status, number desc);
create index team_tasks_of_turn on team_tasks (tenant_id, origin_turn) where origin_turn is not null;
create index team_tasks_by_words on team_tasks using gin (words);
-- For the workers' check of open tasks, which are few.
create index team_tasks_open on team_tasks (tenant_id, team_key, number) where status not in ('completed', 'failed', 'cancelled');

-- The tasks that a task waits for.
create table team_task_blockers (
  tenant_id text not null,
  team_key  text not null,
  number    int not null,
  blocker   int not null,
  primary key (tenant_id, team_key, number, blocker),
  foreign key (tenant_id, team_key, number) references team_tasks (tenant_id, team_key, number),
  foreign key (tenant_id, team_key, blocker) references team_tasks (tenant_id, team_key, number)
);
create index team_task_blockers_back on team_task_blockers (tenant_id, team_key, blocker);

-- The audit log (TE-4): one event per change, by its revision.
create table team_task_events (
  tenant_id text not null,
  team_key  text not null,
  number    int not null,
  revision  int not null,
  -- Number of the refused signal at this revision; 0 for a change.
  refusal   int not null default 0,
  id        bigint generated always as identity,
  action    text not null,
  actor     text not null,
  reason    text,
  status    text not null,
  owner     text,
  -- Which run of the task's workflow recorded it, for which request, and whom to notify. If a worker dies after the
  -- commit and before Temporal knows, the next run finds here what was done.
  run       text,
  cause     text,
  notices   jsonb,
  at        timestamptz not null default clock_timestamp(),
  primary key (tenant_id, team_key, number, revision, refusal)
);
create index team_task_events_in_order on team_task_events (tenant_id, team_key, id desc);

-- Texts about a task. A text is written before its update, and shown when the workflow has accepted it.
create table team_comments (
  tenant_id  text not null,
  id         text not null,
  team_key   text not null,
  number     int not null,
  kind       text check (kind in ('note','blocker','result','reason','question')),
  author     text not null,
  text       text not null,
  revision   int,
  created_at timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index team_comments_of_task on team_comments (tenant_id, team_key, number, created_at) where revision is not null;

create table team_messages (
  tenant_id  text not null,
  id         text not null,
  team_key   text not null,
  sender     text not null,
  addressee  text not null,
  text       text not null,
  created_at timestamptz not null default clock_timestamp(),
  read_at    timestamptz,
  primary key (tenant_id, id)
);
create index team_messages_unread on team_messages (tenant_id, team_key, addressee, created_at) where read_at is null;

-- Bytes, stored once by digest (SHA-256): of artifacts, images of tool_calls, files of skills, and attachments of
-- tasks.
create table files (
  tenant_id  text not null references tenants,
  digest     text not null,
  -- Null when they are only in the object store, in pieces (features/artifacts/store.ts).
  bytes      bytea,
  -- Objects may exist; set before they are written.
  in_store   boolean not null default false,
  -- Distinguishes its objects from those of an earlier row with the same bytes.
  made       uuid not null default gen_random_uuid(),
  -- When they were last uploaded, or found to be needed; the sweep removes bytes that nothing needs any more.
  needed_at  timestamptz not null default now(),
  primary key (tenant_id, digest),
  check (in_store or bytes is not null)
);
-- The bytes are mostly compressed already, and parts of them are read separately.
alter table files alter column bytes set storage external;
create index files_by_need on files (needed_at);

create table team_task_files (
  tenant_id  text not null,
  id         text not null,
  team_key   text not null,
  number     int not null,
  digest     text not null,
  name       text not null,
  size       int not null,
  author     text not null,
  revision   int,
  created_at timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, digest) references files (tenant_id, digest)
);
create index team_task_files_of_bytes on team_task_files (tenant_id, digest);
create index team_task_files_of_task on team_task_files (tenant_id, team_key, number) where revision is not null;

-- Budgets (DU-7)

-- Limits on the use of its subjects; each subject and period has an account for each measure.
create table budgets (
  tenant_id  text not null references tenants,
  id         text not null,
  scope      text not null check (scope in ('turn','session','agent','team','tenant')),
  -- One session, agent or team; empty when each has the limits separately.
  subject    text not null default '',
  period     text not null check (period in ('total','day','month')),
  -- Limits by measure, on_limit and reserve: domain/budget/budget.ts.
  config     jsonb not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, id)
);
create unique index budgets_once on budgets (tenant_id, scope, subject, period);

-- spent + reserved stays within the budget's limit plus `extra`, except for what calls cost beyond their reserve. An
-- account that many sessions share is several rows (shards), so that their steps do not wait for each other's commit. A
-- shard reserves within its share; the shares together are at most the limit (reserve_budget).
create table budget_accounts (
  tenant_id text not null references tenants,
  budget_id text not null,
  subject   text not null,
  since     date not null,
  measure   text not null check (measure in ('tokens','usd','seconds','calls')),
  spent     numeric not null default 0,
  reserved  numeric not null default 0,
  extra     numeric not null default 0,
  shard     int not null default 0,
  share     numeric not null default 0,
  -- The limit, without additions, that was divided; another limit is divided again.
  share_of  numeric not null default 0,
  primary key (tenant_id, budget_id, subject, since, measure, shard)
);
create index budget_accounts_by_period on budget_accounts (tenant_id, since desc, budget_id, subject, measure);

-- The reservation of a call's attempt, deleted when it is settled. One whose attempt never returned counts as spent.
create table budget_holds (
  tenant_id text not null,
  holder    text not null,
  attempt   int not null,
  turn_id   text not null,
  budget_id text not null,
  subject   text not null,
  since     date not null,
  measure   text not null,
  amount    numeric not null,
  shard     int not null default 0,
  primary key (tenant_id, holder, attempt, budget_id, subject, since, measure)
);
create index budget_holds_by_turn on budget_holds (tenant_id, turn_id);

-- Links, gates

-- Which agents may delegate work to each other (DE-1). `settings` is judged when the link is used, and refuses
-- everybody when it cannot be read.
create table agent_links (
  tenant_id      text not null references tenants,
  id             text not null,
  source_key     text not null,
  target_key     text not null,
  direction      text not null check (direction in ('outbound', 'inbound', 'bidirectional')),
  status         text not null check (status in ('active', 'disabled')),
  max_concurrent int not null default 0 check (max_concurrent >= 0),
  settings       jsonb not null default '{}',
  description    text,
  created_by     text,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, source_key) references agents (tenant_id, key),
  foreign key (tenant_id, target_key) references agents (tenant_id, key),
  check (source_key <> target_key)
);
create unique index agent_links_by_pair on agent_links (tenant_id, source_key, target_key);
create index agent_links_by_target on agent_links (tenant_id, target_key);

-- It is here and not among the functions that each release replaces, because a trigger's function cannot be dropped.
create function count_agent_links() returns trigger
language plpgsql as $$
begin
  update agents a set links = (select count(*) from agent_links l where l.tenant_id = a.tenant_id and l.status = 'active'
      and ((l.source_key = a.key and l.direction <> 'inbound') or (l.target_key = a.key and l.direction <> 'outbound')))
    where (a.tenant_id, a.key) in ((new.tenant_id, new.source_key), (new.tenant_id, new.target_key),
                                   (old.tenant_id, old.source_key), (old.tenant_id, old.target_key));
  return null;
end $$;
create trigger agent_links_count after insert or update or delete on agent_links
  for each row execute function count_agent_links();

-- Each run of a gate (DE-6): its result for which attempt, and what followed.
create table gate_checks (
  tenant_id  text not null references tenants,
  -- The delegation, task or turn that was judged.
  owner_id   text not null,
  gate       int not null,
  attempt    int not null,
  name       text not null,
  kind       text not null check (kind in ('passed', 'failed', 'broken')),
  step       text not null check (step in ('pass', 'retry', 'warn', 'block')),
  feedback   text not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, owner_id, gate, attempt)
);

-- Egress

-- Each exchange with the outside, including refused ones. Kept for a limited time.
create table egress_requests (
  tenant_id    text not null references tenants,
  id           bigint generated always as identity,
  -- The tool's name, or another source of the request.
  purpose      text not null,
  call_id      text,
  method       text not null,
  -- Host and port of the last address.
  host         text not null,
  -- Null when no answer came.
  status       int,
  bytes        bigint not null,
  milliseconds int not null,
  -- Why it was refused or interrupted; null when the answer arrived completely.
  problem      text,
  created_at   timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id)
);
create index egress_requests_of_call on egress_requests (tenant_id, call_id) where call_id is not null;
create index egress_requests_by_time on egress_requests using brin (created_at);

-- Usage and embeddings

-- DU-7. Each use of a model, in an answer or without one, until the sweep adds it to the two sums below. Steps only add
-- rows here, so that none waits for another. `session_key` is empty for work without a session, `user_id` for a session
-- without a user.
create table model_uses (
  tenant_id     text not null,
  session_key   text not null,
  agent_key     text not null,
  user_id       text not null,
  model         text not null,
  kind          text not null check (kind in ('answer','summary','failed','unused','embedding','knowledge','memory','reading','media','hook','sampling','direct')),
  input_tokens  bigint not null,
  output_tokens bigint not null,
  cached_tokens bigint not null,
  -- Null when the model's price is unknown.
  usd           numeric,
  created_at    timestamptz not null default now()
);

-- Sums by day (UTC), which name nobody, so that a year of a large tenant is some thousand rows. `usd` is the cost of the
-- priced calls, null when there are none.
create table usage_by_day (
  tenant_id      text not null,
  day            date not null,
  agent_key      text not null,
  model          text not null,
  kind           text not null,
  calls          bigint not null,
  input_tokens   bigint not null,
  output_tokens  bigint not null,
  cached_tokens  bigint not null,
  usd            numeric,
  unpriced_calls bigint not null,
  primary key (tenant_id, day, agent_key, model, kind)
);

-- The same use by session and user, for requests that name or list them. When a session is removed or a user forgotten,
-- their sums move to the empty name.
create table usage_by_session (
  tenant_id      text not null,
  session_key    text not null,
  day            date not null,
  agent_key      text not null,
  user_id        text not null,
  model          text not null,
  kind           text not null,
  calls          bigint not null,
  input_tokens   bigint not null,
  output_tokens  bigint not null,
  cached_tokens  bigint not null,
  usd            numeric,
  unpriced_calls bigint not null,
  primary key (tenant_id, day, session_key, agent_key, user_id, model, kind)
);
create index usage_by_session_of_session on usage_by_session (tenant_id, session_key);
create index usage_by_session_of_user on usage_by_session (tenant_id, user_id, day) where user_id <> '';

-- Vectors that a provider's model has returned, so that it is called once for a text (DE-2). Those of different models
-- are never compared.
create table embeddings (
  tenant_id  text not null references tenants,
  model      text not null,
  -- SHA-256 of the text; the text itself is not stored here.
  digest     bytea not null,
  -- 32-bit floats, little-endian, of length 1.
  vector     bytea not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, model, digest)
);
create index embeddings_by_age on embeddings (tenant_id, created_at);

-- Forgetting

-- Requests to forget, and the receipt of what was removed.
create table forgettings (
  tenant_id    text not null references tenants,
  id           text not null,
  kind         text not null check (kind in ('session','user')),
  subject      text not null,
  -- Sessions of the subject when it was requested, and later ones.
  sessions     text[] not null default '{}',
  removed      jsonb not null default '{}',
  requested_by text not null,
  created_at   timestamptz not null default clock_timestamp(),
  -- When all running work was stopped: later data stays.
  until        timestamptz,
  ended_at     timestamptz,
  primary key (tenant_id, id)
);
create unique index forgettings_once on forgettings (tenant_id, kind, subject) where ended_at is null;
create index forgettings_by_time on forgettings (tenant_id, created_at desc, id);

-- PO-5. Files that were written after something from outside was read.
create table outside_files (
  tenant_id text not null references tenants,
  -- The name of its folder.
  workspace text not null,
  -- Relative to the workspace; empty for all of it. /CALL while a command of the call may write anything.
  path      text not null,
  -- What the session that wrote it had read from outside: {source: call}.
  read      jsonb not null,
  primary key (tenant_id, workspace, path)
);

-- Functions

-- Which set of functions (../functions) this database runs. One row.
create table function_set (
  singleton boolean primary key default true check (singleton),
  digest    text not null
);
