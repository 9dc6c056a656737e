/**
 * DU-2: Postgres answers with an error of ours: a turn waits until it is fixed, and a tool's outcome stays what it was.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

describe('DU-2 a function of Postgres that is missing', { timeout: 180_000 }, () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({ agents: [{ key: 'free', tools: {} }] });
  });
  after(() => live.close());

  const drop = (name: string) => live.pool.query(`drop function ${name}`);
  const restore = async (name: string) =>
    live.pool.query(await readFile(new URL(`../../store/functions/${name}.sql`, import.meta.url), 'utf8'));
  const done = (note: string) => live.probes.effects.filter((effect) => effect.note === note).length;
  const results = async (turn: string) =>
    (await live.calls(turn)).map(({ ok, code, result }) => ({ ok, code, result }));

  for (const [missing, doneMeanwhile] of [
    ['claim_call_2', 0],
    ['record_result', 1],
  ] as const)
    it(`a call is told as it was when ${missing} was missing for a while, and runs once`, async () => {
      const note = `without ${missing}`;
      await drop(missing);
      const receipt = await live
        .say(`without-${missing}`, `poke {"note":"${note}"}`, { agent: 'free' })
        .catch(async (error: unknown) => {
          await restore(missing);
          throw error;
        });
      // Longer than unexpected errors are retried.
      await sleep(8_000);
      const meanwhile = done(note);
      await restore(missing);
      assert.equal(meanwhile, doneMeanwhile);
      assert.equal((await live.ended(receipt.turn_id)).status, 'completed');
      assert.deepEqual(await results(receipt.turn_id), [{ ok: true, code: null, result: `poke ${note}` }]);
      assert.equal(done(note), 1);
    });

  for (const [was, is] of [
    ['p_code text,', 'p_code text, p_new text,'],
    ['p_result text,', 'p_result jsonb,'],
    ['p_ok boolean,', 'p_ok integer,'],
  ] as const)
    it(`a call is told as it was when record_result took ${is} for a while`, async () => {
      const source = await readFile(
        new URL('../../store/functions/record_result.sql', import.meta.url),
        'utf8',
      );
      const note = `with ${is}`;
      await drop('record_result');
      await live.pool.query(source.replace(was, is));
      const { turn_id } = await live.say(`with-${is.length}`, `poke {"note":"${note}"}`, { agent: 'free' });
      await live.until('the effect', async () => done(note) === 1 || undefined);
      await drop('record_result');
      await restore('record_result');
      assert.equal((await live.ended(turn_id)).status, 'completed');
      assert.deepEqual(await results(turn_id), [{ ok: true, code: null, result: `poke ${note}` }]);
      assert.equal(done(note), 1);
    });

  it('a call is told as it was when claim_call_2 gave nothing for a while', async () => {
    const source = await readFile(new URL('../../store/functions/claim_call_2.sql', import.meta.url), 'utf8');
    await drop('claim_call_2');
    await live.pool.query(
      `${source.slice(0, source.indexOf('language'))} language sql as 'select null::jsonb'`,
    );
    const { turn_id } = await live.say('nothing', 'poke {"note":"nothing"}', { agent: 'free' });
    await sleep(8_000);
    const meanwhile = done('nothing');
    await drop('claim_call_2');
    await restore('claim_call_2');
    assert.equal(meanwhile, 0);
    assert.equal((await live.ended(turn_id)).status, 'completed');
    assert.deepEqual(await results(turn_id), [{ ok: true, code: null, result: 'poke nothing' }]);
    assert.equal(done('nothing'), 1);
  });

  it('a call that is over while Postgres only reads is told as it was', async () => {
    const { turn_id } = await live.say('reads', 'once_hold {"note":"reads"}', { agent: 'free' });
    await live.probes.untilHeld('reads');
    const { rows } = await live.pool.query<{ name: string }>('select current_database() as name');
    const readOnly = async (is: 'on' | 'off'): Promise<void> => {
      const client = await live.pool.connect();
      await client.query(
        `begin read write; alter database "${rows[0]?.name}" set default_transaction_read_only = ${is}; commit`,
      );
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      );
      // This connection is unchanged.
      client.release(true);
    };
    await readOnly('on');
    live.probes.release('reads');
    await sleep(8_000);
    await readOnly('off');
    assert.equal((await live.ended(turn_id)).status, 'completed');
    assert.deepEqual(
      (await results(turn_id)).map(({ ok, code }) => ({ ok, code })),
      [{ ok: true, code: null }],
    );
  });

  it('a call that its own activity can never record is recorded by the next step', async () => {
    await drop('record_result');
    const { turn_id } = await live.say('never', 'poke {"note":"never"}', { agent: 'free' });
    const { status } = await live.ended(turn_id).finally(() => restore('record_result'));
    assert.equal(status, 'completed');
    assert.deepEqual(await results(turn_id), [{ ok: true, code: null, result: 'poke never' }]);
  });
});
