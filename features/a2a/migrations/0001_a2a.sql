-- Up Migration
-- Where a client is told of a task's changes: each is a webhook of the task's session, which delivers only this task's.
create table a2a_push_configs (
  tenant_id  text not null,
  turn_id    text not null,
  -- The client's.
  id         text not null,
  webhook_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, turn_id, id),
  foreign key (tenant_id, webhook_id) references webhooks (tenant_id, id) on delete cascade
);
create unique index a2a_push_configs_of_webhook on a2a_push_configs (tenant_id, webhook_id);
