/**
 * DU-2: a call that is claimed with its answer is claimed as by itself: by one attempt, and only while its turn runs.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { AnswerFate, NewCall } from '#store/turns/answer-record.ts';
import { createTurnLedger, type TurnLedger } from '#store/turns/turn-ledger.ts';
import { createBudgetTenants } from '#test/support/budget-tenants.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

const RULES = { once: true, reads: false, perHour: 0, burst: 1 };

describe('DU-2 a call that is claimed with its answer', () => {
  let database: TestDatabase;
  let ledger: TurnLedger;
  before(async () => {
    database = await createTestDatabase();
    ledger = createTurnLedger(database.pool, () => undefined);
  });
  after(() => database.drop());
  const { newTenant, newSession } = createBudgetTenants(() => database.pool);

  async function answerWith(call: Partial<NewCall>, tenant: string, session: string): Promise<AnswerFate> {
    const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
    const answer = {
      id: `msg_${session}`,
      text: 'x',
      finish: 'tool_calls',
      model: 'p/m',
      usage,
      readUpTo: 0,
    };
    const request: NewCall = {
      id: `call_${session}`,
      index: 0,
      tool: 'exec',
      called_as: 'exec',
      summary: 'exec: true',
      args: { command: 'true' },
      digest: 'd',
      verdict: 'allow',
      ...call,
    };
    const turn = { tenant, session, turn: `turn_${session}`, step: 1 };
    return ledger.recordAnswer(turn, answer, [request], [], []);
  }

  it('is lost for every other attempt, and goes on for the one that has it', async () => {
    const tenant = await newTenant();
    await newSession(tenant, 'claims');
    assert.equal(
      await answerWith({ state: 'running', ran: true, fence: 'mine' }, tenant, 'claims'),
      'recorded',
    );
    const other = await ledger.claim(tenant, 'call_claims', 'other', RULES);
    assert.equal(other.kind, 'lost');
    const mine = await ledger.claim(tenant, 'call_claims', 'mine', RULES);
    assert.equal(mine.kind, 'run');
    const turn = { tenant, session: 'claims', ok: true, code: null, text: 'done', events: [] };
    const late = await ledger.recordResult({ ...turn, call: 'call_claims', fence: 'other' });
    assert.equal(late.recorded, false);
    const result = await ledger.recordResult({ ...turn, call: 'call_claims', fence: 'mine' });
    assert.equal(result.recorded, true);
  });

  it('DU-4: an answer is recorded only when it was made from all that the turn has taken', async () => {
    const tenant = await newTenant();
    await newSession(tenant, 'heard');
    await database.pool.query(
      `insert into messages (tenant_id, id, session_key, turn_id, step, role, text, position)
       values ($1, 'msg_heard', 'heard', 'turn_heard', 1, 'user', 'x', 1)`,
      [tenant],
    );
    await database.pool.query(`update sessions set position = 1 where tenant_id = $1`, [tenant]);
    const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 };
    const key = { tenant, session: 'heard', turn: 'turn_heard', step: 1 };
    const record = (lastHeardAt: number) =>
      ledger.recordAnswer(
        key,
        { id: 'msg_heard-1', text: 'x', finish: 'stop', model: 'p/m', usage, readUpTo: lastHeardAt },
        [],
        [],
        [],
      );
    assert.equal(await record(0), 'refused');
    const { rows } = await database.pool.query('select kind from model_uses where tenant_id = $1', [tenant]);
    assert.deepEqual(rows, [{ kind: 'unused' }]);
    assert.equal(await record(1), 'recorded');
  });

  it('does not run in a turn that is over: nothing is recorded until it comes without a claim', async () => {
    const tenant = await newTenant();
    await newSession(tenant, 'over');
    await database.pool.query(`update turns set status = 'stopped' where tenant_id = $1`, [tenant]);
    assert.equal(await answerWith({ state: 'running', ran: true, fence: 'mine' }, tenant, 'over'), 'over');
    assert.equal((await ledger.claim(tenant, 'call_over', 'mine', RULES)).kind, 'missing');
    assert.equal(await answerWith({}, tenant, 'over'), 'recorded');
    assert.equal((await ledger.claim(tenant, 'call_over', 'mine', RULES)).kind, 'refused');
  });
});
