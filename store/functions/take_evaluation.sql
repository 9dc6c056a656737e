-- Begins rounds of making and judging (DE-4). Runs again safely: the same id is there.
-- p_work: id, session, turn, call, generator, evaluator, label, task, criteria, context_text, max_rounds
-- kind: taken (the row) | refused (limit: depth; have, most)
create function take_evaluation(p_tenant text, p_work jsonb, p_most_depth int) returns jsonb
language plpgsql as $$
declare
  e evaluations%rowtype;
  t turns%rowtype;
  from_depth int;
begin
  perform 1 from sessions where tenant_id = p_tenant and key = p_work ->> 'session' for update;
  select * into e from evaluations where tenant_id = p_tenant and id = p_work ->> 'id';
  if found then return jsonb_build_object('kind', 'taken', 'row', to_jsonb(e)); end if;
  select * into t from turns where tenant_id = p_tenant and id = p_work ->> 'turn';
  from_depth := coalesce((t.context #>> '{delegation,depth}')::int, 0);
  if from_depth >= p_most_depth then
    return jsonb_build_object('kind', 'refused', 'limit', 'depth', 'have', from_depth, 'most', p_most_depth);
  end if;
  insert into evaluations (tenant_id, id, origin_session, origin_turn, origin_call, generator_key, evaluator_key, user_id, label,
      task, criteria, context_text, max_rounds, context, depth, status)
    values (p_tenant, p_work ->> 'id', p_work ->> 'session', t.id, p_work ->> 'call', p_work ->> 'generator',
      p_work ->> 'evaluator', t.context ->> 'user', p_work ->> 'label', p_work ->> 'task', p_work ->> 'criteria',
      p_work ->> 'context_text', (p_work ->> 'max_rounds')::int, t.context, from_depth + 1, 'running')
    returning * into e;
  perform append_events(p_tenant, e.origin_session, e.origin_turn, jsonb_build_array(jsonb_build_object(
    'type', 'evaluation.started', 'data', jsonb_build_object('evaluation_id', e.id, 'label', e.label, 'generator', e.generator_key,
      'evaluator', e.evaluator_key, 'call_id', e.origin_call, 'max_rounds', e.max_rounds))));
  return jsonb_build_object('kind', 'taken', 'row', to_jsonb(e));
end $$;
