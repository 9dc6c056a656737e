-- Records a change that gives a task to its member, and, when that stands, what the member begins with: one commit. The
-- answer is record_team_task's; `given` says whether there is such an agent, and is left out when the change does not stand.
create function give_team_task(p_tenant text, p_team text, p_number int, p_change jsonb, p_turn jsonb) returns jsonb
language plpgsql as $$
declare
  recorded jsonb := record_team_task(p_tenant, p_team, p_number, p_change);
begin
  if recorded #> '{task,lease}' is distinct from p_change #> '{task,lease}' then return recorded; end if;
  return recorded || jsonb_build_object('given', prepare_member_turn(p_tenant, p_turn));
end $$;
