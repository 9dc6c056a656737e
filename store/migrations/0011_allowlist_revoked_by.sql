-- Up Migration
-- Who took back what was allowed always.
alter table exec_allowlist add column revoked_by text;
