-- Writes a decision on a pending approval down, with the edit it makes; the caller holds the row's lock. The same request
-- again, and the same person agreeing to the same call again, change nothing.
create function record_vote(
  p_tenant text, p_id text, p_decision text, p_by text, p_key text, p_note text, p_edit jsonb, p_vote jsonb
) returns void
language plpgsql as $$
declare
  a approvals%rowtype;
  agrees boolean := p_decision in ('approve', 'approve_always', 'edit');
begin
  select * into a from approvals where tenant_id = p_tenant and id = p_id;
  if exists (select 1 from approval_decisions d where d.tenant_id = p_tenant and d.approval_id = p_id and (d.key = p_key
      or (agrees and p_edit is null and d.person = p_vote ->> 'person' and d.digest = a.digest))) then
    return;
  end if;
  update approvals set args = coalesce(p_edit -> 'args', args), digest = coalesce(p_edit ->> 'digest', digest),
      summary = coalesce(p_edit ->> 'summary', summary), files = coalesce(p_edit -> 'files', files), changed_at = clock_timestamp()
    where tenant_id = p_tenant and id = p_id returning * into a;
  if p_edit is not null then
    update tool_calls set args = a.args, summary = a.summary, args_sealed = decode(p_edit ->> 'sealed', 'base64'), digest = a.digest
      where tenant_id = p_tenant and id = a.call_id and state = 'requested';
  end if;
  insert into approval_decisions (tenant_id, approval_id, key, decision, by, person, api_key_id, via, digest, note)
    values (p_tenant, p_id, p_key, p_decision, p_by, p_vote ->> 'person', p_vote ->> 'api_key_id', p_vote ->> 'via',
            case when agrees then a.digest end, p_note);
  if agrees and coalesce((a.terms ->> 'quorum')::int, 1) > 1 then
    perform append_events(p_tenant, a.session_key, a.turn_id, jsonb_build_array(jsonb_build_object('type', 'approval.voted', 'data',
      jsonb_strip_nulls(jsonb_build_object('approval_id', p_id, 'call_id', a.call_id, 'decision', p_decision, 'by', p_by, 'note', p_note,
        'approvals', cardinality(agreed_by(p_tenant, p_id, a.digest)), 'quorum', a.terms -> 'quorum', 'digest', a.digest,
        'summary', case when p_edit is not null then a.summary end, 'args', case when p_edit is not null then a.args end)))));
  end if;
end $$;
