-- Reserves what a call may use (DU-7), in all the accounts it counts for or in none. Returns null when no budget
-- applies, {held} when it may run, otherwise {exceeded: the account that is too small}. Reservations of earlier
-- attempts of the call become spent, because it is unknown whether they were paid for. The same attempt again keeps its
-- reservation. p_last is what the previous call used, or, when p_budget says `exact`, the price of this one.
-- A reservation that is never settled counts as spent when its owner ends: a turn, a delegation or a task's judging
-- (count_turn_holds). p_owner defaults to the turn. p_turn is null for work of a session without a turn. Work without a
-- session names its agent in p_budget.
-- Accounts are the last rows that a transaction locks, always in the same order; a refused call releases its locks.
create function reserve_budget(
  p_tenant text, p_session text, p_turn text, p_holder text, p_last jsonb, p_budget jsonb, p_owner text default null
) returns jsonb
language plpgsql as $$
declare
  root jsonb := coalesce(budget_root_of(p_tenant, p_session, p_turn), p_budget -> 'root');
  agent text := p_budget #>> '{root,agent}';
  attempt_no int := (p_budget ->> 'attempt')::int;
  b record;
  a budget_accounts%rowtype;
  required numeric;
  n int := 0;
begin
  if agent is null then
    select agent_key into agent from turns where tenant_id = p_tenant and id = p_turn;
    if not found then
      select agent_key into agent from sessions where tenant_id = p_tenant and key = p_session;
    end if;
  end if;
  perform settle_budget(p_tenant, p_holder, attempt_no - 1, null);
  if exists (select 1 from budget_holds where tenant_id = p_tenant and holder = p_holder and attempt = attempt_no) then
    return '{"held":true}';
  end if;
  begin
    for b in select * from budgets_of(p_tenant, root, agent, p_budget) loop
      n := n + 1;
      required := case when b.measure = 'calls' then 1
                     when p_last is null and b.measure in ('tokens', 'usd') then 0
                     when p_budget ? 'exact' and p_last ? b.measure then (p_last ->> b.measure)::numeric
                     else least(b.most, greatest(b.reserve, (p_last ->> b.measure)::numeric)) end;
      insert into budget_accounts (tenant_id, budget_id, subject, since, measure)
        values (p_tenant, b.budget_id, b.subject, b.since, b.measure) on conflict do nothing;
      update budget_accounts x set reserved = reserved + required
        where x.tenant_id = p_tenant and x.budget_id = b.budget_id and x.subject = b.subject and x.since = b.since
          and x.measure = b.measure and x.spent + x.reserved + required <= b.most + x.extra;
      if not found then raise exception using errcode = 'BDG01', message = 'no room in a budget'; end if;
      insert into budget_holds values (p_tenant, p_holder, attempt_no, coalesce(p_owner, p_turn, p_holder), b.budget_id, b.subject, b.since, b.measure, required);
    end loop;
  exception when sqlstate 'BDG01' then
    -- Read after the locks are released, so the numbers may be newer than the refusal, which was correct when it was
    -- made.
    select * into a from budget_accounts x where x.tenant_id = p_tenant and x.budget_id = b.budget_id
      and x.subject = b.subject and x.since = b.since and x.measure = b.measure;
    return jsonb_build_object('exceeded', jsonb_build_object('id', b.budget_id, 'scope', b.scope, 'subject', b.subject,
      'since', b.since, 'measure', b.measure, 'limit', b.most, 'extra', coalesce(a.extra, 0), 'spent', coalesce(a.spent, 0),
      'reserved', coalesce(a.reserved, 0), 'required', required, 'on_limit', b.on_limit));
  end;
  return case when n > 0 then '{"held":true}'::jsonb end;
end $$;
