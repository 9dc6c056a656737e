-- A turn or a delegation is over: what its calls and commands still reserve counts as spent, because their real use
-- will not be reported.
create function count_turn_holds(p_tenant text, p_turn text) returns void
language plpgsql as $$
declare
  h budget_holds%rowtype;
begin
  for h in
    with gone as (delete from budget_holds where tenant_id = p_tenant and turn_id = p_turn returning *)
    select * from gone order by budget_id, subject, since, measure, shard
  loop
    update budget_accounts set reserved = reserved - h.amount, spent = spent + h.amount
      where tenant_id = p_tenant and budget_id = h.budget_id and subject = h.subject and since = h.since and measure = h.measure
        and shard = h.shard;
  end loop;
end $$;
