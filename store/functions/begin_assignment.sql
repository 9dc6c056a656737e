-- Records with the first step of its session that an assignment has started. False when it must not start: it was
-- stopped before, it has ended, or its row does not exist.
create function begin_assignment(p_tenant text, p_id text) returns boolean
language plpgsql as $$
declare
  a assignments%rowtype;
begin
  select * into a from assignments where tenant_id = p_tenant and id = p_id;
  if not found then return false; end if;
  perform 1 from sessions where tenant_id = p_tenant and key = a.origin_session for update;
  update assignments set status = 'running', started_at = now()
    where tenant_id = p_tenant and id = p_id and status = 'queued' and stopped_by is null returning * into a;
  if not found then
    return exists (select 1 from assignments where tenant_id = p_tenant and id = p_id and status = 'running');
  end if;
  perform append_events(p_tenant, a.origin_session, a.origin_turn, jsonb_build_array(jsonb_build_object('type', a.kind || '.started',
    'data', jsonb_strip_nulls(jsonb_build_object(a.kind || '_id', a.id, 'label', a.label, 'session_key', a.session_key,
      'call_id', a.origin_call, 'mode', a.mode, 'target', case when a.kind = 'delegation' then a.target_key end)))));
  return true;
end $$;
