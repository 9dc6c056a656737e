-- Up Migration
-- The revision of the schedule that the run has: a change meanwhile keeps a schedule that goes with its run. Null in
-- runs of earlier versions.
alter table schedule_runs add column revision int;
