-- Whether a rollout includes a session. The place of its user (or of itself, without one) between 0 and 100 depends on
-- nothing but their names and the rollout's id. So a greater share only adds. MD5 is the same in every version of Postgres.
create function is_in_rollout(p_rollout jsonb, p_agent text, p_session text, p_user text) returns boolean
language sql immutable as $$
  select coalesce(p_rollout -> 'users' ? p_user, false) or coalesce(p_rollout -> 'sessions' ? p_session, false)
    or ('x' || left(md5(jsonb_build_array(p_rollout -> 'id', p_agent, p_user, case when p_user is null then p_session end)::text), 7))
      ::bit(28)::int * 100.0 / 268435456 < coalesce((p_rollout ->> 'share')::int, 0)
$$;
