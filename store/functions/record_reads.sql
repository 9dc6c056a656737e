-- Records an answer together with the results of its calls, all of which only read and are done (read-ahead.ts). It
-- also returns what the next model call needs, for a caller that knows the transcript up to p_after; p_budget is what
-- that call reserves (DU-7). recorded is false when the step had been recorded; then nothing changes.
create function record_reads(
  p_tenant text, p_session text, p_turn text, p_step int, p_answer jsonb, p_calls jsonb, p_feed jsonb,
  p_after bigint, p_summary_after bigint, p_budget jsonb
) returns jsonb
language plpgsql as $$
declare
  fresh jsonb;
  settle jsonb := p_answer -> 'budget' || jsonb_build_object('holder', p_answer -> 'id');
begin
  if record_answer(p_tenant, p_session, p_turn, p_step, p_answer - 'budget', p_calls, '[]', p_feed) <> 'recorded' then
    if settle is not null then
      perform settle_budget(p_tenant, settle ->> 'holder', (settle ->> 'attempt')::int, settle -> 'spent');
    end if;
    return '{"recorded":false}';
  end if;
  select jsonb_object_agg(c ->> 'tool', c ->> 'id') into fresh from sessions s, jsonb_array_elements(p_calls) c
    where s.tenant_id = p_tenant and s.key = p_session and not s.used ? (c ->> 'tool');
  if fresh is not null then perform note_used(p_tenant, p_session, fresh); end if;
  return jsonb_build_object('recorded', true, 'next',
    begin_step(p_tenant, p_session, p_turn, p_step + 1, '[]', '[]', p_after, p_summary_after, '', '',
      case when settle is null then p_budget else coalesce(p_budget, '{}') || jsonb_build_object('settle', settle) end));
end $$;
