-- Records that a session has read the results of these tools (PO-5): p_calls contains the first call of each. Known
-- tools keep their call. Sessions for which it works know it at once, because its output reaches them: those of the
-- giver of the work, and of the creator of the team's task.
create function note_used(p_tenant text, p_session text, p_calls jsonb) returns void
language plpgsql as $$
declare
  facts jsonb;
  place text := p_session;
begin
  select jsonb_object_agg(key, jsonb_build_object('call', value, 'at', extract(epoch from clock_timestamp()))) into facts
    from jsonb_each_text(p_calls);
  -- Deeper than work can be delegated.
  for depth in 1..100 loop
    exit when facts is null or place is null;
    update sessions set used = facts || used where tenant_id = p_tenant and key = place
      and not used ?& array(select jsonb_object_keys(facts));
    place := giver_of(p_tenant, place);
  end loop;
end $$;
