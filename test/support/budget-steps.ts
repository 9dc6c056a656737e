/** Steps of turns that reserve and settle, and the accounts of their budgets afterwards. */
import assert from 'node:assert/strict';
import { DEFAULT_RESERVE, type Spent } from '#domain/budget/budget.ts';
import type { AnswerFate } from '#store/turns/answer-record.ts';
import type { BudgetRequest } from '#store/budgets/budget-ledger.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { StepBasis } from '#store/turns/step-basis.ts';
import type { TurnLedger } from '#store/turns/turn-ledger.ts';

interface Account {
  readonly budget_id: string;
  readonly subject: string;
  readonly measure: string;
  readonly spent: number;
  readonly reserved: number;
  readonly extra: number;
}

export interface BudgetSteps {
  begin(
    tenant: string,
    session: string,
    step?: number,
    request?: Partial<BudgetRequest>,
    turn?: string,
  ): Promise<StepBasis>;
  answer(
    tenant: string,
    session: string,
    spent?: Partial<Spent>,
    step?: number,
    attempt?: number,
  ): Promise<AnswerFate>;
  accounts(tenant: string): Promise<Account[]>;
  /** The account of the measure, of which there is one. */
  only(tenant: string, measure: string): Promise<Account>;
  /** The number of open reservations. */
  holds(tenant: string): Promise<number>;
}

/** The message that answers in the step, and holds its reservation. */
export const answerOf = (session: string, step: number): string => `msg_${session}.${step}`;

/** `place` returns the database once it exists. */
export function createBudgetSteps(place: () => { pool: Pool; ledger: TurnLedger }): BudgetSteps {
  function begin(
    tenant: string,
    session: string,
    step = 1,
    request: Partial<BudgetRequest> = {},
    turn = `turn_${session}`,
  ): Promise<StepBasis> {
    return place().ledger.beginStep({
      tenant,
      session,
      turn,
      step,
      messages: [],
      settle: [],
      after: 0,
      summaryAfter: 0,
      defaultAgent: 'main',
      runId: '',
      budget: { attempt: 1, holder: answerOf(session, step), reserve: DEFAULT_RESERVE, ...request },
    });
  }
  function answer(
    tenant: string,
    session: string,
    spent: Partial<Spent> = {},
    step = 1,
    attempt = 1,
  ): Promise<AnswerFate> {
    const { tokens = 0, seconds = 0, calls = 1 } = spent;
    const usd = 'usd' in spent ? { usd: spent.usd ?? 0 } : {};
    return place().ledger.recordAnswer(
      { tenant, session, turn: `turn_${session}`, step },
      {
        id: answerOf(session, step),
        text: 'x',
        finish: 'stop',
        model: 'p/m',
        readUpTo: 100,
        usage: { inputTokens: tokens, outputTokens: 0, cachedInputTokens: 0 },
        ...usd,
        budget: { attempt, spent: { tokens, seconds, calls, ...usd } },
      },
      [],
      [],
      [],
    );
  }
  async function accounts(tenant: string): Promise<Account[]> {
    const { rows } = await place().pool.query<Account>(
      `select budget_id, subject, measure, sum(spent)::float8 as spent, sum(reserved)::float8 as reserved,
         sum(extra)::float8 as extra
       from budget_accounts where tenant_id = $1 group by budget_id, subject, since, measure order by 1, 2, 3`,
      [tenant],
    );
    return rows;
  }
  async function only(tenant: string, measure: string): Promise<Account> {
    const [account, ...others] = (await accounts(tenant)).filter((each) => each.measure === measure);
    assert.ok(account && others.length === 0);
    return account;
  }
  async function holds(tenant: string): Promise<number> {
    const { rows } = await place().pool.query<{ n: number }>(
      'select count(*)::int as n from budget_holds where tenant_id = $1',
      [tenant],
    );
    return rows[0]?.n ?? -1;
  }
  return { begin, answer, accounts, only, holds };
}
