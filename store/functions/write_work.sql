-- A session that the system has an agent work in, and the message that sets it to work. Runs again safely: what is there
-- stays as it is. p_work: session, agent, user, title, context (of the turn that gave it), bound, message, text; what it uses
-- counts for the turn that gave it, or for budget_root (DU-7)
create function write_work(p_tenant text, p_work jsonb) returns void
language plpgsql as $$
begin
  insert into sessions (tenant_id, key, agent_key, user_id, channel, chat_id, title, bound_context,
      budget_root)
    values (p_tenant, p_work ->> 'session', p_work ->> 'agent', p_work ->> 'user', p_work #>> '{context,channel}',
            p_work #>> '{context,chat_id}', left(p_work ->> 'title', 80), p_work -> 'bound',
            case when p_work #> '{bound,delegation}' is not null then
              budget_root_of(p_tenant, p_work #>> '{bound,delegation,session}', p_work #>> '{bound,delegation,turn}')
            else p_work -> 'budget_root' end)
    on conflict do nothing;
  insert into messages (tenant_id, id, session_key, role, text, mode, context)
    values (p_tenant, p_work ->> 'message', p_work ->> 'session', 'user', p_work ->> 'text', 'queue',
            work_context(coalesce(p_work -> 'context', '{}')))
    on conflict do nothing;
end $$;
