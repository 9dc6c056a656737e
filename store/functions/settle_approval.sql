-- Records a decision, and ends the approval once: with the first one, or where its terms have a quorum, with the one that
-- completes it. Whoever comes after the end gets its outcome. An edit changes the call, so that agreement to other arguments
-- no longer counts. p_vote: who decided, {person?, api_key_id?, via}; without it nothing is agreed to in a quorum.
-- A link by which the decision comes is used up in the same commit; one that was used changes nothing (link_used).
create function settle_approval(
  p_tenant text, p_id text, p_status text, p_decision text, p_by text, p_key text, p_note text, p_edit jsonb, p_call jsonb, p_allow jsonb,
  p_vote jsonb default null
) returns jsonb
language plpgsql as $$
declare
  a approvals%rowtype;
  session text;
  quorum int;
  agreed text[];
  signed text := p_by;
  feed jsonb;
begin
  select session_key into session from approvals where tenant_id = p_tenant and id = p_id;
  if not found then return null; end if;
  perform 1 from sessions where tenant_id = p_tenant and key = session for update;
  select * into a from approvals where tenant_id = p_tenant and id = p_id for update;
  if a.status <> 'pending' then
    delete from decision_proofs where tenant_id = p_tenant and approval_id = p_id;
    return to_jsonb(a) || jsonb_build_object('won', a.decision_key is not distinct from p_key);
  end if;
  if p_vote is not null and not use_link(p_tenant, p_id, p_key) then
    return to_jsonb(a) || jsonb_build_object('link_used', true, 'decided_by', p_by, 'decided_at', now());
  end if;
  quorum := case when p_status = 'approved' then coalesce((a.terms ->> 'quorum')::int, 1) else 1 end;
  if p_vote is not null then perform record_vote(p_tenant, p_id, p_decision, p_by, p_key, p_note, p_edit, p_vote); end if;
  if p_edit is not null then select * into a from approvals where tenant_id = p_tenant and id = p_id; end if;
  if quorum > 1 then
    agreed := agreed_by(p_tenant, p_id, a.digest);
    if cardinality(agreed) < quorum then
      return to_jsonb(a) || jsonb_build_object('approvals', cardinality(agreed), 'quorum', quorum, 'decided_by', p_by, 'decided_at', now(),
        'already', not exists (select 1 from approval_decisions where tenant_id = p_tenant and approval_id = p_id and key = p_key));
    end if;
    signed := array_to_string(agreed, ', ');
  end if;
  update approvals set status = p_status, decision = p_decision, decided_by = signed, decided_at = now(), note = p_note,
      decision_key = p_key, changed_at = clock_timestamp()
    where tenant_id = p_tenant and id = p_id returning * into a;
  delete from decision_proofs where tenant_id = p_tenant and approval_id = p_id;
  if p_allow is not null then
    insert into exec_allowlist (tenant_id, id, agent_key, user_id, tool, pattern, approval_id, created_by)
      values (p_tenant, p_allow ->> 'id', a.agent_key, a.user_id, a.tool, coalesce(a.always ->> 'pattern', p_allow ->> 'pattern'), p_id, p_by)
      on conflict do nothing;
  end if;
  feed := jsonb_build_array(jsonb_build_object('type', 'approval.decided', 'data',
    jsonb_strip_nulls(jsonb_build_object('approval_id', p_id, 'call_id', a.call_id, 'status', p_status, 'decision', p_decision,
      'by', a.decided_by, 'note', p_note))));
  perform append_events(p_tenant, session, a.turn_id, feed);
  perform append_above(p_tenant, session, feed);
  if p_call is not null then 
    perform settle_calls(p_tenant, session, a.turn_id, jsonb_build_array(p_call || jsonb_build_object('id', a.call_id)));
  end if;
  if not exists (select 1 from approvals where tenant_id = p_tenant and turn_id = a.turn_id and status = 'pending') then
    update turns set status = 'running' where tenant_id = p_tenant and id = a.turn_id and status = 'waiting_approval';
  end if;
  if p_status = 'approved' and a.tool = 'budget.more' then
    perform grant_budget(p_tenant, a.args);
    update approvals set used_at = now() where tenant_id = p_tenant and id = p_id;
  end if;
  return to_jsonb(a) || '{"won":true}';
end $$;
