-- Up Migration
-- DU-7. A budget limits what its subjects use; each subject, period and measure has an account.
create table budgets (
  tenant_id  text not null references tenants,
  id         text not null,
  scope      text not null check (scope in ('turn','session','agent','team','tenant')),
  -- One session, agent or team; empty when each has the limits for itself.
  subject    text not null default '',
  period     text not null check (period in ('total','day','month')),
  -- Limits by measure, on_limit and reserve: domain/budget.ts.
  config     jsonb not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, id)
);
create unique index budgets_once on budgets (tenant_id, scope, subject, period);

-- spent + reserved never passes what the budget says and `extra` allows, but by what calls cost beyond their reserve.
create table budget_accounts (
  tenant_id text not null references tenants,
  budget_id text not null,
  subject   text not null,
  since     date not null,
  measure   text not null check (measure in ('tokens','usd','seconds','calls')),
  spent     numeric not null default 0,
  reserved  numeric not null default 0,
  extra     numeric not null default 0,
  primary key (tenant_id, budget_id, subject, since, measure)
);

create index budget_accounts_by_period on budget_accounts (tenant_id, since desc, budget_id, subject, measure);

-- What an attempt of a call has reserved: gone when it is settled. One whose attempt never came back counts as spent.
create table budget_holds (
  tenant_id text not null,
  holder    text not null,
  attempt   int not null,
  turn_id   text not null,
  budget_id text not null,
  subject   text not null,
  since     date not null,
  measure   text not null,
  amount    numeric not null,
  primary key (tenant_id, holder, attempt, budget_id, subject, since, measure)
);
create index budget_holds_by_turn on budget_holds (tenant_id, turn_id);

-- Whose budget a session's turns use: {turn, session, agent, team?} of the root of its tree; null for a root itself.
alter table sessions add column budget_root jsonb;

-- What a model's answer has cost; null when its price is not known.
alter table messages add column usd numeric;
-- By day, for reports: rows come in the order of time, so this costs next to nothing.
create index messages_by_time on messages using brin (created_at);
