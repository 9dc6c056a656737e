-- Up Migration
-- Files of the workspace that the call would run, as they were when it was asked about; the digest is bound to them (AP-4).
alter table approvals add column files jsonb not null default '[]';
