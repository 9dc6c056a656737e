-- Up Migration
-- DU-6. Turns and calls that a fork has copied: they happened in another session, and name what they are copies of. A
-- copied call has not run here (`started_at` is null, `attempts` is 0).
alter table turns add column copied_of text;
alter table tool_calls add column copied_of text;
