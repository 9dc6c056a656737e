-- Records what a turn used models for without an answer (DU-7): [{kind, model, usage, usd, once}]. Work without a turn
-- names its agent. A use with a name (`once`) is recorded and counted once, however often it is sent.
create function note_model_uses(p_tenant text, p_session text, p_turn text, p_uses jsonb) returns void
language plpgsql as $$
begin
  perform 1 from sessions where tenant_id = p_tenant and key = p_session for update;
  with noted as (
    insert into model_uses (tenant_id, id, kind, session_key, turn_id, agent_key, model, usage, usd)
      select p_tenant, coalesce(md5(u ->> 'once')::uuid, gen_random_uuid()), u ->> 'kind', p_session, p_turn,
        coalesce(t.agent_key, u ->> 'agent'), u ->> 'model', u -> 'usage', (u ->> 'usd')::numeric
      from jsonb_array_elements(p_uses) u left join turns t on t.tenant_id = p_tenant and t.id = p_turn
      where coalesce(t.agent_key, u ->> 'agent') is not null
    on conflict (tenant_id, id) do nothing returning usage, usd)
  update turns set input_tokens = input_tokens + x.input, output_tokens = output_tokens + x.output,
      cached_tokens = cached_tokens + x.cached, unpriced_calls = unpriced_calls + x.unpriced,
      cost_usd = case when x.usd is null then cost_usd else coalesce(cost_usd, 0) + x.usd end
    from (select coalesce(sum((n.usage ->> 'inputTokens')::bigint), 0) as input,
                 coalesce(sum((n.usage ->> 'outputTokens')::bigint), 0) as output,
                 coalesce(sum((n.usage ->> 'cachedInputTokens')::bigint), 0) as cached,
                 sum(n.usd) as usd, count(*) filter (where n.usd is null) as unpriced
          from noted n) x
    where tenant_id = p_tenant and id = p_turn;
end $$;
