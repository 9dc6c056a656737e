-- Whose budget a child uses that the turn starts: that of its tree's root. For sessions.budget_root of the child's session.
create function budget_root_of(p_tenant text, p_session text, p_turn text) returns jsonb
language sql stable as $$
  select coalesce(s.budget_root, jsonb_build_object('turn', p_turn, 'session', p_session, 'agent', s.agent_key))
  from sessions s where s.tenant_id = p_tenant and s.key = p_session
$$;
