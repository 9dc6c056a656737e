-- Reserves what work beside a turn's calls may use, such as a gate's command (DU-7), p_last of tokens and money: null, {held} or {exceeded}, as reserve_budget.
-- What is never settled counts as spent when its owner ends, be that a turn, a delegation or a task's judging (count_turn_holds).
-- p_turn is null for the work of a session that no turn has done.
create function reserve_work(
  p_tenant text, p_session text, p_turn text, p_owner text, p_holder text, p_budget jsonb, p_last jsonb default null
) returns jsonb
language plpgsql as $$
declare
  held jsonb;
begin
  if not (select has_budgets(p_tenant, coalesce(t.agent_key, s.agent_key), coalesce(t.budget_root, s.budget_root), p_budget)
      from sessions s left join turns t on t.tenant_id = s.tenant_id and t.id = p_turn
      where s.tenant_id = p_tenant and s.key = p_session) then
    return null;
  end if;
  held := reserve_budget(p_tenant, p_session, p_turn, p_holder, p_last, p_budget);
  update budget_holds set turn_id = p_owner where tenant_id = p_tenant and holder = p_holder;
  return held;
end $$;
