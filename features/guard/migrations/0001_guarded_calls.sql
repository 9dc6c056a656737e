-- Up Migration
-- Calls of activities of other programs, which ask before they run one. What people are asked is in `approvals`.
create table guarded_calls (
  tenant_id   text not null references tenants,
  -- Derived from the activity's place in its workflow's run, so that a repeated request is the same call.
  id          text not null,
  session_key text not null,
  agent_key   text not null,
  user_id     text,
  namespace   text not null,
  workflow_id text not null,
  run_id      text not null,
  tool        text not null,
  replay      text not null check (replay in ('readonly','idempotent','once')),
  -- As people may see them.
  args        jsonb not null,
  -- Of the arguments themselves: a repeated request must have the same.
  digest      text not null,
  summary     text not null,
  verdict     text not null check (verdict in ('allow','ask','deny')),
  reason      text,
  approval_id text,
  -- How it ended, once its program has said so. `unknown`: its run was lost, and it may have taken effect.
  outcome     text check (outcome in ('ok','failed','unknown','not_run')),
  code        text,
  text        text,
  created_by  text not null,
  created_at  timestamptz not null default now(),
  ended_at    timestamptz,
  primary key (tenant_id, id)
);
create index guarded_calls_by_time on guarded_calls (tenant_id, created_at desc, id);
create index guarded_calls_of_workflow on guarded_calls (tenant_id, workflow_id);
