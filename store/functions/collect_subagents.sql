-- What a session's waiter has to look at: subagents that run (their ends are signalled to the waiter from now on), those it
-- has waited for, and those that ended and are told to nobody yet.
create function collect_subagents(p_tenant text, p_session text, p_waiter text) returns jsonb
language plpgsql as $$
begin
  perform 1 from sessions where tenant_id = p_tenant and key = p_session for update;
  update subagents set waiter = p_waiter
    where tenant_id = p_tenant and parent_session = p_session and ended_at is null and waiter is distinct from p_waiter;
  return (select coalesce(jsonb_agg(to_jsonb(s) order by s.created_at), '[]') from subagents s
    where s.tenant_id = p_tenant and s.parent_session = p_session and s.replaced_by is null
      and (s.waiter = p_waiter or (s.ended_at is not null and s.told_by is null)));
end $$;
