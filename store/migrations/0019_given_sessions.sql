-- Up Migration
-- Sessions that work for another one: whose approvals it shows as well (DE-2).
create index sessions_given_by on sessions (tenant_id, (bound_context #>> '{delegation,session}'))
  where bound_context #>> '{delegation,session}' is not null;
