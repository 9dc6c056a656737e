-- Appends to a session's feed and returns the last number. The row lock keeps numbers and commits in one order. What webhooks
-- want of it are rows of the same commit.
create function append_events(p_tenant text, p_session text, p_turn text, p_events jsonb) returns bigint
language plpgsql as $$
declare
  n int := jsonb_array_length(p_events);
  last bigint;
begin
  if n = 0 then return null; end if;
  update sessions set event_seq = event_seq + n, updated_at = now()
    where tenant_id = p_tenant and key = p_session returning event_seq into last;
  insert into events (tenant_id, session_key, id, type, turn_id, data)
    select p_tenant, p_session, last - n + e.ord, e.item ->> 'type', coalesce(e.item ->> 'turn_id', p_turn),
           coalesce(e.item -> 'data', '{}')
    from jsonb_array_elements(p_events) with ordinality as e (item, ord);
  if exists (select from webhooks where tenant_id = p_tenant and enabled) then
    insert into webhook_deliveries (tenant_id, id, webhook_id, session_key, event_id, event)
      select p_tenant, 'msg_' || replace(gen_random_uuid()::text, '-', ''), w.id, p_session, e.id, e.type
      from events e join sessions s on s.tenant_id = p_tenant and s.key = p_session
      -- One that is being deleted holds nobody up.
      join (select * from webhooks where tenant_id = p_tenant and enabled for key share skip locked) w on true
      where e.tenant_id = p_tenant and e.session_key = p_session and e.id > last - n
        and e.type not in ('message.delta', 'message.reset', 'tool.output')
        and w.events && array['*', e.type, split_part(e.type, '.', 1) || '.*']
        and (w.session_key is null or w.session_key = p_session)
        and (w.agent_key is null or w.agent_key = s.agent_key)
        -- A channel hears its own conversations, not what works for them; of some agents also what they ask elsewhere.
        and (w.channel_key is null
          or w.channel_key = s.channel and s.bound_context is null and not exists (
            select from assignments a where a.tenant_id = p_tenant and a.session_key = p_session)
          or e.type like 'approval.%' and s.agent_key = any (w.approval_agents))
      order by e.id;
  end if;
  return last;
end $$;
