-- The settings whose rules apply to a turn's calls: those of the rollout's revision for a turn that runs with it, for all
-- others those of the agent's row.
create function agent_in_force(p_tenant text, p_agent text, p_revision int) returns jsonb
language sql stable as $$
  select coalesce(case when (a.rollout ->> 'revision')::int = p_revision then (
    select r.config from agent_revisions r where r.tenant_id = p_tenant and r.agent_key = p_agent and r.revision = p_revision) end, a.config)
  from agents a where a.tenant_id = p_tenant and a.key = p_agent
$$;
