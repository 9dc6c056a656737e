-- Ends a delegation once, after its gates: its place is free, and the origin's feed and, when its turn waits, the origin's
-- call have the outcome. A repeat changes nothing and answers the same. One whose session has yet to hear of work that it
-- gave away itself is not complete: pending. `untold`: results to be announced now; none while a sibling still runs (DE-2).
create function finish_delegation(p_tenant text, p_id text, p_end jsonb) returns jsonb
language plpgsql as $$
declare
  d delegations%rowtype;
  origin text;
begin
  select origin_session into origin from delegations where tenant_id = p_tenant and id = p_id;
  if not found then return null; end if;
  perform 1 from sessions where tenant_id = p_tenant and key = origin for update;
  select * into d from delegations where tenant_id = p_tenant and id = p_id for update;
  if d.ended_at is null and p_end ->> 'status' = 'completed' and has_pending_results(p_tenant, d.session_key) then
    return jsonb_build_object('row', to_jsonb(d), 'pending', true);
  end if;
  if d.ended_at is null then
    update delegations u set status = p_end ->> 'status', result = p_end ->> 'result', error = nullif(p_end -> 'error', 'null'),
        warnings = coalesce(p_end -> 'warnings', '[]'), stopped_by = coalesce(p_end ->> 'by', stopped_by),
        ended_at = clock_timestamp(),
        told_by = case when (p_end ->> 'silent')::boolean then 'nobody' when mode = 'sync' then origin_call else told_by end,
        iterations = x.steps, input_tokens = x.input, output_tokens = x.output
      from (select coalesce(sum(t.steps), 0) as steps, coalesce(sum(t.input_tokens), 0) as input,
                   coalesce(sum(t.output_tokens), 0) as output
            from turns t where t.tenant_id = p_tenant and t.session_key = d.session_key) x
      where u.tenant_id = p_tenant and u.id = p_id returning u.* into d;
    perform append_events(p_tenant, d.origin_session, d.origin_turn, jsonb_build_array(jsonb_build_object(
      'type', 'delegation.completed', 'data', jsonb_strip_nulls(jsonb_build_object('delegation_id', d.id, 'label', d.label,
        'target', d.target_key, 'session_key', d.session_key, 'status', d.status, 'preview', left(coalesce(d.result, ''), 500),
        'error', d.error, 'warnings', nullif(d.warnings, '[]'), 'iterations', d.iterations, 'by', d.stopped_by)))));
    if d.mode = 'sync' then
      perform settle_calls(p_tenant, d.origin_session, d.origin_turn,
        jsonb_build_array((p_end -> 'call') || jsonb_build_object('id', d.origin_call)));
    end if;
    -- Of its gates.
    perform count_turn_holds(p_tenant, p_id);
  end if;
  return jsonb_build_object('row', to_jsonb(d), 'untold', untold_delegations(p_tenant, d.origin_session));
end $$;
