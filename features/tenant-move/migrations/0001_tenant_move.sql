-- Up Migration
-- How the sessions of a frozen tenant go on: the input of the run that starts when it is unfrozen, sealed because it may
-- contain a message that no turn has read.
create table parked_sessions (
  tenant_id   text not null references tenants,
  session_key text not null,
  sealed      text not null,
  key_id      text not null,
  primary key (tenant_id, session_key)
);
