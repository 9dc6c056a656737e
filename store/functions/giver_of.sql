-- The session that a session works for: the one that gave the work, or created the team's task; null for none.
create function giver_of(p_tenant text, p_session text) returns text
language sql stable as $$
  select coalesce(s.bound_context #>> '{subagent,session}', s.bound_context #>> '{delegation,session}', t.origin_session)
    from sessions s left join team_tasks t on t.tenant_id = p_tenant and t.team_key = s.bound_context #>> '{team,key}'
      and t.number = (s.bound_context #>> '{team,number}')::int
    where s.tenant_id = p_tenant and s.key = p_session
$$;
