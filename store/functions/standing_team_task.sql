-- What stands of a task from a revision on, or of what one run has recorded, and whom it is to be told to: the tasks that wait
-- for it when it is closed, and, when it was the last of its request to be closed, the lead (tells): of the revision that closed
-- it, whatever was said of it since, so that the lead is told of that once.
create function standing_team_task(p_tenant text, p_team text, p_number int, p_from int, p_run text) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'task', t.state,
    'changes', (select coalesce(jsonb_agg(jsonb_build_object('revision', e.revision, 'cause', e.cause, 'notices',
        coalesce(e.notices, '[]')) order by e.revision), '[]') from team_task_events e
      where e.tenant_id = p_tenant and e.team_key = p_team and e.number = p_number and e.revision >= p_from
        and (p_run is null or e.run = p_run)),
    'tells', t.closed_at is not null and t.told_by is not distinct from p_number,
    'closed_revision', (select coalesce(max(e.revision), 0) + 1 from team_task_events e
      where e.tenant_id = p_tenant and e.team_key = p_team and e.number = p_number
        and e.status not in ('completed', 'failed', 'cancelled')),
    'dependents', case when t.closed_at is null then '[]' else (select coalesce(jsonb_agg(b.number order by b.number), '[]')
        from team_task_blockers b join team_tasks d on d.tenant_id = p_tenant and d.team_key = p_team and d.number = b.number
        where b.tenant_id = p_tenant and b.team_key = p_team and b.blocker = p_number and d.closed_at is null) end)
  from team_tasks t where t.tenant_id = p_tenant and t.team_key = p_team and t.number = p_number
$$;
