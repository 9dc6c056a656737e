-- Results that a session has yet to be told of: none before the last of them is there (DE-2).
create function untold_delegations(p_tenant text, p_session text) returns int
language sql stable as $$
  select case when exists (select 1 from delegations where tenant_id = p_tenant and origin_session = p_session
                             and mode = 'async' and ended_at is null) then 0
    else (select count(*)::int from delegations where tenant_id = p_tenant and origin_session = p_session
            and ended_at is not null and told_by is null) end
$$;
