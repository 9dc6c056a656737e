-- Whether a session's subagents or delegations run, or have ended and a turn of the session has yet to answer what they brought.
create function has_pending_results(p_tenant text, p_session text) returns boolean
language sql stable as $$
  select exists (select 1 from subagents c where c.tenant_id = p_tenant and c.parent_session = p_session and (
             (c.ended_at is null and not c.detached) or (c.ended_at is not null and c.told_by is null)
             -- Claimed for a message that is not written yet.
             or (c.told_by like 'sub-%' and not exists (
               select 1 from messages m where m.tenant_id = p_tenant and m.id = 'msg_told-' || c.told_by))))
    or exists (select 1 from delegations d where d.tenant_id = p_tenant and d.origin_session = p_session and (
             d.ended_at is null or d.told_by is null
             or (d.told_by like 'del-%' and not exists (
               select 1 from messages m where m.tenant_id = p_tenant and m.id = 'msg_told-' || d.told_by))))
    or exists (select 1 from turns t where t.tenant_id = p_tenant and t.session_key = p_session and t.ended_at is null)
    or exists (select 1 from messages m where m.tenant_id = p_tenant and m.session_key = p_session and m.role = 'user'
                 and m.turn_id is null and m.id like 'msg_told-%')
$$;
