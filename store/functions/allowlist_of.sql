create function allowlist_of(p_tenant text, p_agent text, p_user text) returns jsonb
language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object('tool', tool, 'pattern', pattern)), '[]') from exec_allowlist
    where tenant_id = p_tenant and agent_key = p_agent and revoked_at is null and (user_id is null or user_id = p_user)
$$;
