-- Appends to a session's feed and returns the last number. The row lock keeps numbers and commits in one order. Lists
-- of sessions are in the order of their messages and turns; what happens within a turn counts to ten seconds.
create function append_events(p_tenant text, p_session text, p_turn text, p_events jsonb) returns bigint
language plpgsql as $$
declare
  n int := jsonb_array_length(p_events);
  last bigint;
begin
  if n = 0 then return null; end if;
  update sessions set event_seq = event_seq + n,
      updated_at = case when p_events #>> '{0,type}' ~ '^(turn|message\.received)' then now() else active_at(updated_at) end
    where tenant_id = p_tenant and key = p_session returning event_seq into last;
  insert into events (tenant_id, session_key, id, type, turn_id, data)
    select p_tenant, p_session, last - n + e.ord, e.item ->> 'type', coalesce(e.item ->> 'turn_id', p_turn),
           coalesce(e.item -> 'data', '{}')
    from jsonb_array_elements(p_events) with ordinality as e (item, ord);
  return last;
end $$;
