-- The revision with which a turn of the session starts now; null when there is no such session. Work for another session
-- follows the session at its root. Who has had the rollout's revision keeps it, also when the share is lowered.
create function revision_of_session(p_tenant text, p_session text) returns int
language sql stable as $$
  select case
    when a.rollout is null then a.revision
    when is_in_rollout(a.rollout, a.key, root.session, s.user_id)
      or exists (select from turns t where t.tenant_id = p_tenant and t.session_key in (s.key, root.session)
        and t.agent_key = a.key and t.agent_revision = (a.rollout ->> 'revision')::int
        and t.started_at >= (a.rollout ->> 'at')::timestamptz) then (a.rollout ->> 'revision')::int
    else a.revision end
  from sessions s join agents a on a.tenant_id = p_tenant and a.key = s.agent_key
    cross join lateral (
      select coalesce(s.budget_root #>> '{session,0}', s.budget_root ->> 'session', s.key)) root (session)
  where s.tenant_id = p_tenant and s.key = p_session
$$;
