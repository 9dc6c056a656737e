-- Up Migration
-- Thoughts are pieces that no webhook gets.
create or replace function add_webhook_deliveries() returns trigger
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
    where e.type not in ('message.thinking', 'message.delta', 'message.reset', 'tool.output')
      and w.events && array['*', e.type, split_part(e.type, '.', 1) || '.*']
      -- A replay tells nobody (DU-6).
      and not coalesce(s.bound_context ? 'stand_ins', false)
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
