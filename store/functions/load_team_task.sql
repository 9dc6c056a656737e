-- What a run of a task's workflow begins with. What its blockers have come to is read anew, so that a word of theirs that
-- was lost is heard now. `lost`: what this very run has recorded already, before its worker died and Temporal knew; null when
-- there is nothing. Null when there is no such task.
create function load_team_task(p_tenant text, p_team text, p_number int, p_run text default null) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'task', t.state,
    'completed', (select coalesce(jsonb_agg(b.number), '[]') from team_tasks b
      where b.tenant_id = p_tenant and b.team_key = p_team and b.status = 'completed'
        and t.state -> 'open_blockers' @> to_jsonb(b.number)),
    -- Its creator's turn is over, whoever was to say so.
    'over', t.origin_turn is null or exists (select 1 from turns o
      where o.tenant_id = p_tenant and o.id = t.origin_turn and o.ended_at is not null),
    'lost', case when exists (select 1 from team_task_events e where e.tenant_id = p_tenant and e.team_key = p_team
      and e.number = p_number and e.run = p_run) then standing_team_task(p_tenant, p_team, p_number, 1, p_run) end,
    'lead', m.lead, 'settings', m.settings,
    'members', (select coalesce(jsonb_agg(x.agent_key order by x.agent_key), '[]') from team_members x
      where x.tenant_id = p_tenant and x.team_key = p_team))
  from team_tasks t join teams m on m.tenant_id = t.tenant_id and m.key = t.team_key
  where t.tenant_id = p_tenant and t.team_key = p_team and t.number = p_number
$$;
