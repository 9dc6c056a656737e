-- Records how calls ended that their own activity did not record. Finished calls stay unchanged.
create function settle_calls(p_tenant text, p_session text, p_turn text, p_settled jsonb) returns void
language plpgsql as $$
declare
  feed jsonb;
  ran jsonb;
begin
  -- The session's row is locked first, as everywhere: one order of locks.
  perform 1 from sessions where tenant_id = p_tenant and key = p_session for update;
  with ended as (
    update tool_calls c set state = 'done', ok = (s ->> 'ok')::boolean, code = s ->> 'code', result = s ->> 'text',
      fence = null, ended_at = now(), started_at = coalesce(c.started_at, now())
    from jsonb_array_elements(p_settled) s
    where c.tenant_id = p_tenant and c.id = s ->> 'id' and c.turn_id = p_turn and c.state <> 'done'
    returning c.id, c.tool, c.summary, c.ok, c.code, c.started_at
  )
  select jsonb_agg(jsonb_build_object('type', 'tool.completed', 'data',
           jsonb_strip_nulls(jsonb_build_object('call_id', id, 'tool', tool, 'summary', summary, 'ok', ok, 'code', code)))),
         -- Only calls that had started; the others have run nothing.
         jsonb_object_agg(tool, id) filter (where started_at < now()) into feed, ran from ended;
  if ran is not null then perform note_used(p_tenant, p_session, ran); end if;
  if feed is not null then perform append_events(p_tenant, p_session, p_turn, feed); end if;
end $$;
