-- Up Migration
-- Other machines that agents use (features/nodes/contract/node.ts). Until one has joined, it is what it was invited as.
create table nodes (
  tenant_id       text not null references tenants,
  id              uuid not null,
  name            text not null,
  -- Null allows whatever it declares.
  allowed         text[],
  -- Hash of its pairing code; the first half finds the row, so that wrong second halves can be counted.
  code_id         text not null unique,
  code_hash       bytea not null,
  code_tries      int not null default 0,
  code_expires_at timestamptz not null,
  -- Null until it has joined.
  token_hash      bytea unique,
  -- The key derived from its token, and the master key that sealed it.
  sealed          text,
  key_id          text,
  -- What it reported about itself when it connected last.
  about           jsonb,
  -- The connection of the API process that has it; null while it is away.
  connection      uuid,
  seen_at         timestamptz,
  created_by      text not null,
  created_at      timestamptz not null default now(),
  primary key (tenant_id, id),
  unique (tenant_id, name)
);
create unique index nodes_by_connection on nodes (connection) where connection is not null;
-- Whether there is any, of all tenants.
create index nodes_on_queues on nodes (tenant_id) where about ->> 'task_queue' is not null;

-- Invocations of nodes, under the id of the call that makes them. They outlive their node.
create table node_invocations (
  tenant_id   text not null,
  id          text not null,
  node_id     uuid not null,
  session_key text not null,
  capability  text not null,
  -- Its parameters.
  sealed      text not null,
  status      text not null default 'waiting' check (status in ('waiting','sent','done','unsent','unknown')),
  -- The node's journal that it was sent to: only a node that has this journal may get it again.
  journal     uuid,
  -- The result is sealed.
  result      text,
  expires_at  timestamptz not null,
  created_at  timestamptz not null default clock_timestamp(),
  sent_at     timestamptz,
  ended_at    timestamptz,
  primary key (tenant_id, id)
);
create index node_invocations_open on node_invocations (tenant_id, node_id, created_at) where status in ('waiting','sent');
create index node_invocations_by_time on node_invocations (tenant_id, node_id, created_at desc, id);
create index node_invocations_by_age on node_invocations using brin (created_at);
