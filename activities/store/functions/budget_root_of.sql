-- Whose budgets a turn's use counts for: its own, or those of its tree's root, where its session has one. A child that the turn
-- starts gets this as its session's budget_root. `team` is a list, as a team may work for another; a session of a team that no turn
-- has asked to work has nothing else.
create function budget_root_of(p_tenant text, p_session text, p_turn text) returns jsonb
language sql stable as $$
  select jsonb_build_object('turn', p_turn, 'session', p_session, 'agent', s.agent_key) || coalesce(s.budget_root, '{}')
  from sessions s where s.tenant_id = p_tenant and s.key = p_session
$$;
