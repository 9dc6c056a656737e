-- Up Migration
-- Rows come in the order of time, so a range of days is found by summaries of blocks, which cost an insert next to nothing.
create index tool_calls_by_time on tool_calls using brin (created_at);
