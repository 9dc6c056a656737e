-- Whether any budget may apply to an agent's turn, so that nothing of DU-7 is done where none does: p_root is its own or its session's.
-- plpgsql, since every step asks: it keeps its plan.
create function has_budgets(p_tenant text, p_agent text, p_root jsonb, p_budget jsonb) returns boolean
language plpgsql stable as $$
begin
  return p_budget ? 'settings' or exists (select 1 from budgets where tenant_id = p_tenant)
    or exists (select 1 from agents where tenant_id = p_tenant and key in (p_agent, p_root ->> 'agent') and config ? 'budgets');
end $$;
