-- PO-5. What was read from outside before the documents in each step's prompt were written: the agent's and the user's
-- at the root of the workspace. {source: call}, null for nothing.
create function documents_read(p_tenant text, p_agent text, p_user text) returns jsonb
language sql stable as $$
  select jsonb_object_agg(r.key, r.value) from documents d, jsonb_each(d.read) r
    where d.tenant_id = p_tenant and d.agent_key = p_agent and d.outside and d.user_id in ('', p_user) and d.path not like '%/%'
$$;
