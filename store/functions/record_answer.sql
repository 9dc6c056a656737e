-- Records a model's answer with its calls, approvals and costs. Returns
-- - recorded
-- - ended: the answer has ended the turn (`ends`). This does not happen while a message waits in the session, or may
--   wait only with its workflow, because it may belong to this turn.
-- - refused: nothing changed. The step had been recorded, or the answer was made before the turn took a message
--   (`readUpTo`).
-- - over: nothing changed. A call with a fence is claimed with the answer (like by claim_call), and a turn that is over
--   accepts none.
create function record_answer(
  p_tenant text, p_session text, p_turn text, p_step int, p_answer jsonb, p_calls jsonb, p_approvals jsonb, p_feed jsonb
) returns text
language plpgsql as $$
declare
  pos bigint;
  agent text;
  owner text;
  turn_agent text;
  unwritten boolean;
  held int := (p_answer #>> '{budget,attempt}')::int;
begin
  -- The session's row is locked first, as everywhere: one order of locks.
  select position + 1, agent_key, has_unwritten into pos, agent, unwritten from sessions where tenant_id = p_tenant and key = p_session for update;
  if jsonb_path_exists(p_calls, '$[*].fence') and exists (select from turns
      where tenant_id = p_tenant and id = p_turn and status in ('completed', 'failed', 'stopped')) then
    return 'over';
  end if;
  insert into messages (tenant_id, id, session_key, turn_id, step, role, text, calls, finish, model, attempt, usage, usd, position)
    select p_tenant, p_answer ->> 'id', p_session, p_turn, p_step, 'assistant', p_answer ->> 'text',
            (select jsonb_agg(jsonb_build_object('id', c -> 'id', 'tool', c -> 'tool', 'args', c -> 'args')) from jsonb_array_elements(p_calls) c), p_answer ->> 'finish',
            p_answer ->> 'model', (p_answer ->> 'attempt')::int, p_answer -> 'usage', (p_answer ->> 'usd')::numeric, pos
    where not exists (select from messages x where x.tenant_id = p_tenant and x.session_key = p_session
      and x.position > (p_answer ->> 'readUpTo')::bigint and x.turn_id = p_turn and x.role = 'user')
    on conflict do nothing;
  if not found then
    -- The answer came too late, but it was paid for.
    if p_answer ->> 'model' <> 'none' then
      perform note_model_uses(p_tenant, p_session, p_turn, coalesce(p_answer -> 'uses', '[]') || jsonb_build_array(jsonb_strip_nulls(
        jsonb_build_object('kind', 'unused', 'model', p_answer -> 'model', 'usage', p_answer -> 'usage', 'usd', p_answer -> 'usd'))));
    end if;
    if held is not null then perform settle_budget(p_tenant, p_answer ->> 'id', held, p_answer #> '{budget,spent}'); end if;
    return 'refused';
  end if;
  update sessions set position = pos where tenant_id = p_tenant and key = p_session;
  insert into tool_calls (tenant_id, id, session_key, turn_id, step, index, tool, called_as, summary, args, args_sealed,
      digest, custom_tool_id, custom_tool_revision, verdict, reason, hooks, approval_id, state, fence, attempts, ok, code, result, started_at, ended_at)
    select p_tenant, c ->> 'id', p_session, p_turn, p_step, (c ->> 'index')::int, c ->> 'tool', c ->> 'called_as',
      c ->> 'summary', c -> 'args', decode(c ->> 'sealed', 'base64'), c ->> 'digest', (c #>> '{custom_tool,id}')::uuid,
      (c #>> '{custom_tool,revision}')::int, c ->> 'verdict', c ->> 'reason', c -> 'hooks',
      c ->> 'approval_id', coalesce(c ->> 'state', 'requested'), c ->> 'fence', (c ? 'fence')::int, (c ->> 'ok')::boolean, c ->> 'code',
      c ->> 'result', case when (c ->> 'ran')::boolean then now() end, case when c ->> 'state' = 'done' then now() end
    from jsonb_array_elements(p_calls) c;
  insert into approvals (tenant_id, id, call_id, session_key, turn_id, agent_key, user_id, tool, args, summary, digest,
      reason, risk, terms, always, sandbox, files, expires_at)
    select p_tenant, a ->> 'id', a ->> 'call_id', p_session, p_turn, agent, a ->> 'user', a ->> 'tool', a -> 'args',
      a ->> 'summary', a ->> 'digest', a ->> 'reason', a ->> 'risk', coalesce(a -> 'terms', '{}'), a -> 'always', a -> 'sandbox', coalesce(a -> 'files', '[]'),
      coalesce((a ->> 'expires_at')::timestamptz, now() + make_interval(secs => (a ->> 'expires')::float))
    from jsonb_array_elements(p_approvals) a;
  -- An answer that gates must still judge is not released (releaseAnswer of gate-store.ts).
  update turns set steps = p_step,
      text = case when p_answer ? 'withheld' then text else coalesce(nullif(p_answer ->> 'text', ''), text) end,
      status = case when jsonb_array_length(p_approvals) > 0 then 'waiting_approval' else status end,
      input_tokens = input_tokens + coalesce((p_answer #>> '{usage,inputTokens}')::bigint, 0),
      output_tokens = output_tokens + coalesce((p_answer #>> '{usage,outputTokens}')::bigint, 0),
      cached_tokens = cached_tokens + coalesce((p_answer #>> '{usage,cachedInputTokens}')::bigint, 0),
      cost_usd = case when p_answer -> 'usd' is null then cost_usd
                      else coalesce(cost_usd, 0) + (p_answer ->> 'usd')::numeric end,
      unpriced_calls = unpriced_calls + (case when p_answer -> 'usd' is null then 1 else 0 end)
    where tenant_id = p_tenant and id = p_turn returning agent_key, context ->> 'user' into turn_agent, owner;
  if p_answer ->> 'model' <> 'none' and turn_agent is not null then
    insert into model_uses (tenant_id, session_key, agent_key, user_id, model, kind, input_tokens, output_tokens, cached_tokens, usd)
      values (p_tenant, p_session, turn_agent, coalesce(owner, ''), p_answer ->> 'model', 'answer',
        coalesce((p_answer #>> '{usage,inputTokens}')::bigint, 0), coalesce((p_answer #>> '{usage,outputTokens}')::bigint, 0),
        coalesce((p_answer #>> '{usage,cachedInputTokens}')::bigint, 0), (p_answer ->> 'usd')::numeric);
  end if;
  if p_answer ? 'uses' then perform note_model_uses(p_tenant, p_session, p_turn, p_answer -> 'uses'); end if;
  perform append_events(p_tenant, p_session, p_turn, p_feed);
  if jsonb_array_length(p_approvals) > 0 then
    perform append_above(p_tenant, p_session, jsonb_path_query_array(p_feed, '$[*] ? (@.type == "approval.requested")'));
  end if;
  -- This comes last, as everywhere: accounts are locked after sessions.
  if held is not null then perform settle_budget(p_tenant, p_answer ->> 'id', held, p_answer #> '{budget,spent}'); end if;
  if coalesce((p_answer ->> 'ends')::boolean, false) and not unwritten and not exists (select from messages x
      where x.tenant_id = p_tenant and x.session_key = p_session and x.position is null and x.turn_id is null) then
    perform end_turn(p_tenant, p_session, p_turn, p_step, 'completed', null, null, '[]', '[]', '[]', '', '');
    return 'ended';
  end if;
  return 'recorded';
end $$;
