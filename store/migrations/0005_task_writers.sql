-- Up Migration
-- Sessions that have sent texts and files of a task, besides the one that created it and its member's own.
alter table team_tasks add column writers text[] not null default '{}';
