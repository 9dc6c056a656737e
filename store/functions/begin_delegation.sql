-- A delegation's workflow begins. False when it must not: it was stopped before, or there is no such row.
create function begin_delegation(p_tenant text, p_id text) returns boolean
language plpgsql as $$
declare
  d delegations%rowtype;
begin
  select * into d from delegations where tenant_id = p_tenant and id = p_id;
  if not found then return false; end if;
  perform 1 from sessions where tenant_id = p_tenant and key = d.origin_session for update;
  update delegations set status = 'running', started_at = now()
    where tenant_id = p_tenant and id = p_id and status = 'queued' and stopped_by is null returning * into d;
  if not found then
    return exists (select 1 from delegations where tenant_id = p_tenant and id = p_id and status = 'running');
  end if;
  perform append_events(p_tenant, d.origin_session, d.origin_turn, jsonb_build_array(jsonb_build_object(
    'type', 'delegation.started', 'data', jsonb_build_object('delegation_id', d.id, 'label', d.label, 'target', d.target_key,
      'session_key', d.session_key, 'call_id', d.origin_call, 'mode', d.mode))));
  return true;
end $$;
