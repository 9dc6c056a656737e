-- Up Migration
-- The real arguments of a decision to edit, where what is sent over Temporal hides some of them (SC-3).
alter table decision_proofs add column sealed_args text;
