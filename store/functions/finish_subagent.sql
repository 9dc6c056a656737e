-- Ends a subagent once: its place is free, the parent's feed and, when its turn waits, the parent's call have the outcome,
-- and a replacement takes over the place in the same commit. A repeat changes nothing and answers the same. One that has
-- subagents of its own is not complete before its session has heard of all of them: pending.
create function finish_subagent(p_tenant text, p_id text, p_end jsonb) returns jsonb
language plpgsql as $$
declare
  s subagents%rowtype;
  n subagents%rowtype;
  parent text;
begin
  select parent_session into parent from subagents where tenant_id = p_tenant and id = p_id;
  if not found then return null; end if;
  perform 1 from sessions where tenant_id = p_tenant and key = parent for update;
  select * into s from subagents where tenant_id = p_tenant and id = p_id for update;
  if s.ended_at is null and p_end ->> 'status' = 'completed' and has_pending_results(p_tenant, s.session_key) then
    return jsonb_build_object('row', to_jsonb(s), 'pending', true);
  end if;
  if s.ended_at is null then
    update subagents u set status = p_end ->> 'status', result = p_end ->> 'result', error = nullif(p_end -> 'error', 'null'),
        stopped_by = coalesce(p_end ->> 'by', stopped_by), ended_at = clock_timestamp(), replaced_by = p_end #>> '{next,id}',
        told_by = case when p_end ? 'next' or (p_end ->> 'silent')::boolean then 'nobody'
                       when mode = 'sync' then parent_call else told_by end,
        iterations = x.steps, input_tokens = x.input, output_tokens = x.output
      from (select coalesce(sum(t.steps), 0) as steps, coalesce(sum(t.input_tokens), 0) as input,
                   coalesce(sum(t.output_tokens), 0) as output
            from turns t where t.tenant_id = p_tenant and t.session_key = s.session_key) x
      where u.tenant_id = p_tenant and u.id = p_id returning u.* into s;
    perform append_events(p_tenant, s.parent_session, s.parent_turn, jsonb_build_array(jsonb_build_object(
      'type', 'subagent.completed', 'data', jsonb_strip_nulls(jsonb_build_object('subagent_id', s.id, 'label', s.label,
        'session_key', s.session_key, 'status', s.status, 'preview', left(coalesce(s.result, ''), 500), 'error', s.error,
        'iterations', s.iterations, 'by', s.stopped_by, 'replaced_by', s.replaced_by)))));
    if p_end ? 'next' then
      n := s;
      n.id := p_end #>> '{next,id}';
      n.session_key := 'subagent:' || n.id;
      n.label := p_end #>> '{next,label}';
      n.task := p_end #>> '{next,task}';
      n.bound := s.bound || jsonb_build_object('subagent',
        (s.bound -> 'subagent') || jsonb_build_object('id', n.id, 'label', n.label));
      n.status := 'queued';
      n.result := null; n.error := null; n.stopped_by := null; n.replaced_by := null; n.told_by := null;
      n.iterations := 0; n.input_tokens := 0; n.output_tokens := 0;
      n.created_at := clock_timestamp(); n.started_at := null; n.ended_at := null;
      perform insert_subagent(n);
    elsif s.mode = 'sync' then
      perform settle_calls(p_tenant, s.parent_session, s.parent_turn,
        jsonb_build_array((p_end -> 'call') || jsonb_build_object('id', s.parent_call)));
    end if;
  end if;
  return jsonb_build_object('row', to_jsonb(s),
    'next', (select to_jsonb(r) from subagents r where r.tenant_id = p_tenant and r.id = s.replaced_by),
    'untold', case when s.told_by is null then (select count(*) from subagents u where u.tenant_id = p_tenant
      and u.parent_session = s.parent_session and u.ended_at is not null and u.told_by is null) else 0 end);
end $$;
