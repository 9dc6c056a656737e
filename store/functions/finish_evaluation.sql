-- Ends rounds of making and judging once: the origin's feed and call have the outcome. A repeat changes nothing and answers
-- the same. p_end: status, error, by, call
create function finish_evaluation(p_tenant text, p_id text, p_end jsonb) returns jsonb
language plpgsql as $$
declare
  e evaluations%rowtype;
  origin text;
begin
  select origin_session into origin from evaluations where tenant_id = p_tenant and id = p_id;
  if not found then return null; end if;
  perform 1 from sessions where tenant_id = p_tenant and key = origin for update;
  update evaluations set status = p_end ->> 'status', error = nullif(p_end -> 'error', 'null'),
      stopped_by = p_end ->> 'by', ended_at = clock_timestamp()
    where tenant_id = p_tenant and id = p_id and ended_at is null returning * into e;
  if found then
    perform append_events(p_tenant, e.origin_session, e.origin_turn, jsonb_build_array(jsonb_build_object(
      'type', 'evaluation.completed', 'data', jsonb_strip_nulls(jsonb_build_object('evaluation_id', e.id, 'label', e.label,
        'status', e.status, 'error', e.error, 'by', e.stopped_by, 'rounds',
        (select count(*) from evaluation_rounds r where r.tenant_id = p_tenant and r.evaluation_id = p_id))))));
    perform settle_calls(p_tenant, e.origin_session, e.origin_turn,
      jsonb_build_array((p_end -> 'call') || jsonb_build_object('id', e.origin_call)));
  end if;
  return (select to_jsonb(x) from evaluations x where x.tenant_id = p_tenant and x.id = p_id);
end $$;
