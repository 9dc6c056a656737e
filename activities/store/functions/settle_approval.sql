-- Ends an approval once. Whoever comes second gets the first one's outcome.
create function settle_approval(
  p_tenant text, p_id text, p_status text, p_decision text, p_by text, p_key text, p_note text, p_edit jsonb, p_call jsonb, p_allow jsonb
) returns jsonb
language plpgsql as $$
declare
  a approvals%rowtype;
  session text;
begin
  select session_key into session from approvals where tenant_id = p_tenant and id = p_id;
  if not found then return null; end if;
  perform 1 from sessions where tenant_id = p_tenant and key = session for update;
  select * into a from approvals where tenant_id = p_tenant and id = p_id for update;
  if a.status <> 'pending' then
    return to_jsonb(a) || jsonb_build_object('won', a.decision_key is not distinct from p_key);
  end if;
  update approvals set status = p_status, decision = p_decision, decided_by = p_by, decided_at = now(), note = p_note,
      decision_key = p_key, args = coalesce(p_edit -> 'args', args), digest = coalesce(p_edit ->> 'digest', digest),
      summary = coalesce(p_edit ->> 'summary', summary)
    where tenant_id = p_tenant and id = p_id returning * into a;
  if p_edit is not null then
    update tool_calls set args = p_edit -> 'args', summary = p_edit ->> 'summary', args_sealed = decode(p_edit ->> 'sealed', 'base64'), digest = p_edit ->> 'digest'
      where tenant_id = p_tenant and id = a.call_id and state = 'requested';
  end if;
  if p_allow is not null then
    insert into exec_allowlist (tenant_id, id, agent_key, user_id, tool, pattern, approval_id, created_by)
      values (p_tenant, p_allow ->> 'id', a.agent_key, a.user_id, a.tool, p_allow ->> 'pattern', p_id, p_by)
      on conflict do nothing;
  end if;
  perform append_events(p_tenant, session, a.turn_id, jsonb_build_array(jsonb_build_object('type', 'approval.decided', 'data',
    jsonb_strip_nulls(jsonb_build_object('approval_id', p_id, 'call_id', a.call_id, 'status', p_status, 'decision', p_decision,
      'by', p_by, 'note', p_note)))));
  if p_call is not null then 
    perform settle_calls(p_tenant, session, a.turn_id, jsonb_build_array(p_call || jsonb_build_object('id', a.call_id)));
  end if;
  if not exists (select 1 from approvals where tenant_id = p_tenant and turn_id = a.turn_id and status = 'pending') then
    update turns set status = 'running' where tenant_id = p_tenant and id = a.turn_id and status = 'waiting_approval';
  end if;
  return to_jsonb(a) || '{"won":true}';
end $$;
