import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

async function start(t: TestContext): Promise<Stack> {
  const stack = await startStack();
  t.after(() => stack.stop());
  return stack;
}

async function add({ ask }: Stack, settings: object): Promise<void> {
  const made = await ask('POST', '/v1/channels', { body: { key: 'calls', type: 'webhook', settings } });
  assert.equal(made.status, 201, JSON.stringify(made.body));
}

/** Sends the bytes as a system does; returns the status. */
async function post(all: Stack, body: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const url = `${all.url}/v1/channels/calls/inbound?tenant=${all.tenant}`;
  return (await fetch(url, { method: 'POST', body, headers })).status;
}

async function messages({
  pool,
}: Stack): Promise<readonly { session_key: string; text: string; context: any }[]> {
  const { rows } = await pool.query(
    `select session_key, text, context from messages where role = 'user' order by created_at`,
  );
  return rows;
}

describe('IN-4 signed calls', () => {
  const secret = 'of-the-calls-0123456789';
  const call = (all: Stack, body: object) => {
    const text = JSON.stringify(body);
    const signature = createHmac('sha256', secret).update(text).digest('hex');
    return post(all, text, {
      'content-type': 'application/json',
      'x-hub-signature-256': `sha256=${signature}`,
      'x-github-event': 'issues',
    });
  };

  it('are a message once, with what they say marked, and nothing without their signature', async (t) => {
    const all = await start(t);
    const settings = { secret, signature: 'github', user: 'ann' };
    const template = 'say issue {{number}}\n{{title}}';
    await add(all, { ...settings, template, session: 'issue-{{number}}' });
    const issue = { number: 7, title: 'say no' };
    for (const action of ['opened', 'opened', 'closed'])
      assert.equal(await call(all, { ...issue, action }), 200);
    const body = JSON.stringify(issue);
    assert.equal(await post(all, body, { 'x-hub-signature-256': 'sha256=00' }), 401);
    const received = await messages(all);
    assert.deepEqual(
      received.map(({ session_key, context }) => [session_key, context.user]),
      [
        ['calls:issue-7', 'ann'],
        ['calls:issue-7', 'ann'],
      ],
    );
    assert.match(
      received[0]?.text ?? '',
      /^say issue 7\n<<<EXTERNAL_UNTRUSTED_CONTENT id=\w{32} source=calls>>>\n/,
    );
    const [turn] = await all.worker.turns('calls:issue-7');
    assert.equal((await all.worker.ended(turn?.id ?? '')).status, 'completed');
  });

  it('are refused without what tells a repeat, and channels without what they need', async (t) => {
    const all = await start(t);
    await add(all, { secret, signature: 'stripe' });
    const wrong = async (settings: object) =>
      (await all.ask('POST', '/v1/channels', { body: { key: 'x', type: 'webhook', settings } })).body.detail;
    assert.match(await wrong({ secret }), /settings\/secret: must be whsec_ .* name another signature/);
    assert.match(await wrong({ secret, signature: 'hmac' }), /idempotency: is needed/);
    assert.match(await wrong({ secret, signature: 'github', action: 'task' }), /team: is needed/);
    assert.match(await wrong({ secret, signature: 'github', action: 'schedule' }), /schedule: is needed/);
    assert.match(
      await wrong({ secret, signature: 'github', people: 'open' }),
      /settings\/people: is no setting/,
    );
    assert.match(
      await wrong({ secret: secret.slice(0, 15), signature: 'github' }),
      /settings\/secret: must have at least 16 characters/,
    );
    assert.deepEqual(await messages(all), []);
  });

  it('are refused for channels whose team, member or schedule does not exist', async (t) => {
    const all = await start(t);
    for (const key of ['boss', 'worker'])
      await all.ask('POST', '/v1/agents', { body: { key, model: 'rehearsal/follow' } });
    await all.ask('POST', '/v1/teams', { body: { key: 'crew', lead: 'boss', members: ['worker'] } });
    const other = await all.makeTenant();
    await all.ask('POST', '/v1/agents', { body: { key: 'main', model: 'rehearsal/follow' }, key: other.key });
    const job = {
      name: 'x',
      agent: 'main',
      message: 'say x',
      schedule: { kind: 'every', every_seconds: 3_600 },
    };
    const theirs = await all.ask('POST', '/v1/schedules', { body: job, key: other.key });
    assert.equal(theirs.status, 201, JSON.stringify(theirs.body));
    const hook = { secret, signature: 'github' };
    await add(all, hook);
    for (const [settings, problem] of [
      [{ action: 'task', team: 'nobody' }, /settings\/team: there is no team nobody/],
      [{ action: 'task', team: 'crew', assignee: 'boss' }, /settings\/assignee: team lead cannot assign/],
      [
        { action: 'task', team: 'crew', assignee: 'main' },
        /settings\/assignee: agent "main" is not a member/,
      ],
      [{ action: 'schedule', schedule: theirs.body.id }, /settings\/schedule: there is no schedule/],
    ] as const) {
      const body = { key: 'more', type: 'webhook', settings: { ...hook, ...settings } };
      const made = await all.ask('POST', '/v1/channels', { body });
      assert.deepEqual([made.status, problem.test(made.body.detail)], [422, true], made.body.detail);
      const changed = await all.ask('PATCH', '/v1/channels/calls', { body: { settings } });
      assert.deepEqual([changed.status, changed.body.detail], [422, made.body.detail]);
    }
    const task = { action: 'task', team: 'crew' };
    assert.equal((await all.ask('PATCH', '/v1/channels/calls', { body: { settings: task } })).status, 200);
    assert.equal((await all.ask('DELETE', '/v1/teams/crew')).status, 204);
    const off = await all.ask('PATCH', '/v1/channels/calls', { body: { enabled: false } });
    assert.deepEqual([off.status, off.body.enabled], [200, false], JSON.stringify(off.body));
  });

  it('are a task of a team, or a run of a schedule, once each', async (t) => {
    const all = await start(t);
    for (const key of ['boss', 'worker'])
      assert.equal(
        (await all.ask('POST', '/v1/agents', { body: { key, model: 'rehearsal/follow' } })).status,
        201,
      );
    await all.ask('POST', '/v1/teams', { body: { key: 'crew', lead: 'boss', members: ['worker'] } });
    const task = {
      secret,
      signature: 'github',
      action: 'task',
      team: 'crew',
      subject: 'Issue {{number}}',
      assignee: 'worker',
      allowed_tools: ['read_file'],
      template: 'Number {{number}}',
    };
    await add(all, task);
    for (const number of [7, 7, 8]) assert.equal(await call(all, { number }), 200);
    const { body: tasks } = await all.ask('GET', '/v1/teams/crew/tasks');
    assert.deepEqual(tasks.data.map(({ subject, description }: any) => [subject, description]).toSorted(), [
      ['Issue 7', 'Number 7'],
      ['Issue 8', 'Number 8'],
    ]);

    const made = await all.ask('POST', '/v1/schedules', {
      body: {
        name: 'Nightly',
        agent: 'worker',
        message: 'say done',
        schedule: { kind: 'cron', expr: '0 3 1 1 *' },
      },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const worked = await all.worker.until('its work', async () =>
      (await messages(all)).find(({ context }) => context.channel === 'teammate'),
    );
    assert.deepEqual([worked.context.user, worked.context.group], ['calls:call', ['read_file']]);
    const settings = { action: 'schedule', schedule: made.body.id };
    const change = (input: object) => all.ask('PATCH', '/v1/channels/calls', { body: { settings: input } });
    assert.match((await change(settings)).body.detail, /settings\/allowed_tools: means nothing/);
    assert.equal((await change({ ...settings, allowed_tools: null })).status, 200);
    for (const number of [9, 9]) assert.equal(await call(all, { number }), 200);
    await all.worker.until('its run', async () => {
      const { body: runs } = await all.ask('GET', `/v1/schedules/${made.body.id}/runs`);
      return runs.data.length > 0 ? runs.data : undefined;
    });
    assert.equal((await all.ask('GET', `/v1/schedules/${made.body.id}/runs`)).body.data.length, 1);
    await all.ask('DELETE', `/v1/schedules/${made.body.id}`);
    assert.equal(await call(all, { number: 10 }), 404);
  });
});
