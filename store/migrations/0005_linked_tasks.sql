-- Up Migration
-- The task of a team's board that a delegation does: its team and number. Null: none.
alter table assignments add column linked_task jsonb;
