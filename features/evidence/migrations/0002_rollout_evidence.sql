-- Up Migration
-- DU-10, DU-11. Changes of rollouts are evidence too.
create trigger rollout_changes_evidence after insert on rollout_changes for each row
  when (current_setting('tempoclaw.moving', true) is distinct from 'on')
  execute function note_evidence('rollout', 'agent_key', 'number');
