/** SC-3: what users write is hidden before it is stored, however it comes in; a call still gets its real arguments. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { historyText } from '#test/support/histories.ts';
import { workflowIdOf } from '#test/support/live-worker.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

/** A secret of the tenant, and one that is detected by its shape. */
const REGISTERED = 'correct horse battery staple';
const SHAPED = `ghp_${'k3Y'.repeat(12)}`;

describe('SC-3 texts of users', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
    const put = await stack.ask('PUT', '/v1/secrets/horse', { body: { value: REGISTERED } });
    assert.ok(put.status < 300, JSON.stringify(put.body));
  });
  after(() => stack.stop());

  const say = (session: string, text: string, mode = 'queue') =>
    stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
      body: { text, mode },
      headers: { 'idempotency-key': `hidden-${session}-${mode}` },
    });

  /** Every row of every table of the database, as text. */
  async function rows(): Promise<string> {
    const { rows: tables } = await stack.pool.query<{ name: string }>(
      "select quote_ident(tablename) as name from pg_tables where schemaname = 'public'",
    );
    const texts = await Promise.all(
      tables.map(async ({ name }) => {
        const { rows: all } = await stack.pool.query<{ row: string }>(`select t::text as row from ${name} t`);
        return all.map(({ row }) => row).join('\n');
      }),
    );
    return texts.join('\n');
  }

  const history = (session: string): Promise<string> =>
    historyText(stack.worker.client, workflowIdOf(stack.worker, session));

  const isHidden = (text: string, what: string): void => {
    for (const secret of [REGISTERED, SHAPED]) assert.ok(!text.includes(secret), what);
  };

  it('over HTTP: row, feed, title, history and what the model reads', async () => {
    const { body } = await say('http', `peek {"note":"${REGISTERED} ${SHAPED}"}`);
    assert.equal(body.status, 'completed');
    const [call] = await stack.worker.calls(body.turn_id);
    assert.equal(call?.result, 'peek [REDACTED] [REDACTED]');
    const { body: page } = await stack.ask('GET', '/v1/sessions/http/messages');
    assert.equal(page.data[0].text, 'peek {"note":"[REDACTED] [REDACTED]"}');
    isHidden(await history('http'), 'history');
    isHidden(await rows(), 'rows');
  });

  it('the same request again is the same message', async () => {
    const first = await say('again', `peek {"note":"${SHAPED}"}`);
    const second = await say('again', `peek {"note":"${SHAPED}"}`);
    assert.equal(second.body.turn_id, first.body.turn_id);
  });

  it('that steer, and those of a client of Temporal, taken or dropped', async () => {
    const running = await stack.worker.say('foreign', `hold {"note":"foreign"}\nthen\n${SHAPED}`);
    await stack.worker.probes.untilHeld('foreign');
    const steer = { body: { text: `And ${REGISTERED}` } };
    assert.equal((await stack.ask('POST', '/v1/sessions/foreign/steer', steer)).status, 202);
    await stack.worker.say('foreign', `Steered ${SHAPED}`, { mode: 'steer' });
    const waiting = await stack.worker.say('foreign', `Dropped ${REGISTERED}`);
    const stop = { turn_id: running.turn_id, level: 'all' as const };
    await stack.worker.temporal.stop(stack.worker.tenant, 'foreign', stop);
    for (const turn of [running, waiting]) await stack.worker.ended(turn.turn_id);
    isHidden(await rows(), 'rows');
  });

  it('arguments of a tool that is invoked: the tool gets the real ones, nobody else', async () => {
    const { body } = await stack.ask('POST', '/v1/tools/nudge/invoke', {
      body: { args: { note: SHAPED }, session_key: 'invoked' },
    });
    assert.equal(body.ok, true, JSON.stringify(body));
    assert.ok(stack.worker.probes.effects.some(({ note }) => note === SHAPED));
    assert.equal(body.text, 'nudge [REDACTED]');
    const { body: page } = await stack.ask('GET', '/v1/sessions/invoked/messages');
    assert.deepEqual(page.data[0].calls, [{ tool: 'nudge', args: { note: '[REDACTED]' } }]);
    isHidden(await rows(), 'rows');
    isHidden(await history('invoked'), 'history');
  });
});
