-- Up Migration
-- What an approval shows beside the call: what "always" would store (SH-2), and the sandbox that its digest is bound to. Null
-- in those of before, which can be decided once only and are bound to no sandbox.
alter table approvals add column always jsonb;
alter table approvals add column sandbox jsonb;
