-- Notes what a turn used models for without an answer (DU-7): [{kind, model, usage, usd}]. Work of no turn says its agent.
create function note_model_uses(p_tenant text, p_session text, p_turn text, p_uses jsonb) returns void
language plpgsql as $$
begin
  perform 1 from sessions where tenant_id = p_tenant and key = p_session for update;
  insert into model_uses (tenant_id, kind, session_key, turn_id, agent_key, model, usage, usd)
    select p_tenant, u ->> 'kind', p_session, p_turn, coalesce(t.agent_key, u ->> 'agent'), u ->> 'model', u -> 'usage',
      (u ->> 'usd')::numeric
    from jsonb_array_elements(p_uses) u left join turns t on t.tenant_id = p_tenant and t.id = p_turn
    where coalesce(t.agent_key, u ->> 'agent') is not null;
  update turns set input_tokens = input_tokens + x.input, output_tokens = output_tokens + x.output,
      cached_tokens = cached_tokens + x.cached, unpriced_calls = unpriced_calls + x.unpriced,
      cost_usd = case when x.usd is null then cost_usd else coalesce(cost_usd, 0) + x.usd end
    from (select coalesce(sum((u #>> '{usage,inputTokens}')::bigint), 0) as input,
                 coalesce(sum((u #>> '{usage,outputTokens}')::bigint), 0) as output,
                 coalesce(sum((u #>> '{usage,cachedInputTokens}')::bigint), 0) as cached,
                 sum((u ->> 'usd')::numeric) as usd, count(*) filter (where u -> 'usd' is null) as unpriced
          from jsonb_array_elements(p_uses) u) x
    where tenant_id = p_tenant and id = p_turn;
end $$;
