-- When an approval last changed, so that a feed over all sessions goes on where its reader was. By the clock and not by the
-- transaction's begin: what waited for a lock is not dated back behind what readers have seen.
alter table approvals add column changed_at timestamptz not null default clock_timestamp();
create index approvals_by_change on approvals (tenant_id, changed_at, id);
