/**
 * Budgets as rows, with the state of their accounts (DU-7). For budgets of the settings and of agents, only the
 * accounts are rows.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { type BudgetPeriod, type BudgetScope, MAX_BUDGETS } from '#domain/budget/budget.ts';
import { affects, readRow, readRows } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';
import { inTenantLock } from '../postgres/transaction.ts';
import type { Kept } from '#domain/schema/scalars.ts';
import type { accountSchema, Budget, budgetUseSchema } from '#domain/schema/budget.ts';

export type AccountRow = Kept<typeof accountSchema>;

export interface BudgetRow {
  readonly id: string;
  readonly scope: BudgetScope;
  /** Empty when each subject has the limits separately. */
  readonly subject: string;
  readonly period: BudgetPeriod;
  readonly config: Omit<Budget, 'scope' | 'subject' | 'period'>;
  readonly accounts: readonly AccountRow[];
  readonly created_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Of all shards of an account. */
const amounts = sql`sum(spent)::float8 as spent, sum(reserved)::float8 as reserved, sum(extra)::float8 as extra`;

/**
 * Accounts of the newest period with use, the most used first. Turns are too numerous to list; sessions are limited to
 * the user of the parameter.
 */
const columns = (
  confinedTo: string | null = null,
) => sql`b.id, b.scope, b.subject, b.period, b.config, b.created_by, b.created_at, b.updated_at,
  (select coalesce(jsonb_agg(to_jsonb(x)), '[]') from (
     select a.subject, a.since, a.measure, ${amounts} from budget_accounts a
     where a.tenant_id = b.tenant_id and a.budget_id = b.id and b.scope <> 'turn'
       and (${confinedTo}::text is null or b.scope <> 'session' or exists (select 1 from sessions s
         where s.tenant_id = a.tenant_id and s.key = a.subject and s.user_id = ${confinedTo}))
       and a.since = (select max(n.since) from budget_accounts n where n.tenant_id = b.tenant_id and n.budget_id = b.id)
     group by a.subject, a.since, a.measure
     order by sum(a.spent + a.reserved) desc, a.subject, a.measure limit 100) x) as accounts`;

function configOf(budget: Budget): string {
  const { scope: _, subject: __, period: ___, ...config } = budget;
  return JSON.stringify(config);
}

/** `taken` means that the tenant has one of the same scope, subject and period; `full`, that it has the maximum. */
export function createBudget(
  db: TenantDb,
  budget: Budget,
  by: string,
): Promise<BudgetRow | 'taken' | 'full'> {
  const { scope, subject = '', period = 'total' } = budget;
  const id = `bud_${randomUUID()}`;
  return inTenantLock(db, async (tx) => {
    const row = await readRow<BudgetRow>(tx)`with b as (
       insert into budgets (tenant_id, id, scope, subject, period, config, created_by)
       select ${tx}, ${id}, ${scope}, ${subject}, ${period}, ${configOf(budget)}, ${by}
       where (select count(*) from budgets where tenant_id = ${tx}) < ${MAX_BUDGETS}
       on conflict do nothing returning *)
     select ${columns()} from b`;
    if (row) return row;
    const isTaken = await affects(tx)`select from budgets
      where tenant_id = ${tx} and scope = ${scope} and subject = ${subject} and period = ${period}`;
    return isTaken ? 'taken' : 'full';
  });
}

/**
 * Changes limits, the action at a limit, and the reserve. Subject and period stay, because the accounts belong to them.
 */
export function changeBudget(db: TenantDb, id: string, budget: Budget): Promise<BudgetRow | undefined> {
  return readRow<BudgetRow>(db)`
    with b as (update budgets set config = ${configOf(budget)}, updated_at = now()
      where tenant_id = ${db} and id = ${id} returning *)
     select ${columns()} from b`;
}

/** Deletes its accounts too, except those that a running call will settle, whose settlement then has no budget. */
export function deleteBudget(db: TenantDb, id: string): Promise<boolean> {
  return affects(db)`
    with gone as (delete from budgets where tenant_id = ${db} and id = ${id} returning id),
     accounts as (delete from budget_accounts where tenant_id = ${db} and budget_id in (select id from gone))
     select id from gone`;
}

export function findBudget(
  db: TenantDb,
  id: string,
  confinedTo: string | null,
): Promise<BudgetRow | undefined> {
  return readRow<BudgetRow>(db)`
    select ${columns(confinedTo)} from budgets b where b.tenant_id = ${db} and b.id = ${id}`;
}

/**
 * Accounts of all budgets, including those of the settings and of agents, newest periods first. With `confinedTo`,
 * accounts of other users' sessions and turns are left out.
 */
export function listAccounts(
  db: TenantDb,
  { budget, subject }: { readonly budget?: string | undefined; readonly subject?: string | undefined },
  confinedTo: string | null,
  limit: number,
): Promise<(AccountRow & { readonly budget: string })[]> {
  return readRows<AccountRow & { readonly budget: string }>(db)`
    select budget_id as budget, subject, to_char(since, 'YYYY-MM-DD') as since, measure, ${amounts}
     from budget_accounts where tenant_id = ${db} and (${budget}::text is null or budget_id = ${budget})
       and (${subject}::text is null or subject = ${subject})
       and (${confinedTo}::text is null or not exists (select 1 from sessions s
         where s.tenant_id = ${db} and s.user_id is distinct from ${confinedTo}
         and (s.key = subject or s.key = (select session_key from turns t
           where t.tenant_id = ${db} and t.id = subject))))
     group by budget_id, subject, budget_accounts.since, measure
     order by budget_accounts.since desc, budget_id, subject, measure limit ${limit}`;
}

/**
 * How much of each limit is used in the period that runs, the fullest first. `settings` are the budgets of the settings.
 * Of turns and sessions, only those with an open turn are read: of the others there may be any number.
 */
export function listBudgetUse(
  db: TenantDb,
  settings: readonly Budget[],
  confinedTo: string | null,
  limit: number,
): Promise<Kept<typeof budgetUseSchema>[]> {
  return readRows<Kept<typeof budgetUseSchema>>(db)`
    with rules (id, scope, subject, period, config) as (
      select concat_ws(':', 'settings', r ->> 'scope', coalesce(r ->> 'subject', '*'), coalesce(r ->> 'period', 'total')),
        r ->> 'scope', coalesce(r ->> 'subject', ''), coalesce(r ->> 'period', 'total'), r
      from jsonb_array_elements(${JSON.stringify(settings)}::jsonb) r
      union all
      select concat_ws(':', 'agent', a.key, r ->> 'scope', coalesce(r ->> 'period', 'total')), r ->> 'scope',
        case when r ->> 'scope' = 'agent' then a.key else '' end, coalesce(r ->> 'period', 'total'), r
      from agents a, jsonb_array_elements(a.config -> 'budgets') r
      where a.tenant_id = ${db} and a.config ? 'budgets'
      union all
      select id, scope, subject, period, config from budgets where tenant_id = ${db}
    ), limits as (
      select r.id, r.scope, r.subject, m.measure, (r.config ->> m.measure)::float8 as most,
        coalesce(r.config ->> 'on_limit', 'ask') as on_limit,
        case r.period when 'total' then date '1970-01-01' else date_trunc(r.period, now() at time zone 'UTC')::date end as since,
        case r.period when 'total' then null
          else (date_trunc(r.period, now() at time zone 'UTC') + ('1 ' || r.period)::interval) at time zone 'UTC' end as renews_at
      from rules r, unnest(array['tokens','usd','seconds','calls']) m (measure) where r.config ? m.measure
    ), open as (
      select t.id, t.session_key from turns t join sessions s on s.tenant_id = t.tenant_id and s.key = t.session_key
      where t.tenant_id = ${db} and t.ended_at is null
        and (${confinedTo}::text is null or s.user_id is not distinct from ${confinedTo})
    ), used as (
      select l.id, l.measure, a.subject, ${amounts} from limits l join budget_accounts a on a.tenant_id = ${db}
        and a.budget_id = l.id and a.since = l.since and a.measure = l.measure
        and a.subject = any(array(select id from open union all select session_key from open union all select ''
          union all select key from agents where tenant_id = ${db} union all select key from teams where tenant_id = ${db}))
      group by l.id, l.measure, a.subject
    )
    select l.id as budget, l.scope, coalesce(u.subject, l.subject) as subject, l.measure, l.most as "limit", l.on_limit,
      to_char(l.since, 'YYYY-MM-DD') as since, l.renews_at, coalesce(u.spent, 0) as spent,
      coalesce(u.reserved, 0) as reserved, coalesce(u.extra, 0) as extra
    from limits l left join used u on u.id = l.id and u.measure = l.measure
    order by (coalesce(u.spent, 0) + coalesce(u.reserved, 0)) / (l.most + coalesce(u.extra, 0)) desc, 1, 3, 4
    limit ${limit}`;
}

/** All budgets of a tenant, in the order of creation. */
export function listBudgets(db: TenantDb, confinedTo: string | null): Promise<BudgetRow[]> {
  return readRows<BudgetRow>(db)`
    select ${columns(confinedTo)} from budgets b where b.tenant_id = ${db} order by b.created_at, b.id`;
}
