-- Up Migration
-- The task of a team's board that delegated work is: its team and number, the fence of its lease, and whether it was created for it. Null: none.
alter table assignments add column linked_task jsonb;
