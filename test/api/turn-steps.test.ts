/** Steps of a turn over HTTP: times, cost, attempts, approvals and work of others; comparing turns; the tree below a session. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

const RETRIED = `
rules:
  - reply: { text: After all., error: { status: 429, message: Slow down., retry_after: 10ms, times: 1 } }
`;

describe('DU-2 the steps of a turn', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      scripts: { retried: RETRIED },
      agents: [{ key: 'patient', type: 'open', model: 'rehearsal/retried' }],
    });
  });
  after(() => stack.stop());

  const get = (path: string, key?: string) => stack.ask('GET', path, key === undefined ? {} : { key });
  const steps = async (turn: string, query = '') => (await get(`/v1/turns/${turn}/steps${query}`)).body.data;
  async function run(session: string, text: string): Promise<string> {
    const { turn_id } = await stack.worker.say(session, text);
    await stack.worker.ended(turn_id);
    return turn_id;
  }

  it('have their model calls and tool calls in order, page by page', async () => {
    const turn = await run('in-order', 'peek {"note":"a"}\nnudge {"note":"b"}\nthen\nEnd.');
    const all = await steps(turn);
    assert.deepEqual(
      all.map((one: any) => [one.step, one.model, one.text, one.calls.map((call: any) => call.tool)]),
      [
        [1, 'rehearsal/follow', '', ['peek', 'nudge']],
        [2, 'rehearsal/follow', 'End.', []],
      ],
    );
    const [first, second] = all;
    assert.ok(first.started_at <= first.ended_at && first.ended_at <= second.started_at);
    assert.ok(second.started_at >= first.calls[1].ended_at);
    assert.deepEqual(
      first.calls.map(({ attempts, ok, verdict }: any) => [attempts, ok, verdict]),
      [
        [0, true, 'allow'],
        [1, true, 'allow'],
      ],
    );
    const page = (await get(`/v1/turns/${turn}/steps?limit=1`)).body;
    assert.deepEqual([page.data.length, page.has_more], [1, true]);
    assert.deepEqual((await steps(turn, `?after=${page.next_cursor}`))[0], second);
    assert.deepEqual(await steps(turn, '?after_step=1'), [second]);
  });

  it('say which files their calls have changed, as far as anybody knows', async () => {
    const turn = await run(
      'changes',
      'write_file {"path":"notes.md","content":"One."}\nwrite_file {"path":"../out","content":"No."}\nread_file {"path":"notes.md"}\nthen\nexec {"command":"touch other; cat notes.md"}\nthen\nexec {"command":"cat other"}\nthen\nexec {"command":"sleep 60","background":true}\nthen\nEnd.',
    );
    const { data: calls } = (await get(`/v1/turns/${turn}/tool-calls`)).body;
    assert.deepEqual(
      calls.map((call: any) => [call.tool, call.changed_files]),
      [
        ['write_file', ['notes.md']],
        ['write_file', []],
        ['read_file', []],
        ['exec', ['other']],
        ['exec', []],
        ['exec', null],
      ],
    );
  });

  it('say which attempt of the model answered', async () => {
    const { body } = await stack.ask('POST', '/v1/sessions/retried/messages?wait=60', {
      body: { text: 'Hello.', agent: 'patient' },
    });
    assert.equal(body.text, 'After all.');
    const [step] = await steps(body.turn_id);
    // The fast path may count the attempt that it hands over.
    assert.ok(step.attempt > 1, String(step.attempt));
  });

  it('have approvals, and what calls gave to other sessions', async () => {
    const { turn_id: turn } = await stack.worker.say(
      'parent',
      'poke {"note":"may I"}\nthen\nspawn {"action":"run","task":"Counted: 4.","label":"count"}\nthen\nDone.',
    );
    const approval = await stack.worker.approvalOf('parent');
    assert.equal((await steps(turn))[0].calls[0].approval.status, 'pending');
    await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision: 'approve' } });
    await stack.worker.ended(turn);
    const [asks, spawns] = await steps(turn);
    assert.equal(asks.calls[0].approval.id, approval);
    assert.equal(asks.calls[0].approval.status, 'approved');
    assert.match(asks.calls[0].approval.decided_by, /key/);
    const [work] = spawns.calls[0].work;
    assert.deepEqual([work.kind, work.label, work.status], ['subagent', 'count', 'completed']);
    assert.equal((await get(`/v1/turns/${work.turn_id}`)).body.session_key, work.session_key);

    const { body: tree } = await get('/v1/sessions/parent/tree');
    assert.deepEqual(
      tree.data.map(({ kind, label, depth, parent, steps: count }: any) => [
        kind,
        label,
        depth,
        parent,
        count,
      ]),
      [['subagent', 'count', 1, 'parent', 1]],
    );
    assert.ok(tree.data[0].tokens > 0);
    assert.equal(tree.truncated, false);
  });

  it('one has all that the model read, said and called', async () => {
    await run('whole', 'Before.');
    const turn = await run('whole', `peek {"note":"${'x'.repeat(500)}"}\nthen\nSeen.`);
    const { body: first } = await get(`/v1/turns/${turn}/steps/1`);
    assert.deepEqual([first.after_position, first.messages.length, first.results], [2, 1, []]);
    assert.match(first.messages[0].text, /^peek/);
    assert.equal(first.tool_calls[0].args.note.length, 500);
    const { body: second } = await get(`/v1/turns/${turn}/steps/2`);
    assert.deepEqual(second.messages, []);
    assert.deepEqual(second.results, first.tool_calls);
    assert.equal(second.text, 'Seen.');
    assert.equal(second.after_position, 4);
    const missing = await get(`/v1/turns/${turn}/steps/3`);
    assert.equal(missing.status, 404);
    assert.match(missing.body.detail, /no step 3/);
    assert.equal((await get(`/v1/turns/${turn}/steps/0`)).status, 400);
  });

  it('of two turns are compared up to the first that differs', async () => {
    const script = (note: string, end: string) =>
      `peek {"note":"same"}\nthen\npeek {"note":"${note}"}\nthen\n${end}`;
    const one = await run('one', script('a', 'End.'));
    const first = async (other: string) => (await get(`/v1/turns/${one}/compare/${other}`)).body.first;
    assert.equal(await first(await run('same', script('a', 'End.'))), null);
    assert.deepEqual(await first(await run('two', script('b', 'End.'))), {
      step: 2,
      differs: ['arguments', 'results'],
    });
    assert.deepEqual(await first(await run('three', script('a', 'Fin.'))), { step: 3, differs: ['text'] });
    assert.deepEqual(
      await first(await run('four', 'peek {"note":"same"}\nthen\nnudge {"note":"a"}\nthen\nEnd.')),
      {
        step: 2,
        differs: ['tools', 'results'],
      },
    );
    assert.deepEqual(await first(await run('five', `${script('a', 'peek {"note":"c"}')}\nthen\nEnd.`)), {
      step: 3,
      differs: ['text', 'tools', 'arguments', 'results'],
    });
  });

  it('are not shown to other tenants and users', async () => {
    const turn = await run('mine', 'Hello.');
    const other = await stack.makeTenant();
    const ann = await stack.makeKey(['read'], { user: 'ann' });
    for (const key of [other.key, ann])
      for (const path of [
        `turns/${turn}/steps`,
        `turns/${turn}/steps/1`,
        `turns/${turn}/compare/${turn}`,
        'sessions/mine/tree',
      ])
        assert.equal((await get(`/v1/${path}`, key)).status, 404, path);
    const { body } = await stack.ask('POST', '/v1/sessions/hers/messages?wait=60', {
      body: { text: 'Hello.', user: 'ann' },
    });
    assert.equal((await get(`/v1/turns/${body.turn_id}/steps`, ann)).body.data.length, 1);
    assert.equal((await get(`/v1/turns/${body.turn_id}/compare/${turn}`, ann)).status, 404);
  });
});
