-- A subagent's row with the session it works in and the message that sets it to work. The caller holds the lock on the
-- tenant's subagents, or gives up another one's place for it.
create function insert_subagent(p_child subagents) returns void
language plpgsql as $$
begin
  insert into sessions (tenant_id, key, agent_key, user_id, channel, chat_id, title, bound_context,
      budget_root)
    values (p_child.tenant_id, p_child.session_key, p_child.agent_key, p_child.user_id, p_child.context ->> 'channel',
            p_child.context ->> 'chat_id', left(p_child.label, 80), p_child.bound,
            budget_root_of(p_child.tenant_id, p_child.parent_session, p_child.parent_turn));
  insert into messages (tenant_id, id, session_key, role, text, mode, context)
    values (p_child.tenant_id, 'msg_' || p_child.id, p_child.session_key, 'user', p_child.task, 'queue',
            p_child.context - 'allowed_tools');
  insert into subagents select (p_child).*;
end $$;
