-- Up Migration
-- Which worker has a session's browser, by the worker's own task queue.
create table browsers (
  tenant_id   text not null,
  session_key text not null,
  queue       text not null,
  primary key (tenant_id, session_key)
);
