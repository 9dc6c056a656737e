/** DU-7: whose budgets the use of a turn counts for, when another turn, a team or a parent has requested it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { writeMessage } from '#store/turns/message-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createTurnLedger, type TurnLedger } from '#store/turns/turn-ledger.ts';
import { createBudgetTenants } from '#test/support/budget-tenants.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

describe('DU-7 roots of budgets', () => {
  let database: TestDatabase;
  let pool: Pool;
  let ledger: TurnLedger;
  before(async () => {
    database = await createTestDatabase();
    pool = database.pool;
    ledger = createTurnLedger(pool, () => undefined);
  });
  after(() => database.drop());

  const { newTenant, newSession } = createBudgetTenants(() => pool);

  it('a subagent gets the root of its parent, down the whole tree', async () => {
    const tenant = await newTenant();
    await newSession(tenant, 'top');
    const rootOf = async (session: string): Promise<unknown> =>
      (await pool.query('select budget_root_of($1, $2, $3) as root', [tenant, session, `turn_${session}`]))
        .rows[0].root;
    const root = { turn: 'turn_top', session: 'top', agent: 'main' };
    assert.deepEqual(await rootOf('top'), root);
    await newSession(tenant, 'below', 'main', root);
    assert.deepEqual(await rootOf('below'), root);
  });

  it('a message within a team makes its session the team’s, also when somebody else has made the session', async () => {
    const tenant = await newTenant();
    await newSession(tenant, 'taken');
    for (const session of ['taken', 'new']) {
      const context = { agent: 'main' };
      const message = {
        id: `m-${session}`,
        session,
        text: 'x',
        mode: 'queue',
        context,
        team: 'red',
      } as const;
      assert.equal((await writeMessage(forTenant(pool, tenant), message)).written, true);
    }
    const { rows } = await pool.query('select budget_root as root from sessions where tenant_id = $1', [
      tenant,
    ]);
    assert.deepEqual(rows, [{ root: { team: ['red'] } }, { root: { team: ['red'] } }]);
  });

  it('a turn that another turn has begun by a message counts for that one, its session, and its own session', async () => {
    const tenant = await newTenant(
      { scope: 'turn', calls: 9 },
      { scope: 'session', calls: 9 },
      { scope: 'team', calls: 9 },
    );
    await newSession(tenant, 'sender');
    const say = async (from: string, session: string, team?: string): Promise<void> => {
      const message = {
        id: `msg-${session}`,
        session,
        text: 'Work.',
        mode: 'queue',
        context: { agent: 'main' },
        from: { session: from, turn: `turn_${from}` },
        ...(team === undefined ? {} : { team }),
      } as const;
      await writeMessage(forTenant(pool, tenant), message);
      await ledger.beginStep({
        tenant,
        session,
        turn: `turn_${session}`,
        step: 1,
        messages: [{ id: message.id }],
        settle: [],
        after: 0,
        summaryAfter: 0,
        defaultAgent: 'main',
        runId: 'run',
        budget: { attempt: 1, holder: `msg_${session}.1`, reserve: { tokens: 1, usd: 1, seconds: 1 } },
      });
    };
    const counted = async (): Promise<string[]> => {
      const { rows } = await pool.query<{ subject: string; reserved: number }>(
        'select subject, sum(reserved)::int as reserved from budget_accounts where tenant_id = $1 group by subject',
        [tenant],
      );
      return rows.map(({ subject, reserved }) => `${subject} ${reserved}`).toSorted();
    };
    await say('sender', 'second');
    assert.deepEqual(await counted(), ['second 1', 'sender 1', 'turn_sender 1']);
    await say('second', 'third', 'red');
    assert.deepEqual(await counted(), ['red 1', 'second 1', 'sender 2', 'third 1', 'turn_sender 2']);
    await say('third', 'fourth', 'blue');
    assert.deepEqual(await counted(), [
      'blue 1',
      'fourth 1',
      'red 2',
      'second 1',
      'sender 3',
      'third 1',
      'turn_sender 3',
    ]);
    // What a turn passes on to a child is the same.
    const { rows } = await pool.query('select budget_root_of($1, $2, $3) as root', [
      tenant,
      'fourth',
      'turn_fourth',
    ]);
    assert.deepEqual(rows[0].root, {
      turn: 'turn_sender',
      session: ['sender', 'fourth'],
      agent: 'main',
      team: ['blue', 'red'],
    });
  });
});
