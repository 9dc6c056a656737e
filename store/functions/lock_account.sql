-- Locks all shards of an account, and makes those that do not exist. Callers lock accounts in the order of budgets_of.
create function lock_account(p_tenant text, p_budget text, p_subject text, p_since date, p_measure text, p_shards int)
returns void
language plpgsql as $$
begin
  insert into budget_accounts (tenant_id, budget_id, subject, since, measure, shard)
    select p_tenant, p_budget, p_subject, p_since, p_measure, s from generate_series(0, p_shards - 1) s order by s
    on conflict do nothing;
  perform 1 from budget_accounts where tenant_id = p_tenant and budget_id = p_budget and subject = p_subject
    and since = p_since and measure = p_measure order by shard for update;
end $$;
