/** Threads and runs of LangGraph's API, by its own client. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client } from '@langchain/langgraph-sdk';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('IN-11 runs of LangGraph clients', { concurrency: 6 }, () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: [
        { key: 'slow', model: 'rehearsal/stream' },
        { key: 'flaky', model: 'rehearsal/flaky' },
      ],
    });
  });
  after(() => stack.stop());

  const clientOf = (key = stack.key) =>
    new Client<any>({
      apiUrl: `${stack.url}/v1/langgraph`,
      apiKey: null,
      defaultHeaders: { authorization: `Bearer ${key}` },
      callerOptions: { maxRetries: 0 },
    });
  const user = (content: string, id?: string) => ({
    messages: [{ role: 'user', content, ...(id && { id }) }],
  });
  const last = ({ messages }: any): any => messages.at(-1);
  const interruptsOf = (values: any): any[] => values.__interrupt__ ?? [];
  const turnsOf = async (thread: string): Promise<{ id: string; status: string }[]> =>
    (await stack.ask('GET', `/v1/sessions/${thread}/turns`)).body.data;
  const statusOf = (asked: Promise<unknown>): Promise<number> =>
    asked.then(
      () => 200,
      (error: { status?: number }) => error.status ?? 0,
    );

  async function eventsOf(stream: AsyncIterable<any>): Promise<any[]> {
    const events = [];
    for await (const event of stream) events.push(event);
    return events;
  }

  it('are turns of a thread, which is a session', async () => {
    const client = clientOf();
    const { thread_id: thread, status } = await client.threads.create();
    assert.equal(status, 'idle');
    assert.equal((await client.threads.get(thread)).status, 'idle');
    assert.deepEqual(await client.threads.getHistory(thread), []);
    const one: any = await client.runs.wait(thread, 'main', { input: user('Walrus one.') });
    assert.deepEqual(
      one.messages.map(({ type, content }: any) => [type, content]),
      [
        ['human', 'Walrus one.'],
        ['ai', 'Walrus one.'],
      ],
    );
    await client.runs.wait(thread, 'main', { input: user('Walrus two.') });
    const history = await client.threads.getHistory(thread, { limit: 500 });
    assert.deepEqual(
      history.map(({ values, next }: any) => [values.messages.length, next]),
      [
        [4, []],
        [2, []],
      ],
    );
    assert.deepEqual((await client.threads.getState(thread)).values, history[0]?.values);
    assert.equal(await statusOf(client.threads.create({ threadId: thread })), 409);
    await client.threads.create({ threadId: thread, ifExists: 'do_nothing' });
    assert.ok((await client.threads.search({ limit: 100 })).some(({ thread_id }) => thread_id === thread));
    const alone: any = await client.runs.wait(null, 'main', { input: user('No thread.') });
    assert.equal(last(alone).content, 'No thread.');
  });

  it('have the agents as assistants', async () => {
    const client = clientOf();
    const keys = (await client.assistants.search()).map(({ assistant_id }) => assistant_id);
    assert.deepEqual(keys.toSorted(), ['flaky', 'main', 'slow']);
    assert.equal((await client.assistants.search({ graphId: 'slow' })).length, 1);
    assert.equal((await client.assistants.get('slow')).graph_id, 'slow');
    assert.equal(await statusOf(client.assistants.get('none')), 404);
    assert.equal(await statusOf(client.runs.wait('none', 'none', { input: user('Hello.') })), 404);
  });

  it('stream pieces, updates and values', async () => {
    const words = 'Piece after piece. '.repeat(6).trim();
    const stream = clientOf().runs.stream('stream', 'slow', {
      input: user(`${words} ms=30`),
      streamMode: ['messages-tuple', 'messages', 'updates', 'values'],
    });
    const events = await eventsOf(stream);
    assert.deepEqual([events[0].event, events.at(-1).event], ['metadata', 'values']);
    const pieces = events.flatMap(({ event, data }) => (event === 'messages' ? [data[0]] : []));
    assert.ok(pieces.length > 2);
    assert.equal(pieces.map(({ content }) => content).join(''), `${words} ms=30`);
    const answer = last(events.at(-1).data);
    assert.deepEqual(new Set(pieces.map(({ id }) => id)), new Set([answer.id]));
    assert.ok(events.some(({ event }) => event === 'messages/partial'));
    const whole = events.find(({ event }) => event === 'messages/complete')?.data[0];
    const update = events.find(({ event }) => event === 'updates')?.data.agent.messages[0];
    assert.deepEqual([whole, update], [answer, answer]);
  });

  it('show calls with their arguments and results', async () => {
    const events = await eventsOf(
      clientOf().runs.stream('calls', 'main', {
        input: user('peek {"note":"one"}\nthen\nDone.'),
        streamMode: ['updates', 'messages-tuple'],
      }),
    );
    const updates = events.flatMap(({ event, data }) => (event === 'updates' ? [data] : []));
    const [asked, result, answer] = updates.map((one) => (one.agent ?? one.tools).messages[0]);
    assert.deepEqual([asked.tool_calls[0].name, asked.tool_calls[0].args], ['peek', { note: 'one' }]);
    assert.deepEqual([result.tool_call_id, result.status], [asked.tool_calls[0].id, 'success']);
    assert.equal(answer.content, 'Done.');
    const chunks = events.flatMap(({ event, data }) =>
      event === 'messages' ? (data[0].tool_call_chunks ?? []) : [],
    );
    assert.deepEqual(
      chunks.map(({ args }) => args),
      ['{"note":"one"}'],
    );
  });

  it('are interrupted by approvals, and resumed with the decision', async () => {
    const client = clientOf();
    const input = user('poke {"note":"graph"}\nthen\nPoked.');
    const first: any = await client.runs.wait('approve', 'main', { input });
    const [interrupt] = interruptsOf(first);
    assert.deepEqual(interrupt.value.action_requests[0].args, { note: 'graph' });
    assert.deepEqual(interrupt.value.review_configs[0].allowed_decisions, ['approve', 'edit', 'reject']);
    const state: any = await client.threads.getState('approve');
    assert.deepEqual([state.next, state.tasks[0].interrupts], [['agent'], [interrupt]]);
    assert.equal((await client.threads.get('approve')).status, 'interrupted');
    assert.equal(await statusOf(client.runs.wait('approve', 'main', { input: user('And?') })), 409);
    const command = { resume: { decisions: [{ type: 'approve' }] } };
    const weak = clientOf(await stack.makeKey(['run', 'read']));
    assert.equal(await statusOf(weak.runs.wait('approve', 'main', { command })), 403);
    const elsewhere = { resume: { [interrupt.id]: { type: 'approve' } } };
    assert.equal(await statusOf(client.runs.wait('approve-2', 'main', { command: elsewhere })), 404);
    const events = await eventsOf(
      client.runs.stream('approve', 'main', { command, streamMode: ['updates', 'messages-tuple'] }),
    );
    assert.deepEqual(
      events.flatMap(({ event, data }) => (event === 'updates' ? [Object.keys(data)[0]] : [])),
      ['tools', 'agent'],
    );
    assert.equal(stack.worker.probes.effects.filter(({ note }) => note === 'graph').length, 1);
    assert.equal((await turnsOf('approve')).length, 1);
  });

  it('run a call with edited arguments, and not one that is refused', async () => {
    const client = clientOf();
    const answer = async (thread: string, decision: object, byId = false): Promise<any> => {
      const input = user(`poke {"note":"${thread}"}\nthen\nOver.`);
      const [interrupt] = interruptsOf(await client.runs.wait(thread, 'main', { input }));
      const resume = byId ? { [interrupt.id]: decision } : { decisions: [decision] };
      return client.runs.wait(thread, 'main', { command: { resume } });
    };
    await answer(
      'edit',
      { type: 'edit', edited_action: { name: 'poke', args: { note: 'edited-graph' } } },
      true,
    );
    const refused = await answer('refuse', { type: 'reject', message: 'Not today' });
    assert.match(refused.messages.at(-2).content, /ApprovalDenied/);
    const notes = stack.worker.probes.effects.map(({ note }) => note);
    assert.deepEqual(
      ['edited-graph', 'edit', 'refuse'].map((note) => notes.includes(note)),
      [true, false, false],
    );
  });

  it('show what was decided elsewhere', async () => {
    const client = clientOf();
    const input = user('poke {"note":"there"}\nthen\nPoked there.');
    const [interrupt] = interruptsOf(await client.runs.wait('elsewhere', 'main', { input }));
    await stack.ask('POST', `/v1/approvals/${interrupt.id}/decision`, { body: { decision: 'approve' } });
    const command = { resume: { decisions: [{ type: 'reject' }] } };
    const values = await client.runs.wait('elsewhere', 'main', { command });
    assert.equal(last(values).content, 'Poked there.');
  });

  it('are found again by the id of the message, and from where a stream was cut', async () => {
    const client = clientOf();
    const words = 'One piece after the other. '.repeat(8).trim();
    const input = user(`${words} ms=40`, 'm1');
    const cut = new AbortController();
    let [run, seen, text] = ['', '', ''];
    const first = client.runs.stream('cut', 'slow', {
      input,
      streamMode: 'messages-tuple',
      signal: cut.signal,
    });
    try {
      for await (const { id, event, data } of first as AsyncIterable<any>) {
        if (event === 'metadata') run = data.run_id;
        if (event !== 'messages') continue;
        text += data[0].content;
        seen = id;
        cut.abort();
      }
    } catch (error) {
      assert.ok(cut.signal.aborted, String(error));
    }
    assert.ok(text !== '' && `${words} ms=40`.startsWith(text));
    const rest = await eventsOf(
      client.runs.joinStream('cut', run, { lastEventId: seen, streamMode: 'messages-tuple' }),
    );
    for (const { event, data } of rest) if (event === 'messages') text += data[0].content;
    assert.equal(text, `${words} ms=40`);
    assert.equal(last(await client.runs.wait('cut', 'slow', { input })).content, `${words} ms=40`);
    assert.equal(last(await client.runs.join('cut', run)).content, `${words} ms=40`);
    assert.equal((await turnsOf('cut')).length, 1);
  });

  it('are looked up, and stopped when they are cancelled', async () => {
    const client = clientOf();
    const run = await client.runs.create('stop', 'main', { input: user('wait {"timeMs":60000}') });
    await stack.worker.until('the run to work', async () =>
      (await client.runs.get('stop', run.run_id)).status === 'running' ? true : undefined,
    );
    const reject = { input: user('Now?'), multitaskStrategy: 'reject' } as const;
    assert.equal(await statusOf(client.runs.wait('stop', 'main', reject)), 409);
    await client.runs.cancel('stop', run.run_id, true);
    assert.equal((await turnsOf('stop'))[0]?.status, 'stopped');
    assert.equal((await client.runs.list('stop'))[0]?.status, 'interrupted');
    assert.equal(await statusOf(client.runs.cancel('stop', run.run_id)), 409);
  });

  it('say why a turn has failed', async () => {
    const client = clientOf();
    await assert.rejects(client.runs.wait('fail', 'flaky', { input: user('bad key') }), /ModelFailed/);
    const events = await eventsOf(client.runs.stream('fail-2', 'flaky', { input: user('bad key') }));
    assert.deepEqual([events.at(-1).event, events.at(-1).data.error], ['error', 'ModelFailed']);
  });

  it('are of one user only', async () => {
    const ann = clientOf(await stack.makeKey(['read', 'run'], { user: 'ann' }));
    const bob = clientOf(await stack.makeKey(['read', 'run'], { user: 'bob' }));
    const foreign = clientOf((await stack.makeTenant()).key);
    const reader = clientOf(await stack.makeKey(['read'], { user: 'ann' }));
    const values = await ann.runs.wait('mine', 'main', { input: user('poke {"note":"mine"}') });
    const [interrupt] = interruptsOf(values);
    const [run] = await ann.runs.list('mine');
    const command = { resume: { [interrupt.id]: { type: 'reject' } } };
    for (const client of [bob, foreign]) {
      assert.equal(await statusOf(client.runs.get('mine', String(run?.run_id))), 404);
      assert.equal(await statusOf(client.runs.cancel('mine', String(run?.run_id))), 404);
      assert.equal(await statusOf(client.runs.wait('mine', 'main', { command })), 404);
      assert.deepEqual(await client.runs.list('mine'), []);
      assert.ok(!(await client.threads.search({ limit: 100 })).some(({ thread_id }) => thread_id === 'mine'));
    }
    assert.equal(await statusOf(bob.threads.getState('mine')), 404);
    assert.equal(await statusOf(bob.runs.wait('mine', 'main', { input: user('Mine?') })), 404);
    assert.deepEqual((await foreign.threads.getState('mine')).values, {});
    assert.equal(await statusOf(reader.runs.wait('mine', 'main', { input: user('Mine?') })), 403);
    const writer = clientOf(await stack.makeKey(['run'], { user: 'ann' }));
    assert.equal(await statusOf(writer.runs.wait('mine', 'main', { input: user('Mine?') })), 403);
    assert.equal(await statusOf(clientOf('tc_none').threads.getState('mine')), 401);
  });

  it('refuse what cannot be passed on', async () => {
    const post = (body: object): Promise<any> =>
      stack.ask('POST', '/v1/langgraph/threads/raw/runs/wait', { body: { assistant_id: 'main', ...body } });
    const image = { type: 'image_url', image_url: 'https://x.invalid/a.png' };
    for (const [body, words] of [
      [{ input: { messages: [{ role: 'user', content: [image] }] } }, /other addresses are not fetched/],
      [{ input: { messages: [{ role: 'system', content: 'Be kind.' }] } }, /only messages of the user/],
      [{ input: { messages: [] } }, /Nothing is new/],
      [{ input: user('Hello.'), stream_mode: 'debug' }, /stream_mode/],
      [{ input: user('Hello.'), multitask_strategy: 'rollback' }, /not taken back/],
      [{ command: { goto: 'end' } }, /only resume/],
      [{ command: { resume: true } }, /no thread that waits/],
    ] as const) {
      const { status, body: problem } = await post(body);
      assert.ok(status >= 400 && status < 500, `${status}`);
      assert.match(problem.detail, words);
    }
  });
});
