/**
 * DU-7: reservations and settlements are exact however many run at once, and nothing that may have been used is
 * forgotten.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Budget } from '#domain/schema/budget.ts';
import { createBudgetGuard } from '#activities/budgets/budget-guard.ts';
import { settleApproval } from '#store/approvals/approval-record.ts';
import { createBudgetLedger } from '#store/budgets/budget-ledger.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { createTurnLedger, type TurnLedger } from '#store/turns/turn-ledger.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { answerOf, createBudgetSteps } from '#test/support/budget-steps.ts';
import { createBudgetTenants } from '#test/support/budget-tenants.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

describe('DU-7 accounts of a budget', () => {
  let database: TestDatabase;
  let pool: Pool;
  let ledger: TurnLedger;
  before(async () => {
    database = await createTestDatabase();
    pool = database.pool;
    ledger = createTurnLedger(pool, () => undefined);
  });
  after(() => database.drop());

  const { newTenant, newAgent, newSession } = createBudgetTenants(() => pool);
  const { begin, answer, accounts, only, holds } = createBudgetSteps(() => ({ pool, ledger }));

  it('without a budget nothing is written', async () => {
    const tenant = await newTenant();
    await newSession(tenant, 'free');
    assert.equal((await begin(tenant, 'free')).budget, null);
    await answer(tenant, 'free');
    assert.deepEqual([await accounts(tenant), await holds(tenant)], [[], 0]);
  });

  it('50 calls at once get exactly the places there are', async () => {
    const tenant = await newTenant({ scope: 'tenant', calls: 20 }, { scope: 'session', usd: 1 });
    const sessions = Array.from({ length: 50 }, (_, n) => `s${n}`);
    for (const session of sessions) await newSession(tenant, session);
    const bases = await Promise.all(sessions.map((session) => begin(tenant, session)));
    assert.equal(bases.filter(({ budget }) => budget?.held).length, 20);
    const { spent, reserved } = await only(tenant, 'calls');
    assert.deepEqual([spent, reserved], [0, 20]);
    const refused = bases.flatMap(({ budget }) => (budget && !budget.held ? [budget.exceeded] : []));
    assert.equal(refused.length, 30);
    for (const { scope, measure, limit, required: wanted, on_limit } of refused)
      assert.deepEqual([scope, measure, limit, wanted, on_limit], ['tenant', 'calls', 20, 1, 'ask']);
    // What one account refused holds nothing in another.
    assert.equal((await accounts(tenant)).filter(({ measure }) => measure === 'usd').length, 20);
  });

  it('what is spent and held never passes the limit but by what calls cost beyond their reserve', async (t) => {
    const chance = createChance(seedOfRun());
    t.diagnostic(`TEST_SEED=${chance.seed}`);
    const limit = 2;
    const tenant = await newTenant(
      { scope: 'tenant', usd: limit, reserve: { usd: 0.05 } },
      { scope: 'agent', tokens: 1_000_000 },
      { scope: 'session', seconds: 10_000 },
    );
    let beyond = 0;
    let paid = 0;
    const live = async (session: string): Promise<void> => {
      await newSession(tenant, session);
      for (let step = 1; step <= 10; step += 1) {
        const { budget } = await begin(tenant, session, step);
        if (!budget?.held) return;
        const usd = chance.between(0, 12) / 100;
        await answer(tenant, session, { usd, tokens: 10, seconds: 1 }, step);
        paid += usd;
        beyond += Math.max(0, usd - 0.05);
        const { spent, reserved } = await only(tenant, 'usd');
        assert.ok(
          spent + reserved <= limit + beyond + 1e-9,
          `${spent} + ${reserved} of ${limit} + ${beyond}`,
        );
      }
    };
    await Promise.all(Array.from({ length: 50 }, (_, n) => live(`p${n}`)));
    const { spent, reserved } = await only(tenant, 'usd');
    assert.ok(Math.abs(spent - paid) < 1e-9 && reserved === 0 && (await holds(tenant)) === 0);
  });

  it('the next call reserves what the one before it used, when that is more', async () => {
    const tenant = await newTenant({ scope: 'tenant', tokens: 100_000, usd: 10 });
    await newSession(tenant, 'grows');
    await begin(tenant, 'grows');
    assert.deepEqual(
      [(await only(tenant, 'tokens')).reserved, (await only(tenant, 'usd')).reserved],
      [2_000, 0.01],
    );
    await answer(tenant, 'grows', { tokens: 9_000, usd: 0.5 });
    await begin(tenant, 'grows', 2);
    assert.deepEqual(
      [(await only(tenant, 'tokens')).reserved, (await only(tenant, 'usd')).reserved],
      [9_000, 0.5],
    );
  });

  it('an unknown price counts as what was reserved', async () => {
    const tenant = await newTenant({ scope: 'tenant', usd: 1, reserve: { usd: 0.3 } });
    await newSession(tenant, 'unpriced');
    for (const step of [1, 2, 3]) {
      assert.ok((await begin(tenant, 'unpriced', step)).budget?.held);
      await answer(tenant, 'unpriced', { tokens: 5 }, step);
    }
    assert.equal((await only(tenant, 'usd')).spent, 0.9);
    assert.equal((await begin(tenant, 'unpriced', 4)).budget?.held, undefined);
  });

  it('what the attempt of a dead worker held counts as spent; the same attempt keeps what it holds', async () => {
    const tenant = await newTenant({ scope: 'turn', calls: 10 });
    await newSession(tenant, 'dies');
    await begin(tenant, 'dies');
    await begin(tenant, 'dies');
    assert.equal((await only(tenant, 'calls')).reserved, 1);
    await begin(tenant, 'dies', 1, { attempt: 2 });
    let { spent, reserved } = await only(tenant, 'calls');
    assert.deepEqual([spent, reserved], [1, 1]);
    assert.equal(await answer(tenant, 'dies', {}, 1, 2), 'recorded');
    // The first one was not dead but slow: it is settled already, and its answer is refused.
    assert.equal(await answer(tenant, 'dies', {}, 1, 1), 'refused');
    ({ spent, reserved } = await only(tenant, 'calls'));
    assert.deepEqual([spent, reserved], [2, 0]);
  });

  it('when the slow attempt wins, the other one still settles what it used', async () => {
    const tenant = await newTenant({ scope: 'turn', usd: 10, reserve: { usd: 1 } });
    await newSession(tenant, 'slow');
    await begin(tenant, 'slow');
    await begin(tenant, 'slow', 1, { attempt: 2 });
    assert.equal(await answer(tenant, 'slow', { usd: 0.2 }, 1, 1), 'recorded');
    assert.equal(await answer(tenant, 'slow', { usd: 0.3 }, 1, 2), 'refused');
    const { rows } = await pool.query(
      'select kind, usd::float8, (select cost_usd::float8 from turns where tenant_id = $1) as turn from model_uses where tenant_id = $1 and kind <> $2',
      [tenant, 'answer'],
    );
    assert.deepEqual(rows, [{ kind: 'unused', usd: 0.3, turn: 0.5 }]);
    const { spent, reserved } = await only(tenant, 'usd');
    assert.deepEqual([spent, reserved], [1.3, 0]);
  });

  it('the end of a turn counts what its calls still hold', async () => {
    const tenant = await newTenant({ scope: 'tenant', calls: 5 });
    await newSession(tenant, 'ends');
    await begin(tenant, 'ends');
    const end = { tenant, session: 'ends', turn: 'turn_ends', step: 1, status: 'stopped' } as const;
    assert.equal(await ledger.endTurn(end, 'main', ''), 'stopped');
    const { spent, reserved } = await only(tenant, 'calls');
    assert.deepEqual([spent, reserved, await holds(tenant)], [1, 0, 0]);
  });

  it('what cost nothing is given back', async () => {
    const tenant = await newTenant({ scope: 'tenant', calls: 5 });
    await newSession(tenant, 'back');
    await begin(tenant, 'back');
    const budgets = createBudgetLedger(pool, () => undefined);
    const settlement = { attempt: 1, spent: { tokens: 0, usd: 0, seconds: 0, calls: 0 } };
    for (const _ of [1, 2]) await budgets.settle(tenant, answerOf('back', 1), settlement);
    const { spent, reserved } = await only(tenant, 'calls');
    assert.deepEqual([spent, reserved], [0, 0]);
  });

  it('a tree counts for its root, and a delegate also for its own agent', async () => {
    const tenant = await newTenant(
      { scope: 'turn', calls: 9 },
      { scope: 'session', calls: 9 },
      { scope: 'team', calls: 9 },
      { scope: 'agent', calls: 9 },
    );
    await newAgent(tenant, 'helper');
    await newSession(tenant, 'root');
    await newSession(tenant, 'child', 'helper', {
      turn: 'turn_root',
      session: 'root',
      agent: 'main',
      team: ['red', 'blue'],
    });
    await begin(tenant, 'root');
    await begin(tenant, 'child');
    const counted = (await accounts(tenant)).map(({ subject, reserved }) => `${subject} ${reserved}`);
    assert.deepEqual(counted.toSorted(), ['blue 1', 'helper 1', 'main 2', 'red 1', 'root 2', 'turn_root 2']);
  });

  it('a session of a team that no turn has asked to work is its own root', async () => {
    const tenant = await newTenant({ scope: 'turn', calls: 9 }, { scope: 'team', subject: 'red', calls: 9 });
    await newSession(tenant, 'board', 'main', { team: ['red'] });
    await begin(tenant, 'board');
    const counted = (await accounts(tenant)).map(({ subject, reserved }) => `${subject} ${reserved}`);
    assert.deepEqual(counted.toSorted(), ['red 1', 'turn_board 1']);
  });

  it('what is reserved is never more than the limit, so that a long conversation may still ask', async () => {
    const tenant = await newTenant({ scope: 'turn', tokens: 5_000 });
    await newSession(tenant, 'long');
    await begin(tenant, 'long');
    await answer(tenant, 'long', { tokens: 9_000 });
    await pool.query(
      `insert into turns (tenant_id, id, session_key, agent_key, status) values ($1, 'turn_next', 'long', 'main', 'running')`,
      [tenant],
    );
    const { budget } = await begin(tenant, 'long', 1, { holder: 'msg_next' }, 'turn_next');
    assert.ok(budget?.held);
  });

  it('settings, agents and rows hold together; the first without room refuses', async () => {
    const tenant = await newTenant({ scope: 'tenant', calls: 3 });
    await newAgent(tenant, 'own', { budgets: [{ scope: 'session', calls: 2, on_limit: 'stop' }] });
    await newSession(tenant, 'mixed', 'own');
    const settings: Budget[] = [
      { scope: 'session', subject: 'other', calls: 1 },
      { scope: 'agent', subject: 'own', tokens: 10_000, period: 'day' },
    ];
    for (const step of [1, 2]) {
      assert.ok((await begin(tenant, 'mixed', step, { settings })).budget?.held);
      await answer(tenant, 'mixed', { tokens: 1 }, step);
    }
    const { budget } = await begin(tenant, 'mixed', 3, { settings });
    assert.ok(budget && !budget.held);
    const { id, on_limit, subject, spent } = budget.exceeded;
    assert.deepEqual([id, on_limit, subject, spent], ['agent:own:session:total', 'stop', 'mixed', 2]);
    const kept = (await accounts(tenant)).map(({ budget_id, spent, reserved }) => [
      budget_id.slice(0, 3),
      spent,
      reserved,
    ]);
    assert.deepEqual(kept, [
      ['age', 2, 0],
      ['bud', 2, 0],
      ['set', 2, 0],
    ]);
  });

  async function addsOnce(scope: 'session' | 'tenant'): Promise<void> {
    const tenant = await newTenant({ scope, calls: 1 });
    await newSession(tenant, 'more');
    await begin(tenant, 'more');
    await answer(tenant, 'more');
    const { budget } = await begin(tenant, 'more', 2);
    assert.ok(budget && !budget.held);
    const { id, subject, since, measure } = budget.exceeded;
    const budgets = createBudgetLedger(pool, () => undefined);
    const approval = {
      id: 'apr_x',
      call_id: answerOf('more', 2),
      tool: 'budget.more',
      args: { budget: id, scope, subject, since, measure, more: 2 },
      summary: 's',
      digest: 'd',
      reason: 'r',
      terms: {},
      always: { refused: 'more budget is given once' },
      expires_at: new Date(Date.now() + 60_000).toISOString(),
    };
    const key = { tenant, session: 'more', turn: 'turn_more' };
    const until = await budgets.ask(key, approval, []);
    assert.equal(await budgets.ask(key, { ...approval, expires_at: new Date().toISOString() }, []), until);
    const yes = {
      tenant,
      id: 'apr_x',
      status: 'approved',
      decision: 'approve',
      by: 'ann',
      key: 'k',
    } as const;
    for (const _ of [1, 2]) await settleApproval(forTenant(pool, tenant), yes);
    assert.equal((await only(tenant, 'calls')).extra, 2);
    assert.ok((await begin(tenant, 'more', 2)).budget?.held);
  }

  for (const scope of ['session', 'tenant'] as const)
    it(`an approval adds to the account of a ${scope} once, and the call then has room`, () =>
      addsOnce(scope));

  it('a question that an attempt asked before it died goes when the next attempt has room', async () => {
    const tenant = await newTenant({ scope: 'tenant', calls: 1 });
    await newSession(tenant, 'first');
    await newSession(tenant, 'second');
    await begin(tenant, 'first');
    const { budget } = await begin(tenant, 'second');
    assert.ok(budget && !budget.held);
    const budgets = createBudgetLedger(pool, () => undefined);
    const service = createBudgetGuard({
      ledger: budgets,
      settings: [],
      approvalSeconds: 60,
      needsToken: async () => false,
    });
    const { signal } = new AbortController();
    const step = {
      tenant,
      session: 'second',
      turn: 'turn_second',
      step: 1,
      now: Date.now(),
      readAt: performance.now(),
    };
    const first = { ...step, budget, attempt: { number: 1, runId: 'run', signal } };
    const result = await service.atLimit(first, budget.exceeded);
    assert.equal(result.kind, 'budget');
    const state = async (): Promise<unknown> => {
      const { rows } = await pool.query<{ approval: string; turn: string }>(
        `select a.status as approval, t.status as turn from approvals a join turns t on t.tenant_id = a.tenant_id
           and t.id = a.turn_id where a.tenant_id = $1`,
        [tenant],
      );
      return rows;
    };
    assert.deepEqual(await state(), [{ approval: 'pending', turn: 'waiting_approval' }]);
    const nothing = { tokens: 0, usd: 0, seconds: 0, calls: 0 };
    await budgets.settle(tenant, answerOf('first', 1), { attempt: 1, spent: nothing });
    const again = await begin(tenant, 'second', 1, { attempt: 2 });
    const second = { ...step, budget: again.budget, attempt: { number: 2, runId: 'run', signal } };
    for (const _ of [1, 2]) await service.takeBackAsk(second);
    assert.deepEqual(await state(), [{ approval: 'withdrawn', turn: 'running' }]);
  });

  it('many budgets and sessions at once lock nobody out', async () => {
    const tenant = await newTenant(
      { scope: 'tenant', calls: 10_000, tokens: 1e9 },
      { scope: 'tenant', usd: 1_000, period: 'day' },
      { scope: 'agent', seconds: 1e6 },
      { scope: 'session', calls: 10_000 },
    );
    const sessions = Array.from({ length: 20 }, (_, n) => `d${n}`);
    for (const session of sessions) await newSession(tenant, session);
    await Promise.all(
      sessions.map(async (session) => {
        for (let step = 1; step <= 5; step += 1) {
          await begin(tenant, session, step);
          await begin(tenant, session, step, { attempt: 2 });
          await answer(tenant, session, { tokens: 1, usd: 0.001, seconds: 1 }, step, 2);
        }
      }),
    );
    const calls = (await accounts(tenant)).filter(
      ({ subject, measure }) => subject === '' && measure === 'calls',
    );
    assert.deepEqual(
      calls.map(({ spent, reserved }) => [spent, reserved]),
      [[200, 0]],
    );
  });
});
