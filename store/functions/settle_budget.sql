-- Settles the reservations of a call's attempts up to this one: the attempt itself with its use, if known; all others
-- count as what was reserved. p_spent has an amount by measure. Safe to repeat: the caller that deletes a reservation
-- settles it.
create function settle_budget(p_tenant text, p_holder text, p_attempt int, p_spent jsonb) returns void
language plpgsql as $$
declare
  h budget_holds%rowtype;
begin
  for h in
    with gone as (
      delete from budget_holds where tenant_id = p_tenant and holder = p_holder and attempt <= p_attempt returning *
    ) select * from gone order by budget_id, subject, since, measure, shard, attempt
  loop
    update budget_accounts set reserved = reserved - h.amount,
        spent = spent + case when h.attempt = p_attempt then coalesce((p_spent ->> h.measure)::numeric, h.amount) else h.amount end
      where tenant_id = p_tenant and budget_id = h.budget_id and subject = h.subject and since = h.since and measure = h.measure
        and shard = h.shard;
  end loop;
end $$;
