-- Up Migration
-- What an agent shows beside the conversation: its steps begin with a page (features/canvas/contract.ts).
create table canvases (
  tenant_id   text not null,
  session_key text not null,
  version     int not null,
  steps       jsonb not null,
  -- The call that made this version.
  last_call   text not null,
  primary key (tenant_id, session_key)
);
