-- Up Migration
-- A replay under a change: another agent or policy decides, and what differs is noted, not ended (DU-6).
-- {models: called or recorded, agent?: its whole settings, policy?: the tenant's}; null for other modes.
alter table replays add column change jsonb;
alter table replays drop constraint replays_mode_check;
alter table replays add constraint replays_mode_check
  check (mode in ('compare', 'record', 'live', 'script', 'what-if')) not valid;
alter table replays validate constraint replays_mode_check;
