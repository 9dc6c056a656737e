-- Takes a place for a delegation, or says what is in its way (DE-1). One at a time over the tenant, so that no number of
-- calls at once exceeds a limit; only those that are queued or running count. Runs again safely: the same id is there.
-- p_work: id, session, turn, call, link, most_on_link, target, load, label, task, text, mode, timeout_seconds, gates
-- kind: taken (the row) | refused (limit: depth, link, target; have, most) | gone (the link or the target is no more)
create function take_delegation(p_tenant text, p_work jsonb, p_most_depth int) returns jsonb
language plpgsql as $$
declare
  d delegations%rowtype;
  t turns%rowtype;
  l agent_links%rowtype;
  from_depth int;
  on_link int;
  on_target int;
begin
  perform pg_advisory_xact_lock(hashtextextended('delegations of ' || p_tenant, 0));
  select * into d from delegations where tenant_id = p_tenant and id = p_work ->> 'id';
  if found then return jsonb_build_object('kind', 'taken', 'row', to_jsonb(d)); end if;

  select * into l from agent_links where tenant_id = p_tenant and id = p_work ->> 'link' and status = 'active';
  if not found or not exists (
    select 1 from agents where tenant_id = p_tenant and key = p_work ->> 'target' and deleted_at is null) then
    return jsonb_build_object('kind', 'gone');
  end if;
  select * into t from turns where tenant_id = p_tenant and id = p_work ->> 'turn';
  from_depth := coalesce((t.context #>> '{delegation,depth}')::int, 0);
  if from_depth >= p_most_depth then
    return jsonb_build_object('kind', 'refused', 'limit', 'depth', 'have', from_depth, 'most', p_most_depth);
  end if;
  select count(*) filter (where link_id = l.id), count(*) filter (where target_key = p_work ->> 'target')
    into on_link, on_target from delegations where tenant_id = p_tenant and ended_at is null;
  if l.max_concurrent > 0 and on_link >= l.max_concurrent then
    return jsonb_build_object('kind', 'refused', 'limit', 'link', 'have', on_link, 'most', l.max_concurrent);
  end if;
  if on_target >= (p_work ->> 'load')::int then
    return jsonb_build_object('kind', 'refused', 'limit', 'target', 'have', on_target, 'most', (p_work ->> 'load')::int);
  end if;

  d.tenant_id := p_tenant;
  d.id := p_work ->> 'id';
  d.origin_session := p_work ->> 'session';
  d.origin_turn := t.id;
  d.origin_call := p_work ->> 'call';
  d.link_id := l.id;
  d.source_key := t.agent_key;
  d.target_key := p_work ->> 'target';
  d.session_key := 'delegate:' || d.id;
  d.depth := from_depth + 1;
  d.user_id := t.context ->> 'user';
  d.label := p_work ->> 'label';
  d.task := p_work ->> 'task';
  d.mode := p_work ->> 'mode';
  d.timeout_seconds := (p_work ->> 'timeout_seconds')::int;
  d.context := t.context;
  d.bound := jsonb_build_object('delegation', jsonb_strip_nulls(jsonb_build_object(
    'id', d.id, 'label', d.label, 'from', d.source_key, 'depth', d.depth, 'session', d.origin_session, 'turn', d.origin_turn,
    'ungated', coalesce(t.context #> '{delegation,ungated}', t.context #> '{team,ungated}'))));
  -- Work within a judgement is not judged itself.
  d.gates := case when d.bound #> '{delegation,ungated}' = 'true' then '[]' else p_work -> 'gates' end;
  d.status := 'queued';
  d.warnings := '[]';
  d.iterations := 0;
  d.input_tokens := 0;
  d.output_tokens := 0;
  d.created_at := clock_timestamp();
  perform write_work(p_tenant, jsonb_build_object('session', d.session_key, 'agent', d.target_key, 'user', d.user_id,
    'title', d.label, 'context', d.context, 'bound', d.bound, 'message', 'msg_' || d.id,
    'text', p_work ->> 'text'));
  insert into delegations select d.*;
  return jsonb_build_object('kind', 'taken', 'row', to_jsonb(d));
end $$;
