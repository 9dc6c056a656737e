-- Ends a turn once, and returns how it ended, whoever was first; null when the turn does not exist. Open calls become
-- Cancelled or OutcomeUnknown, waiting approvals are withdrawn. p_text is appended to its answer.
create function end_turn(
  p_tenant text, p_session text, p_turn text, p_step int, p_status text, p_error jsonb, p_by text, p_settled jsonb,
  p_messages jsonb, p_dropped jsonb, p_default_agent text, p_run text, p_text text default null
) returns text
language plpgsql as $$
declare
  t turns%rowtype;
  d jsonb;
  m jsonb;
begin
  if jsonb_array_length(p_messages) > 0 then
    perform take_messages(p_tenant, p_session, p_turn, p_step, p_messages, p_default_agent, p_run);
  end if;
  perform 1 from sessions where tenant_id = p_tenant and key = p_session for update;
  for d in select * from jsonb_array_elements(p_dropped) loop
    -- A message of another client that never ran is stored, so that its id stays taken.
    for m in select * from jsonb_array_elements(d -> 'messages') loop
      if m ? 'text' then
        insert into messages (tenant_id, id, session_key, turn_id, role, text)
          values (p_tenant, m ->> 'id', p_session, d ->> 'turnId', 'user', m ->> 'text') on conflict do nothing;
      else
        update messages set turn_id = d ->> 'turnId' where tenant_id = p_tenant and id = m ->> 'id' and turn_id is null;
      end if;
    end loop;
    insert into turns (tenant_id, id, session_key, agent_key, status, ended_at, error)
      select p_tenant, d ->> 'turnId', p_session, s.agent_key, 'stopped', now(), '{"code":"Stopped","message":"stopped before it began"}'
      from sessions s where s.tenant_id = p_tenant and s.key = p_session
      on conflict (tenant_id, id) do update set status = 'stopped', ended_at = now(), error = excluded.error
        where turns.status = 'queued';
    perform append_events(p_tenant, p_session, d ->> 'turnId',
      jsonb_build_array(jsonb_build_object('type', 'turn.stopped', 'turn_id', d ->> 'turnId', 'data',
        jsonb_strip_nulls(jsonb_build_object('by', p_by, 'started', false)))));
  end loop;
  select * into t from turns where tenant_id = p_tenant and id = p_turn for update;
  if not found or (t.status in ('completed', 'failed', 'stopped') and t.steps >= p_step) then return t.status; end if;
  perform settle_calls(p_tenant, p_session, p_turn, p_settled);
  perform settle_calls(p_tenant, p_session, p_turn, (
    select coalesce(jsonb_agg(case when state = 'running'
      then jsonb_build_object('id', id, 'ok', false, 'code', 'OutcomeUnknown',
             'text', 'OutcomeUnknown: the call had begun when the turn ended; whether it took effect is not known.')
      else jsonb_build_object('id', id, 'ok', false, 'code', 'Cancelled', 'text', 'Cancelled: the turn ended before the call ran.')
      end), '[]')
    from tool_calls where tenant_id = p_tenant and turn_id = p_turn and state <> 'done'));
  update approvals set status = 'withdrawn', decided_at = now(), decided_by = coalesce(p_by, 'system'), changed_at = clock_timestamp()
    where tenant_id = p_tenant and turn_id = p_turn and status = 'pending';
  update turns set status = p_status, error = p_error, ended_at = now(),
      text = nullif(concat_ws(E'\n\n', nullif(text, ''), p_text), '')
    where tenant_id = p_tenant and id = p_turn returning * into t;
  perform append_events(p_tenant, p_session, p_turn, jsonb_build_array(jsonb_build_object('type', 'turn.' || p_status, 'data',
    jsonb_strip_nulls(jsonb_build_object('text', t.text, 'steps', t.steps, 'error', p_error, 'by', p_by)))));
  perform count_turn_holds(p_tenant, p_turn);
  return p_status;
end $$;
