-- Up Migration
-- Paths of the workspace that a call has changed, where its arguments do not say: after a command, or when the tool has
-- chosen the path. An empty path among them means that any file may have changed. Null: nothing was recorded.
alter table tool_calls add column changed_files jsonb;
