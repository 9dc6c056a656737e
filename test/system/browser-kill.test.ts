/** DU-1: kill -9 of the worker whose browser a session uses, between its actions and in the middle of one. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startSite, type Site } from '#test/support/browser-bench.ts';
import { createStand, type Stand } from '#test/support/faults.ts';
import { eventually, runningWith } from '#test/support/processes.ts';

interface Call {
  readonly ok: boolean | null;
  readonly code: string | null;
  readonly result: string | null;
}

describe('DU-1 a browser where several workers share a queue', { timeout: 600_000 }, () => {
  let stand: Stand;
  let site: Site;
  let profiles: string;
  const ends: (() => unknown)[] = [];
  before(async () => {
    const t = { after: (work: () => unknown): void => void ends.push(work) };
    site = await startSite(t, { '/start': '<h1>Start</h1>' });
    stand = await createStand({ workers: 2, settings: `egress: { allowPrivate: ["${site.host}"] }\n` });
    profiles = join(stand.folder, 'browser', 'profiles');
  });
  after(async () => {
    await stand?.close();
    for (const end of ends) await end();
  });

  /** What the model read of the action, each in a turn of its own. */
  async function act(session: string, action: object): Promise<string> {
    const [tenant] = stand.tenants;
    const text = `browser ${JSON.stringify(action)}`;
    const turn = await stand.say(tenant, session, `m-${Math.random()}`, { text });
    return stand.until(`the end of ${turn}`, async () => {
      const { rows } = await stand.pool.query<{ result: string }>(
        `select c.result from tool_calls c join turns t on t.tenant_id = c.tenant_id and t.id = c.turn_id
         where t.id = $1 and t.ended_at is not null`,
        [turn],
      );
      return rows[0]?.result;
    });
  }

  it('each call of a session reaches it, and so does a stop, whichever worker takes them', async () => {
    const [tenant] = stand.tenants;
    for (const session of ['a', 'b', 'c']) {
      await act(session, { action: 'navigate', url: `${site.url}/start` });
      for (let probe = 0; probe < 4; probe += 1)
        assert.match(await act(session, { action: 'snapshot' }), /heading "Start"/);
      await stand.ask(tenant, 'POST', `/v1/sessions/${session}/stop`, { body: { level: 'all' } });
      assert.ok(await eventually(() => runningWith(profiles).length === 0));
    }
  });

  it('when its worker is killed, the next call says where it was', async () => {
    await act('d', { action: 'navigate', url: `${site.url}/start` });
    const { rows } = await stand.pool.query<{ queue: string }>('select queue from browsers');
    assert.equal(rows.length, 1);
    for (const worker of stand.workers) await worker.kill();
    await stand.workers[1]?.start();
    const message = await act('d', { action: 'snapshot' });
    assert.match(message, /The one that this session had, on http:\S+\/start, has ended/);
    assert.match(await act('d', { action: 'navigate', url: `${site.url}/start` }), /The browser is new/);
    await stand.workers[0]?.start();
  });
});

describe('DU-1 kill -9 of a worker with a browser', { timeout: 600_000 }, () => {
  let stand: Stand;
  let site: Site;
  let profiles: string;
  const ends: (() => unknown)[] = [];
  before(async () => {
    const t = { after: (work: () => unknown): void => void ends.push(work) };
    site = await startSite(t, {
      '/start': '<h1>Start</h1><a href="/paid">Pay</a>',
      '/paid': '<h1>Paid</h1>',
    });
    stand = await createStand({
      workers: 1,
      settings: `egress: { allowPrivate: ["${site.host}"] }\nworker: { shutdownGraceSeconds: 5 }\n`,
    });
    profiles = join(stand.folder, 'browser', 'profiles');
  });
  after(async () => {
    await stand?.close();
    for (const end of ends) await end();
  });

  async function send(...actions: readonly object[]): Promise<string> {
    const [tenant] = stand.tenants;
    const text = actions.map((action) => `browser ${JSON.stringify(action)}`).join('\nthen\n');
    return stand.say(tenant, 'surfing', `m-${Math.random()}`, { text });
  }
  const callsOf = async (turn: string): Promise<readonly Call[]> => {
    await stand.until(`the end of ${turn}`, async () => {
      const { rowCount } = await stand.pool.query(
        'select 1 from turns where id = $1 and ended_at is not null',
        [turn],
      );
      return rowCount ? true : undefined;
    });
    const { rows } = await stand.pool.query<Call>(
      'select ok, code, result from tool_calls where turn_id = $1 order by step, index',
      [turn],
    );
    return rows;
  };
  const [worker] = [() => stand.workers[0]];

  it('leaves no Chromium and no profile after the next start, which says that the browser is new and where it was', async () => {
    const shown = await callsOf(
      await send({ action: 'navigate', url: `${site.url}/start` }, { action: 'snapshot' }),
    );
    assert.deepEqual(
      shown.map(({ ok }) => ok),
      [true, true],
      JSON.stringify(shown),
    );
    const remaining = runningWith(profiles);
    assert.notDeepEqual(remaining, [], 'it runs');
    // These cannot end by themselves when their worker is gone.
    for (const pid of remaining) process.kill(pid, 'SIGSTOP');
    await worker()?.kill();
    assert.notDeepEqual(runningWith(profiles), [], 'it outlives the worker');
    await worker()?.start();
    assert.ok(await eventually(() => runningWith(profiles).length === 0), 'it is gone');
    assert.deepEqual(await readdir(profiles), []);
    const [lost, again] = await callsOf(
      await send({ action: 'snapshot' }, { action: 'navigate', url: `${site.url}/paid` }),
    );
    assert.match(
      lost?.result ?? '',
      /NotFound: No browser is open\. The one that this session had, on http:\S+\/start, has ended/,
    );
    assert.match(
      again?.result ?? '',
      /The browser is new: the one that this session had, on http:\S+\/start, has ended/,
    );
  });

  it('does not repeat an action whose worker died in it', async () => {
    const before = site.requests.filter((request) => request === 'GET /paid').length;
    const script = "fetch('/paid').then(() => new Promise(() => {}))";
    const turn = await send({ action: 'navigate', url: `${site.url}/start` }, { action: 'evaluate', script });
    const paid = (): number => site.requests.filter((request) => request === 'GET /paid').length - before;
    assert.ok(await eventually(() => paid() === 1));
    await worker()?.kill();
    await worker()?.start();
    const [, call] = await callsOf(turn);
    assert.deepEqual([call?.ok, call?.code], [false, 'OutcomeUnknown']);
    assert.equal(paid(), 1);
  });

  it('ends with a stop of all of its session, and its exchanges are rows', async () => {
    const [tenant] = stand.tenants;
    await callsOf(await send({ action: 'navigate', url: `${site.url}/start` }));
    assert.notDeepEqual(runningWith(profiles), []);
    await stand.ask(tenant, 'POST', '/v1/sessions/surfing/stop', { body: { level: 'all' } });
    assert.ok(await eventually(() => runningWith(profiles).length === 0));
    const rows = await stand.ask(tenant, 'GET', '/v1/egress?purpose=browser');
    assert.match(JSON.stringify(rows?.body), new RegExp(site.host));
  });
});
