-- The session that a member works on a task in, and the message that gives it the task: of this lease, so that a repeat
-- writes nothing. The lease is bound to the session, so that what the session says is known to come from its holder.
-- What the session uses counts for the team, and for the turn that made the task (DU-7). False when there is no such agent any more.
create function prepare_member_turn(p_tenant text, p_turn jsonb) returns boolean
language plpgsql as $$
begin
  insert into sessions (tenant_id, key, agent_key, user_id, channel, chat_id, title)
    select p_tenant, p_turn ->> 'session', a.key, p_turn #>> '{context,user}', 'teammate', p_turn #>> '{context,chat_id}',
           left(p_turn ->> 'title', 80)
    from agents a where a.tenant_id = p_tenant and a.key = p_turn ->> 'agent' and a.deleted_at is null
    on conflict do nothing;
  update sessions set bound_context = p_turn -> 'bound', budget_root = (
      select team_root_of(p_tenant, t.team_key, t.origin_session, t.origin_turn) from team_tasks t where t.tenant_id = p_tenant and t.team_key = p_turn #>> '{bound,team,key}'
        and t.number = (p_turn #>> '{bound,team,number}')::int)
    where tenant_id = p_tenant and key = p_turn ->> 'session';
  if not found then return false; end if;
  insert into messages (tenant_id, id, session_key, role, text, mode, context)
    values (p_tenant, p_turn ->> 'message_id', p_turn ->> 'session', 'user', p_turn ->> 'text', 'queue', p_turn -> 'context')
    on conflict do nothing;
  return true;
end $$;
