-- AP-4: on which terms an approval is decided (domain/approval-terms.ts), and since when others may decide as well.
alter table approvals add column terms jsonb not null default '{}';
alter table approvals add column escalated_at timestamptz;
alter table approvals add column reminders int not null default 0;
