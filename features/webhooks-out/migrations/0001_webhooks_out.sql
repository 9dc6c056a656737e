-- Up Migration
-- Where a tenant's events are sent (IN-4).
create table webhooks (
  tenant_id       text not null references tenants,
  id              uuid not null,
  -- The channel that sends through it: its url is then the channel's name, and the sealed text contains credentials.
  channel_key     text,
  -- For a channel, the agents whose approvals it shows besides those of its own sessions.
  approval_agents text[] not null default '{}',
  url             text not null,
  -- Kinds, groups as `approval.*`, or `*`.
  events          text[] not null,
  agent_key       text,
  session_key     text,
  -- For one that writes mails, the user who decides by their links.
  user_id         text,
  description     text,
  ordered         boolean not null,
  -- One text with the secret, and the previous one with its end.
  sealed          text not null,
  key_id          text not null,
  enabled         boolean not null default true,
  disabled_reason text,
  -- Since when all deliveries have failed.
  failing_since   timestamptz,
  -- The breaker (breaker.ts): failures in a row, how many attempts may be under way, and no attempt before that time.
  failures        int not null default 0,
  pace            int not null default 20,
  retry_at        timestamptz not null default now(),
  created_by      text not null,
  created_at      timestamptz not null default now(),
  primary key (tenant_id, id)
);

-- An event for a webhook, written in the event's commit (by the trigger below). Only `events` has its contents.
create table webhook_deliveries (
  tenant_id     text not null,
  id            text not null,
  webhook_id    uuid not null,
  session_key   text not null,
  event_id      bigint not null,
  event         text not null,
  status        text not null default 'pending' check (status in ('pending','delivered','failed')),
  attempts      int not null default 0,
  -- The attempts at which the receiver said when to retry.
  waits         int not null default 0,
  -- How often somebody has requested a redelivery.
  redelivered   int not null default 0,
  next_at       timestamptz not null default now(),
  -- An attempt of a pending one is under way, by whoever has the fence, unless this time is over.
  claimed_until timestamptz,
  fence         int not null default 0,
  -- It waits for an earlier one in its session, whose end releases it.
  held_back     boolean not null default false,
  -- Since its creation, or the last redelivery.
  pending_since timestamptz not null default now(),
  last_status   int,
  problem       text,
  -- A post in a channel without an event: {place, markdown}. Its event_id orders it in the session.
  post          jsonb,
  created_at    timestamptz not null default clock_timestamp(),
  ended_at      timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, webhook_id) references webhooks (tenant_id, id) on delete cascade
);
-- All have a time between the infinities. Each of the first two indexes has a condition that only its own statements
-- name, so that none of these three is used in place of another, however old the planner's statistics are.
create index webhook_deliveries_due on webhook_deliveries (next_at)
  where status = 'pending' and not held_back and next_at > '-infinity';
create index webhook_deliveries_waiting on webhook_deliveries (tenant_id, webhook_id, next_at)
  where status = 'pending' and not held_back and next_at < 'infinity';
create index webhook_deliveries_under_way on webhook_deliveries (tenant_id, webhook_id, claimed_until) where claimed_until is not null;
create index webhook_deliveries_open on webhook_deliveries (tenant_id, webhook_id, session_key, event_id, (post is not null), created_at, id)
  where status = 'pending';
create index webhook_deliveries_by_time on webhook_deliveries (tenant_id, webhook_id, created_at desc, id);
create index webhook_deliveries_of_session on webhook_deliveries (tenant_id, session_key);
create index webhook_deliveries_by_age on webhook_deliveries using brin (created_at);

-- What webhooks want of new events becomes rows of the same commit.
create function add_webhook_deliveries() returns trigger
language plpgsql as $$
begin
  -- Events come in one statement for each session; for a tenant without webhooks, they cost one check.
  if not exists (select from webhooks w where w.enabled and w.tenant_id in (select a.tenant_id from added a)) then return null; end if;
  insert into webhook_deliveries (tenant_id, id, webhook_id, session_key, event_id, event)
    select e.tenant_id, 'msg_' || replace(gen_random_uuid()::text, '-', ''), w.id, e.session_key, e.id, e.type
    from added e join sessions s on s.tenant_id = e.tenant_id and s.key = e.session_key
    -- A webhook that is being deleted blocks nothing.
    join (select * from webhooks where tenant_id in (select a.tenant_id from added a) and enabled for key share skip locked) w
      on w.tenant_id = e.tenant_id
    where e.type not in ('message.delta', 'message.reset', 'tool.output')
      and w.events && array['*', e.type, split_part(e.type, '.', 1) || '.*']
      and (w.session_key is null or w.session_key = e.session_key)
      and (w.agent_key is null or w.agent_key = s.agent_key)
      -- A channel gets its own conversations, not those that work for them; for some agents, it also gets their
      -- approvals from elsewhere.
      and (w.channel_key is null
        or w.channel_key = s.channel and s.bound_context is null and not exists (
          select from assignments a where a.tenant_id = e.tenant_id and a.session_key = e.session_key)
        or e.type like 'approval.%' and s.agent_key = any (w.approval_agents))
    order by e.id;
  return null;
end $$;
-- Events that are moved with their tenant have had their deliveries (features/tenant-move).
create trigger events_to_webhooks after insert on events
  referencing new table as added for each statement when (current_setting('tempoclaw.moving', true) is distinct from 'on')
  execute function add_webhook_deliveries();
