-- The root whose budgets a turn's use counts for: its own, or that of its tree, when its session has one. A child that
-- the turn starts gets this as its session's budget_root. `team` is a list, because a team may work for another. A
-- team's session that no turn requested has nothing else. A turn that another turn started by a message counts for that
-- one's root and for its own session: `session` then is a list of at most two.
create function budget_root_of(p_tenant text, p_session text, p_turn text) returns jsonb
language sql stable as $$
  select case when t.budget_root is null then own.root else own.root || t.budget_root || jsonb_strip_nulls(jsonb_build_object(
      'session', case when begun.session = kept.session then to_jsonb(kept.session) else jsonb_build_array(begun.session, kept.session) end,
      'team', (select jsonb_agg(distinct team) from (
          select jsonb_array_elements_text(own.root -> 'team') union select jsonb_array_elements_text(t.budget_root -> 'team')) x (team))))
    end
  from sessions s
    left join turns t on t.tenant_id = p_tenant and t.id = p_turn
    cross join lateral (select jsonb_build_object('turn', p_turn, 'session', p_session, 'agent', s.agent_key)
                          || coalesce(s.budget_root, '{}')) own (root)
    cross join lateral (select coalesce(t.budget_root #>> '{session,0}', t.budget_root ->> 'session')) begun (session)
    cross join lateral (select coalesce(own.root #>> '{session,-1}', own.root ->> 'session')) kept (session)
  where s.tenant_id = p_tenant and s.key = p_session
$$;
