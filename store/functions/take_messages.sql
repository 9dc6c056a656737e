-- Takes messages into a turn: their rows, their positions in the transcript, and the turn's own row. False when all of
-- them belong to other turns, so that this one has nothing to do. Safe to repeat: what was taken stays taken.
create function take_messages(
  p_tenant text, p_session text, p_turn text, p_step int, p_messages jsonb, p_default_agent text, p_run text
) returns boolean
language plpgsql as $$
declare
  m jsonb;
  row_turn text;
  row_session text;
  row_text text;
  row_context jsonb;
  taken int := 0;
  elsewhere int := 0;
  first_context jsonb;
  row_root jsonb;
  first_root jsonb;
  roles jsonb;
  first_text text;
  expected_agent text;
  expected_user text;
  pos bigint;
  feed jsonb := '[]';
  turn_row turns%rowtype;
  session_row sessions%rowtype;
  assignment text;
begin
  -- A sender other than our API may write the first message of a session.
  select coalesce(x.context ->> 'agent', i.item ->> 'agent', p_default_agent), coalesce(x.context, i.item) ->> 'user'
    into expected_agent, expected_user
    from jsonb_array_elements(p_messages) with ordinality as i (item, ord)
    left join messages x on x.tenant_id = p_tenant and x.id = i.item ->> 'id'
    order by i.ord limit 1;
  insert into sessions (tenant_id, key, agent_key, user_id) values (p_tenant, p_session, expected_agent, expected_user)
    on conflict do nothing;
  select * into session_row from sessions where tenant_id = p_tenant and key = p_session for update;
  -- An assignment starts with the first message of its session; one that was stopped before has nothing to do.
  if session_row.turns = 0 and session_row.bound_context ?| array['subagent', 'delegation'] then
    assignment := coalesce(session_row.bound_context #>> '{subagent,id}', session_row.bound_context #>> '{delegation,id}');
    if p_messages #>> '{0,id}' = 'msg_' || assignment and not begin_assignment(p_tenant, assignment) then return false; end if;
  end if;
  pos := session_row.position;
  for m in select * from jsonb_array_elements(p_messages) loop
    if m ? 'text' then
      insert into messages (tenant_id, id, session_key, role, text, mode, context, is_own)
        values (p_tenant, m ->> 'id', p_session, 'user', m ->> 'text', m ->> 'mode', m - 'id' - 'text' - 'mode', true)
        on conflict do nothing;
    end if;
    select turn_id, session_key, text, context, budget_root into row_turn, row_session, row_text, row_context, row_root
      from messages where tenant_id = p_tenant and id = m ->> 'id' for update;
    if not found or row_session <> p_session then
      elsewhere := elsewhere + 1;
    elsif row_turn is not null and row_turn <> p_turn then
      elsewhere := elsewhere + 1;
    else
      if first_context is null then first_root := row_root; end if;
      first_context := coalesce(first_context, row_context);
      first_text := coalesce(first_text, row_text);
      roles := common_roles(roles, row_context -> 'roles');
      if row_turn is null then
        taken := taken + 1;
        pos := pos + 1;
        update messages set turn_id = p_turn, position = pos, step = p_step
          where tenant_id = p_tenant and id = m ->> 'id';
        feed := feed || jsonb_build_object('type', 'message.received', 'data',
          jsonb_build_object('message_id', m ->> 'id', 'text', left(row_text, 2000), 'step', p_step));
      end if;
    end if;
  end loop;
  if p_step = 1 and elsewhere = jsonb_array_length(p_messages) then
    return false;
  end if;
  insert into turns (tenant_id, id, session_key, agent_key, status, context)
    values (p_tenant, p_turn, p_session, session_row.agent_key, 'queued', coalesce(first_context, '{}'))
    on conflict do nothing;
  select * into turn_row from turns where tenant_id = p_tenant and id = p_turn for update;
  -- The same message, submitted again after its turn was over and after the runs dropped its id.
  if p_step = 1 and turn_row.ended_at is not null then return false; end if;
  if turn_row.started_at is null then
    feed := jsonb_build_array(jsonb_build_object('type', 'turn.started', 'data', '{}'::jsonb)) || feed;
  end if;
  -- A step that is retried after its answer has ended the turn takes nothing new.
  if taken = 0 and turn_row.ended_at is not null then return true; end if;
  update turns set status = 'running', started_at = coalesce(started_at, now()), ended_at = null, run_id = p_run,
      context = case when started_at is null then coalesce(first_context, context) || coalesce(session_row.bound_context, '{}')
                     else context end
        || case when roles is null then '{}'
                else jsonb_build_object('roles', common_roles(case when started_at is not null then context -> 'roles' end, roles)) end,
      budget_root = case when started_at is null then first_root else budget_root end,
      agent_revision = coalesce(agent_revision,
        (select revision from agents where tenant_id = p_tenant and key = session_row.agent_key))
    where tenant_id = p_tenant and id = p_turn returning * into turn_row;
  if taken > 0 then
    update sessions set position = pos, turns = turns + (case when p_step = 1 then 1 else 0 end),
      has_unwritten = has_unwritten or jsonb_path_exists(p_messages, '$[*].text'),
      title = coalesce(title, left(first_text, 80)) where tenant_id = p_tenant and key = p_session;
  end if;
  if jsonb_array_length(feed) > 0 then perform append_events(p_tenant, p_session, p_turn, feed); end if;
  return true;
end $$;
