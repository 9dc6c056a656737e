-- Whether any budget may apply to an agent's turn, so that DU-7 costs nothing when none does. p_root is its own root or
-- its session's. It is plpgsql, which keeps its plan, because every step calls it.
create function has_budgets(p_tenant text, p_agent text, p_root jsonb, p_budget jsonb) returns boolean
language plpgsql stable as $$
begin
  return p_budget ? 'settings' or exists (select 1 from budgets where tenant_id = p_tenant)
    or exists (select 1 from agents where tenant_id = p_tenant and key in (p_agent, p_root ->> 'agent') and config ? 'budgets');
end $$;
