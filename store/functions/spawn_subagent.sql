-- Takes a place for a subagent, or says which limit is met (SA-1). One at a time over the tenant, so that no number of
-- calls at once exceeds a limit; only those that are queued or running count. Runs again safely: the same id is there.
-- kind: spawned (the row) | over (the call is) | refused (limit: depth, concurrent, children; have, most)
create function spawn_subagent(p_tenant text, p_child jsonb, p_limits jsonb) returns jsonb
language plpgsql as $$
declare
  c subagents%rowtype;
  t turns%rowtype;
  parent_depth int;
  active int;
  siblings int;
begin
  perform pg_advisory_xact_lock(hashtextextended('subagents of ' || p_tenant, 0));
  select * into c from subagents where tenant_id = p_tenant and id = p_child ->> 'id';
  if found then return jsonb_build_object('kind', 'spawned', 'row', to_jsonb(c)); end if;

  -- The end of a turn settles its calls: one that was not claimed may come after that.
  if exists (select 1 from tool_calls where tenant_id = p_tenant and id = p_child ->> 'call' and state = 'done') then
    return '{"kind":"over"}';
  end if;
  select * into t from turns where tenant_id = p_tenant and id = p_child ->> 'turn';
  parent_depth := coalesce((t.context #>> '{subagent,depth}')::int, 0);
  if parent_depth >= (p_limits ->> 'depth')::int then
    return jsonb_build_object('kind', 'refused', 'limit', 'depth', 'have', parent_depth, 'most', (p_limits ->> 'depth')::int);
  end if;
  select count(*), count(*) filter (where parent_session = p_child ->> 'session') into active, siblings
    from subagents where tenant_id = p_tenant and ended_at is null;
  if active >= (p_limits ->> 'concurrent')::int then
    return jsonb_build_object('kind', 'refused', 'limit', 'concurrent', 'have', active, 'most', (p_limits ->> 'concurrent')::int);
  end if;
  if siblings >= (p_limits ->> 'children')::int then
    return jsonb_build_object('kind', 'refused', 'limit', 'children', 'have', siblings, 'most', (p_limits ->> 'children')::int);
  end if;

  c.tenant_id := p_tenant;
  c.id := p_child ->> 'id';
  c.parent_session := p_child ->> 'session';
  c.parent_turn := t.id;
  c.parent_call := p_child ->> 'call';
  c.session_key := 'subagent:' || c.id;
  c.depth := parent_depth + 1;
  c.agent_key := t.agent_key;
  c.user_id := t.context ->> 'user';
  c.label := p_child ->> 'label';
  c.task := p_child ->> 'task';
  c.mode := p_child ->> 'mode';
  c.announce := p_child ->> 'announce';
  c.detached := (p_child ->> 'detached')::boolean;
  c.timeout_seconds := (p_child ->> 'timeout_seconds')::int;
  c.context := t.context;
  c.bound := jsonb_build_object('within', p_child -> 'within', 'subagent', jsonb_strip_nulls(jsonb_build_object(
    'id', c.id, 'label', c.label, 'depth', c.depth, 'leaf', c.depth >= (p_limits ->> 'depth')::int,
    'model', coalesce(p_child ->> 'model', t.context #>> '{subagent,model}'), 'iterations', p_limits -> 'iterations',
    'thinking', coalesce(p_child ->> 'thinking', t.context #>> '{subagent,thinking}'))));
  c.status := 'queued';
  c.iterations := 0;
  c.input_tokens := 0;
  c.output_tokens := 0;
  c.created_at := clock_timestamp();
  perform insert_subagent(c);
  return jsonb_build_object('kind', 'spawned', 'row', to_jsonb(c));
end $$;
