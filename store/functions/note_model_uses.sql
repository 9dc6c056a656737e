-- Records what a turn used models for without an answer (DU-7): [{kind, model, usage, usd, once}]. Work without a turn
-- names its agent. A use with a name (`once`) is recorded and counted once, however often it is sent.
create function note_model_uses(p_tenant text, p_session text, p_turn text, p_uses jsonb) returns void
language plpgsql as $$
declare
  owner text;
begin
  select user_id into owner from sessions where tenant_id = p_tenant and key = p_session for update;
  with fresh as (
    select u.*, coalesce(t.agent_key, u.agent) as agent_key, case when t.id is null then owner else t.context ->> 'user' end as user_id
      from jsonb_to_recordset(p_uses) u (kind text, model text, usage jsonb, usd numeric, once text, agent text)
        left join turns t on t.tenant_id = p_tenant and t.id = p_turn
      where coalesce(t.agent_key, u.agent) is not null and not coalesce(u.once = any (t.uses_once), false)
  ), noted as (
    insert into model_uses (tenant_id, session_key, agent_key, user_id, model, kind, input_tokens, output_tokens, cached_tokens, usd)
      select p_tenant, p_session, agent_key, coalesce(user_id, ''), model, kind, coalesce((usage ->> 'inputTokens')::bigint, 0),
        coalesce((usage ->> 'outputTokens')::bigint, 0), coalesce((usage ->> 'cachedInputTokens')::bigint, 0), usd
      from fresh returning input_tokens, output_tokens, cached_tokens, usd
  )
  update turns set input_tokens = turns.input_tokens + x.input, output_tokens = turns.output_tokens + x.output,
      cached_tokens = turns.cached_tokens + x.cached, unpriced_calls = unpriced_calls + x.unpriced,
      cost_usd = case when x.usd is null then cost_usd else coalesce(cost_usd, 0) + x.usd end,
      uses_once = uses_once || array(select once from fresh where once is not null)
    from (select coalesce(sum(n.input_tokens), 0) as input, coalesce(sum(n.output_tokens), 0) as output,
                 coalesce(sum(n.cached_tokens), 0) as cached, sum(n.usd) as usd, count(*) filter (where n.usd is null) as unpriced
          from noted n) x
    where tenant_id = p_tenant and id = p_turn;
end $$;
