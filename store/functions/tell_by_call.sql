-- The result of a call tells of these subagents: recorded with it, so that no message repeats it.
create function tell_by_call(p_tenant text, p_session text, p_turn text, p_call jsonb, p_ids jsonb) returns void
language plpgsql as $$
begin
  perform 1 from sessions where tenant_id = p_tenant and key = p_session for update;
  perform settle_calls(p_tenant, p_session, p_turn, jsonb_build_array(p_call));
  update subagents set told_by = p_call ->> 'id'
    where tenant_id = p_tenant and parent_session = p_session and told_by is null and ended_at is not null
      and id in (select jsonb_array_elements_text(p_ids));
end $$;
