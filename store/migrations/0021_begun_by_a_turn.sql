-- Up Migration
-- DU-7. What a turn that another turn has begun counts for, as sessions.budget_root; null when people or schedules speak.
alter table messages add column budget_root jsonb;
alter table turns add column budget_root jsonb;
