-- Puts a question for more budget to people, and marks the turn as waiting. The same question again changes nothing. Returns
-- when it expires, in milliseconds since 1970; null when the turn is over. Work at a gate asks as well when its turn is over, or
-- when there was none and p_turn names the work: p_approval then has the asker, {agent, user?}.
create function ask_budget(p_tenant text, p_session text, p_turn text, p_approval jsonb, p_feed jsonb) returns float
language plpgsql as $$
begin
  perform 1 from sessions where tenant_id = p_tenant and key = p_session for update;
  insert into approvals (tenant_id, id, call_id, session_key, turn_id, agent_key, user_id, tool, args, summary, digest, reason,
      terms, always, expires_at)
    select p_tenant, p_approval ->> 'id', p_approval ->> 'call_id', p_session, p_turn,
      coalesce(t.agent_key, p_approval #>> '{asker,agent}'), coalesce(t.context, p_approval -> 'asker') ->> 'user',
      p_approval ->> 'tool', p_approval -> 'args', p_approval ->> 'summary', p_approval ->> 'digest', p_approval ->> 'reason',
      p_approval -> 'terms', p_approval -> 'always', (p_approval ->> 'expires_at')::timestamptz
    from (select 1) one left join turns t on t.tenant_id = p_tenant and t.id = p_turn
    where p_approval ? 'asker' or (t.id is not null and t.ended_at is null)
    on conflict do nothing;
  if found then
    update turns set status = 'waiting_approval' where tenant_id = p_tenant and id = p_turn and ended_at is null;
    perform append_events(p_tenant, p_session, p_turn, p_feed);
    perform append_above(p_tenant, p_session, p_feed);
  end if;
  return (select extract(epoch from expires_at) * 1000 from approvals
    where tenant_id = p_tenant and id = p_approval ->> 'id' and turn_id = p_turn);
end $$;
