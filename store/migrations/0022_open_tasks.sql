-- Up Migration
-- For the workers' look at tasks that are not closed: few beside all that ever were.
create index team_tasks_open on team_tasks (tenant_id, team_key, number) where status not in ('completed', 'failed', 'cancelled');
