/** Heartbeats over HTTP: beats on Temporal Schedules, quiet unless there is something to say. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runIdOf, SCHEDULED_MESSAGE, scheduleIdOf } from '../contract/schedule.ts';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('TL heartbeat', () => {
  let stack: Stack;
  let other: LiveWorker;
  before(async () => {
    const keys = ['quiet', 'loud', 'inside', 'idle', 'hours', 'busy', 'fails', 'light', 'twice', 'of-users'];
    stack = await startStack({
      agents: keys.map((key) => ({ key })),
    });
    other = await startLiveWorker({ beside: stack.worker });
  });
  after(async () => {
    await other?.close();
    await stack.stop();
  });

  const url = (agent: string, more = ''): string => `/v1/agents/${agent}/heartbeat${more}`;
  const set = async (agent: string, body: object, list = '- look at the post'): Promise<any> => {
    const written = await stack.ask('PUT', `/v1/agents/${agent}/files/HEARTBEAT.md`, {
      body: { text: list },
    });
    assert.equal(written.status, 200, JSON.stringify(written.body));
    const made = await stack.ask('PATCH', url(agent), { body });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    return made.body;
  };
  const logs = async (agent: string): Promise<any[]> =>
    (await stack.ask('GET', url(agent, '/logs'))).body.data;
  const OVER = ['quiet', 'said', 'failed', 'skipped', 'refused'];
  /** The newest beat, once its workflow is over. */
  const beat = async (agent: string): Promise<any> => {
    const { body } = await stack.ask('POST', url(agent, '/test'), { body: {} });
    await stack.worker.client.workflow.getHandle(body.workflow_id).result();
    const [log] = await logs(agent);
    assert.ok(OVER.includes(log.status), log.status);
    return log;
  };
  /** A beat that Temporal starts. */
  const fire = ({ id, next_runs: [at] }: any, workflowId = runIdOf(stack.tenant, id, new Date(at))) =>
    stack.worker.client.workflow.execute(SCHEDULED_MESSAGE, {
      workflowId,
      taskQueue: stack.worker.taskQueue,
      args: [{ tenant: stack.tenant, schedule: id, at }],
    });
  const received = (session: string) => stack.worker.heard(session);
  /** The one message that the session got. */
  const once = async (session: string) => {
    const notice = await stack.worker.until(
      `a message to ${session}`,
      async () => (await received(session))[0],
    );
    const { rowCount } = await stack.pool.query(
      'select 1 from messages where session_key = $1 and role = $2',
      [session, 'user'],
    );
    assert.equal(rowCount, 1);
    return notice;
  };

  it('a quiet answer stays in the session of its beat; nobody is told', async () => {
    const made = await set('quiet', { prompt: 'HEARTBEAT_OK', session: 'ann-and-quiet' });
    assert.deepEqual(
      [made.interval, made.enabled, made.next_runs.length, made.checklist],
      [1_800, true, 5, 'written'],
    );
    const described = await stack.worker.client.schedule
      .getHandle(scheduleIdOf(stack.tenant, made.id))
      .describe();
    assert.equal(described.state.note, 'each 1800 s');
    const log = await beat('quiet');
    assert.equal(log.status, 'quiet');
    assert.match(log.session, /^heartbeat:heartbeat-/);
    assert.equal(log.text, 'HEARTBEAT_OK');
    assert.deepEqual(await received('ann-and-quiet'), []);
    assert.equal((await stack.ask('GET', '/v1/sessions/ann-and-quiet')).status, 404);
  });

  it('what is not quiet is said once in the session that it speaks in, and is none of the schedules', async () => {
    const made = await set('loud', { prompt: 'The boiler leaks.', session: 'ann-and-loud' });
    assert.equal((await beat('loud')).status, 'said');
    const notice = await once('ann-and-loud');
    assert.match(notice.text, /The boiler leaks\.$/);
    await stack.worker.ended(notice.turn_id);
    assert.equal((await stack.ask('GET', `/v1/schedules/${made.id}`)).status, 404);
    assert.equal((await stack.ask('DELETE', url('loud'))).status, 204);
    assert.equal((await stack.ask('GET', url('loud'))).status, 404);
  });

  it('in the session itself where it is not to be isolated', async () => {
    assert.equal(
      (await stack.ask('PATCH', url('inside'), { body: { isolated_session: false } })).status,
      422,
    );
    await set('inside', { prompt: 'Here I am.', session: 'room', isolated_session: false });
    const log = await beat('inside');
    assert.deepEqual([log.status, log.session], ['said', 'room']);
    assert.deepEqual(
      (await received('room')).map(({ text }) => text),
      ['Here I am.'],
    );
  });

  it('an empty checklist asks no model', async () => {
    await set('idle', { prompt: 'Hello.' }, '# Heartbeat\n\n- [ ]\n');
    const log = await beat('idle');
    assert.deepEqual(
      [log.status, log.reason, log.turn_id],
      ['skipped', 'HEARTBEAT.md has nothing to do', null],
    );
  });

  it('is skipped outside of its hours, and one that is wanted now is not', async () => {
    const now = new Date();
    const hour = (more: number): string => `${String((now.getUTCHours() + more) % 24).padStart(2, '0')}:00`;
    const body = { prompt: 'HEARTBEAT_OK', active_hours: `${hour(6)}-${hour(8)}` };
    await fire(await set('hours', body));
    const [log] = await logs('hours');
    assert.equal(log.status, 'skipped');
    assert.match(log.reason, /^it is not within \d\d:00-\d\d:00 \(UTC\)$/);
    assert.equal((await beat('hours')).status, 'quiet');
    const cleared = await stack.ask('PATCH', url('hours'), {
      body: { active_hours: null, prompt: null, enabled: false },
    });
    assert.deepEqual([cleared.body.active_hours, cleared.body.next_runs], [null, []]);
    assert.match(cleared.body.prompt, /^This is your heartbeat/);
  });

  it('is skipped while a turn of the session that it speaks in runs', async () => {
    await stack.worker.say('talk', 'poke {"note":"tea"}', { agent: 'busy' });
    await stack.worker.approvalOf('talk');
    await fire(await set('busy', { prompt: 'HEARTBEAT_OK', session: 'talk' }));
    const [log] = await logs('busy');
    assert.deepEqual([log.status, log.reason], ['skipped', 'a turn of the session talk runs']);
  });

  it('a beat whose turn fails is tried again in its session, and said to have failed', async () => {
    await set('fails', { prompt: 'bad request', model: 'rehearsal/flaky', max_retries: 1 });
    const log = await beat('fails');
    assert.equal(log.status, 'failed');
    assert.ok(log.reason);
    assert.equal((await received(log.session)).length, 2);
  });

  it('has a model of its own, and with a light context no file but the checklist', async () => {
    await stack.ask('PUT', '/v1/agents/light/files/SOUL.md', { body: { text: 'You are a gardener.' } });
    await set('light', { prompt: 'system', model: 'rehearsal/inspect' }, '- water the roses');
    const whole = (await beat('light')).text;
    assert.match(whole, /water the roses/);
    assert.match(whole, /You are a gardener/);
    await stack.ask('PATCH', url('light'), { body: { light_context: true } });
    const light = (await beat('light')).text;
    assert.match(light, /water the roses/);
    assert.doesNotMatch(light, /You are a gardener/);
  });

  it('an instant that is started several times at once, with two workers, is one turn said once', async () => {
    const made = await set('twice', { prompt: 'Once.', session: 'ann-and-twice' });
    await Promise.all([fire(made), fire(made, `other/${made.id}`), fire(made, `third/${made.id}`)]);
    const [log, ...more] = await logs('twice');
    assert.deepEqual([log.status, more], ['said', []]);
    assert.equal((await received(log.session)).length, 1);
    await once('ann-and-twice');
  });

  it('one for each user of an agent; a key of a user reaches its own alone', async () => {
    const ann = await stack.makeKey(['read', 'run'], { user: 'ann' });
    const bob = await stack.makeKey(['read', 'run'], { user: 'bob' });
    const made = await stack.ask('PATCH', url('of-users'), { body: { interval: 600 }, key: ann });
    assert.deepEqual([made.status, made.body.user, made.body.checklist], [200, 'ann', 'empty']);
    const again = await stack.ask('PATCH', url('of-users'), { body: { interval: 900 }, key: ann });
    assert.deepEqual([again.body.id, again.body.interval], [made.body.id, 900]);
    for (const [method, more] of [
      ['GET', ''],
      ['GET', '/logs'],
      ['POST', '/test'],
      ['DELETE', ''],
    ] as const)
      assert.equal(
        (await stack.ask(method, url('of-users', more), { key: bob, ...(method === 'POST' && { body: {} }) }))
          .status,
        404,
      );
    assert.equal((await stack.ask('GET', url('of-users'))).status, 404);
    assert.equal((await stack.ask('GET', url('of-users', '?user=ann'))).status, 200);
    await stack.worker.ended((await stack.worker.say('anns', 'Hello.', { user: 'ann' })).turn_id);
    const foreign = await stack.ask('PATCH', url('of-users'), { body: { session: 'anns' }, key: bob });
    assert.equal(foreign.status, 422);
  });

  it('bad ones are refused with the reason', async () => {
    for (const [body, status, words] of [
      [{ interval: 299 }, 400, /300/],
      [{ active_hours: '8-22' }, 400, /HH:MM-HH:MM/],
      [{ timezone: 'Mars/One' }, 422, /unknown time zone.*"pointer":"body\/timezone"/],
      [{ isolated_session: false }, 422, /"pointer":"body\/session"/],
      [{ prompt: ' ' }, 400, /more than blanks/],
      [{ model: 'cheap' }, 400, /provider\/model/],
      [
        { model: 'nope/cheap' },
        422,
        /model: The provider of .*nope\/cheap.* is not configured.*"pointer":"body\/model"/,
      ],
    ] as const) {
      const { status: value, body: answer } = await stack.ask('PATCH', url('main'), { body });
      assert.equal(value, status, JSON.stringify(answer));
      assert.match(JSON.stringify(answer), words);
    }
    assert.equal((await stack.ask('PATCH', url('nobody'), { body: {} })).status, 404);
  });
});
