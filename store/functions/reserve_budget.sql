-- Reserves what a call may use (DU-7), in all the accounts it counts for or in none. Returns null when no budget
-- applies, {held} when it may run, otherwise {exceeded: the account that is too small}. Reservations of earlier
-- attempts of the call become spent, because it is unknown whether they were paid for. The same attempt again keeps its
-- reservation. p_last is what the previous call used, or, when p_budget says `exact`, the price of this one. `settle` in
-- p_budget ({holder, attempt, spent}) is another reservation to settle before.
-- A reservation that is never settled counts as spent when its owner ends: a turn, a delegation or a task's judging
-- (count_turn_holds). p_owner defaults to the turn. p_turn is null for work of a session without a turn. Work without a
-- session names its agent in p_budget.
--
-- An account of an agent, a team or a tenant has 8 shards, and a session always uses the same one. A call is reserved in
-- its shard while it fits into the shard's share. Otherwise all shards are locked, and the room that the account has is
-- divided among them anew; only an account without room refuses. What calls cost beyond their reserve may exceed their
-- shard's share. The other shards see that without a lock and divide anew, so that it is taken from their room too.
--
-- Accounts are the last rows that a transaction locks, always in the same order. Before all shards of an account are
-- locked, the locks on accounts are released: settlements and reservations are taken back and made again after it. A
-- refused call releases its locks too.
create function reserve_budget(
  p_tenant text, p_session text, p_turn text, p_holder text, p_last jsonb, p_budget jsonb, p_owner text default null
) returns jsonb
language plpgsql as $$
declare
  root jsonb := coalesce(budget_root_of(p_tenant, p_session, p_turn), p_budget -> 'root');
  agent text := p_budget #>> '{root,agent}';
  attempt_no int := (p_budget ->> 'attempt')::int;
  place int := hashtext(coalesce(nullif(p_session, ''), p_holder)) & 7;
  -- The places in the order of accounts of those whose shards are all locked.
  whole int[] := '{}';
  b record;
  a record;
  required numeric;
  n int;
begin
  if agent is null then
    select agent_key into agent from turns where tenant_id = p_tenant and id = p_turn;
    if not found then
      select agent_key into agent from sessions where tenant_id = p_tenant and key = p_session;
    end if;
  end if;
  loop
    n := 0;
    begin
      if whole <> '{}' then
        for b in select x.*, case when x.shards > 1 then place else 0 end as own
            from budgets_of(p_tenant, root, agent, p_budget) x loop
          n := n + 1;
          if n = any (whole) then
            perform lock_account(p_tenant, b.budget_id, b.subject, b.since, b.measure, b.shards);
          else
            perform 1 from budget_accounts x where x.tenant_id = p_tenant and x.budget_id = b.budget_id
              and x.subject = b.subject and x.since = b.since and x.measure = b.measure and x.shard = b.own for update;
          end if;
        end loop;
        n := 0;
      end if;
      perform settle_before(p_tenant, p_holder, p_budget);
      if exists (select 1 from budget_holds where tenant_id = p_tenant and holder = p_holder and attempt = attempt_no) then
        return '{"held":true}';
      end if;
      for b in select x.*, case when x.shards > 1 then place else 0 end as own
          from budgets_of(p_tenant, root, agent, p_budget) x loop
        n := n + 1;
        required := case when b.measure = 'calls' then 1
                       when p_last is null and b.measure in ('tokens', 'usd') then 0
                       when p_budget ? 'exact' and p_last ? b.measure then (p_last ->> b.measure)::numeric
                       else least(b.most, greatest(b.reserve, (p_last ->> b.measure)::numeric)) end;
        update budget_accounts x set reserved = reserved + required
          where x.tenant_id = p_tenant and x.budget_id = b.budget_id and x.subject = b.subject and x.since = b.since
            and x.measure = b.measure and x.shard = b.own and x.share_of = b.most
            and x.spent + x.reserved + required <= x.share
            and not exists (select from budget_accounts o where o.tenant_id = p_tenant and o.budget_id = b.budget_id
              and o.subject = b.subject and o.since = b.since and o.measure = b.measure and o.spent + o.reserved > o.share);
        if not found then
          if b.shards > 1 and n <> all (whole) then
            raise exception using errcode = 'BDG02', message = 'no room in a shard';
          end if;
          if b.shards = 1 then
            perform lock_account(p_tenant, b.budget_id, b.subject, b.since, b.measure, 1);
          end if;
          select b.most + sum(x.extra) - sum(x.spent + x.reserved) - required as room into a from budget_accounts x
            where x.tenant_id = p_tenant and x.budget_id = b.budget_id and x.subject = b.subject and x.since = b.since
              and x.measure = b.measure;
          if a.room < 0 then raise exception using errcode = 'BDG01', message = 'no room in a budget'; end if;
          update budget_accounts x set reserved = x.reserved + y.more, share_of = b.most,
              share = x.spent + x.reserved + y.more + trunc(a.room / b.shards, 9)
            from (select s as shard, case when s = b.own then required else 0 end as more from generate_series(0, b.shards - 1) s) y
            where x.tenant_id = p_tenant and x.budget_id = b.budget_id and x.subject = b.subject and x.since = b.since
              and x.measure = b.measure and x.shard = y.shard;
        end if;
        insert into budget_holds values (p_tenant, p_holder, attempt_no, coalesce(p_owner, p_turn, p_holder), b.budget_id, b.subject, b.since, b.measure, required, b.own);
      end loop;
      return case when n > 0 then '{"held":true}'::jsonb end;
    exception
      when sqlstate 'BDG01' then exit;
      when sqlstate 'BDG02' then whole := whole || n;
    end;
  end loop;
  perform settle_before(p_tenant, p_holder, p_budget);
  -- Read after the locks are released, so the numbers may be newer than the refusal, which was correct when it was made.
  select sum(x.extra) as extra, sum(x.spent) as spent, sum(x.reserved) as reserved into a from budget_accounts x
    where x.tenant_id = p_tenant and x.budget_id = b.budget_id and x.subject = b.subject and x.since = b.since
      and x.measure = b.measure;
  return jsonb_build_object('exceeded', jsonb_build_object('id', b.budget_id, 'scope', b.scope, 'subject', b.subject,
    'since', b.since, 'measure', b.measure, 'limit', b.most, 'extra', coalesce(a.extra, 0), 'spent', coalesce(a.spent, 0),
    'reserved', coalesce(a.reserved, 0), 'required', required, 'on_limit', b.on_limit));
end $$;
