-- Settles what must be settled before a call reserves: earlier attempts of the call, and `settle` of p_budget.
create function settle_before(p_tenant text, p_holder text, p_budget jsonb) returns void
language plpgsql as $$
begin
  perform settle_budget(p_tenant, p_holder, (p_budget ->> 'attempt')::int - 1, null);
  if p_budget ? 'settle' then
    perform settle_budget(p_tenant, p_budget #>> '{settle,holder}', (p_budget #>> '{settle,attempt}')::int,
      p_budget #> '{settle,spent}');
  end if;
end $$;
