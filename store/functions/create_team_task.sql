-- Makes a task's row with the next number of its team. Runs again safely: the same create_key is the same task.
-- kind: created (number) | missing (no such team) | refused (why)
create function create_team_task(p_tenant text, p_team text, p_new jsonb) returns jsonb
language plpgsql as $$
declare
  t teams%rowtype;
  n int;
  asked int[] := array(select distinct value::int from jsonb_array_elements_text(p_new -> 'blocked_by'));
  open_ones jsonb;
  initial text;
begin
  select * into t from teams where tenant_id = p_tenant and key = p_team and deleted_at is null for update;
  if not found then return jsonb_build_object('kind', 'missing'); end if;
  select number into n from team_tasks where tenant_id = p_tenant and team_key = p_team and create_key = p_new ->> 'create_key';
  if found then return jsonb_build_object('kind', 'created', 'number', n); end if;
  if p_new ->> 'assignee' is not null and not exists (select 1 from team_members
      where tenant_id = p_tenant and team_key = p_team and agent_key = p_new ->> 'assignee') then
    return jsonb_build_object('kind', 'refused', 'why', 'assignee');
  end if;
  if (select count(*) from team_tasks where tenant_id = p_tenant and team_key = p_team and number = any (asked)) < cardinality(asked) then
    return jsonb_build_object('kind', 'refused', 'why', 'blocked_by');
  end if;
  select coalesce(jsonb_agg(number order by number), '[]') into open_ones from team_tasks
    where tenant_id = p_tenant and team_key = p_team and number = any (asked) and status <> 'completed';
  initial := case when (p_new ->> 'require_approval')::boolean then 'in_review'
                  when jsonb_array_length(open_ones) > 0 then 'blocked' else 'pending' end;
  n := t.task_seq + 1;
  update teams set task_seq = n where tenant_id = p_tenant and key = p_team;
  insert into team_tasks (tenant_id, team_key, number, subject, description, status, assignee, priority, state, revision,
      origin_session, origin_turn, origin_context, create_key, created_by)
    values (p_tenant, p_team, n, p_new ->> 'subject', coalesce(p_new ->> 'description', ''), initial, p_new ->> 'assignee',
      (p_new ->> 'priority')::int, jsonb_build_object('number', n, 'subject', p_new ->> 'subject', 'status', initial,
        'assignee', p_new ->> 'assignee', 'owner', null, 'lease', null, 'open_blockers', open_ones, 'percent', 0,
        'priority', (p_new ->> 'priority')::int, 'released', p_new ->> 'origin_turn' is null, 'worked', false,
        'dispatches', 0, 'expiries', 0, 'fence', 0, 'question', null, 'note', null, 'revision', 1),
      1, p_new ->> 'origin_session', p_new ->> 'origin_turn',
      coalesce((select context from turns where tenant_id = p_tenant and id = p_new ->> 'origin_turn'), p_new -> 'context', '{}'),
      p_new ->> 'create_key', p_new ->> 'actor');
  insert into team_task_blockers select p_tenant, p_team, n, unnest(asked);
  insert into team_task_events (tenant_id, team_key, number, revision, action, actor, status)
    values (p_tenant, p_team, n, 1, 'create', p_new ->> 'actor', initial);
  return jsonb_build_object('kind', 'created', 'number', n);
end $$;
