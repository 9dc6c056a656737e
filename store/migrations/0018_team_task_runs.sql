-- Up Migration
-- Which run of the task's workflow has recorded a change, for which request, and whom it is to be told to: a run whose worker
-- died after the commit and before Temporal knew finds here what it has done.
alter table team_task_events add column run text, add column cause text, add column notices jsonb;
