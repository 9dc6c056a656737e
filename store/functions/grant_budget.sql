-- Adds what an approval allows on top of a budget's limit; in the commit that settles the approval, so that it is added once.
create function grant_budget(p_tenant text, p_ask jsonb) returns void
language sql as $$
  insert into budget_accounts (tenant_id, budget_id, subject, since, measure, extra)
    values (p_tenant, p_ask ->> 'budget', p_ask ->> 'subject', (p_ask ->> 'since')::date, p_ask ->> 'measure',
            (p_ask ->> 'more')::numeric)
    on conflict (tenant_id, budget_id, subject, since, measure) do update set extra = budget_accounts.extra + excluded.extra
$$;
