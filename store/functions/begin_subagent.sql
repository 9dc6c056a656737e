-- A subagent begins. False when it must not: it was stopped before, it has ended, or there is no such row.
create function begin_subagent(p_tenant text, p_id text) returns boolean
language plpgsql as $$
declare
  s subagents%rowtype;
begin
  select * into s from subagents where tenant_id = p_tenant and id = p_id;
  if not found then return false; end if;
  perform 1 from sessions where tenant_id = p_tenant and key = s.parent_session for update;
  update subagents set status = 'running', started_at = now()
    where tenant_id = p_tenant and id = p_id and status = 'queued' and stopped_by is null returning * into s;
  if not found then
    return exists (select 1 from subagents where tenant_id = p_tenant and id = p_id and status = 'running');
  end if;
  perform append_events(p_tenant, s.parent_session, s.parent_turn, jsonb_build_array(jsonb_build_object(
    'type', 'subagent.started', 'data', jsonb_build_object('subagent_id', s.id, 'label', s.label, 'session_key', s.session_key,
      'call_id', s.parent_call, 'mode', s.mode))));
  return true;
end $$;
