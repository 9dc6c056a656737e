-- Version of the documents that a user of the agent sees, the agent's own and the user's (VF-1). It changes with each
-- write, and is null while there are none.
create function documents_version(p_tenant text, p_agent text, p_user text) returns text
language sql stable as $$
  select nullif(concat_ws('.',
    (select id from document_versions where tenant_id = p_tenant and agent_key = p_agent and user_id = '' order by id desc limit 1),
    (select id from document_versions where tenant_id = p_tenant and agent_key = p_agent and user_id = p_user order by id desc limit 1)), '')
$$;
