/** Runs of AG-UI 1.0, by the protocol's own client, which checks each event and their order. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HttpAgent, type RunAgentParameters, type RunAgentResult } from '@ag-ui/client';
import { type AGUIEvent, EventType, type Interrupt, type Message } from '@ag-ui/core';
import { EventSchema } from '@ag-ui/core/schemas';
import { type Stack, startStack } from '#test/support/stack.ts';

const WEATHER = {
  name: 'get_weather',
  description: 'Weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe('IN-11 runs of AG-UI', { concurrency: 6 }, () => {
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

  /** A thread of a front end, and the events that it received. */
  function open(threadId: string, { key = stack.key, agent = 'main' } = {}) {
    const events: AGUIEvent[] = [];
    const client = new HttpAgent({
      url: `${stack.url}/v1/ag-ui/${agent}`,
      threadId,
      headers: { authorization: `Bearer ${key}` },
    });
    client.subscribe({
      onEvent: ({ event }) => {
        events.push(EventSchema.parse(event) as AGUIEvent);
      },
    });
    let messages = 0;
    const run = async (parameters: RunAgentParameters = {}): Promise<RunAgentResult> => {
      events.length = 0;
      return client.runAgent(parameters);
    };
    return {
      client,
      events,
      run,
      say(content: string, parameters: RunAgentParameters = {}) {
        messages += 1;
        client.addMessage({ id: `u${messages}`, role: 'user', content });
        return run(parameters);
      },
      outcome() {
        const last = events.at(-1);
        assert.equal(last?.type, EventType.RUN_FINISHED);
        return (last as Extract<AGUIEvent, { outcome?: unknown }>).outcome;
      },
    };
  }

  const textOf = ({ newMessages }: RunAgentResult): string =>
    newMessages
      .flatMap((one: Message) => (one.role === 'assistant' && one.content ? [one.content] : []))
      .join('|');

  /** For what is refused: the client would print it. */
  const post = (body: object, key = stack.key) =>
    fetch(`${stack.url}/v1/ag-ui/main`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ threadId: 'raw', runId: 'r', messages: [], ...body }),
    });
  const user = (content: string) => ({ messages: [{ id: 'u', role: 'user', content }] });

  const turnsOf = async (thread: string): Promise<{ id: string; status: string }[]> =>
    (await stack.ask('GET', `/v1/sessions/${thread}/turns`)).body.data;

  function interruptsOf(thread: ReturnType<typeof open>): Interrupt[] {
    const outcome = thread.outcome();
    assert.equal(outcome?.type, 'interrupt');
    return outcome.interrupts;
  }

  it('are turns of a thread, which is a session', async () => {
    const thread = open('talk');
    assert.equal(textOf(await thread.say('Walrus one.')), 'Walrus one.');
    const { usage, ...finished } = thread.events.at(-1) as unknown as Record<string, any>;
    assert.deepEqual(finished['outcome'], { type: 'success' });
    assert.ok(usage[0].inputTokens > 0 && usage[0].totalTokens > usage[0].inputTokens);
    assert.equal(textOf(await thread.say('Walrus two.')), 'Walrus two.');
    assert.equal((await turnsOf('talk')).length, 2);
  });

  it('stream an answer in pieces of one message', async () => {
    const thread = open('slow', { agent: 'slow' });
    const words = 'Piece after piece. '.repeat(6).trim();
    assert.equal(textOf(await thread.say(`${words} ms=30`)), `${words} ms=30`);
    const types = thread.events.map(({ type }) => type);
    assert.ok(types.filter((type) => type === EventType.TEXT_MESSAGE_CONTENT).length > 1);
    assert.equal(types.filter((type) => type === EventType.TEXT_MESSAGE_START).length, 1);
  });

  it('show calls of the agent’s tools with arguments and results', async () => {
    const thread = open('tools');
    const { newMessages } = await thread.say('peek {"note":"one"}\npeek {"note":"two"}\nthen\nDone.');
    const [asked, first, second, answer] = newMessages as any[];
    // Calls of one step begin in any order.
    assert.deepEqual(asked.toolCalls.map((call: any) => call.function.arguments).toSorted(), [
      '{"note":"one"}',
      '{"note":"two"}',
    ]);
    assert.deepEqual(
      new Set([first.toolCallId, second.toolCallId]),
      new Set(asked.toolCalls.map(({ id }: { id: string }) => id)),
    );
    assert.equal(answer.content, 'Done.');
  });

  it('are interrupted by approvals, and resumed with the decision', async () => {
    const thread = open('approve');
    await thread.say('poke {"note":"ag-ui"}\nthen\nPoked.');
    const [interrupt] = interruptsOf(thread);
    assert.ok(interrupt);
    assert.equal(interrupt.reason, 'tool_call');
    assert.match(String(interrupt.message), /ag-ui/);
    assert.ok(Date.parse(String(interrupt.expiresAt)) > Date.now());
    const call = thread.client.messages.flatMap((one) =>
      one.role === 'assistant' ? (one.toolCalls ?? []) : [],
    )[0];
    assert.equal(call?.id, interrupt.toolCallId);
    const resume = [{ interruptId: interrupt.id, status: 'resolved' as const, payload: { approved: true } }];
    const weak = await stack.makeKey(['run', 'read']);
    assert.equal((await post({ threadId: 'approve', resume }, weak)).status, 403);
    assert.equal((await post({ threadId: 'approve-2', resume })).status, 404);
    const tools = [{ name: 'exec', description: '' }];
    assert.equal((await post({ threadId: 'approve', resume, tools, ...user('And?') })).status, 422);
    const twice = [...resume, { interruptId: interrupt.id, status: 'cancelled' as const }];
    assert.equal((await post({ threadId: 'approve', resume: twice })).status, 400);
    const { body } = await stack.ask('GET', `/v1/approvals/${interrupt.id}`);
    assert.equal(body.status, 'pending');
    const done = await thread.run({ resume });
    assert.equal(textOf(done), 'Poked.');
    assert.deepEqual(
      thread.events.flatMap((event) => (event.type === EventType.TOOL_CALL_RESULT ? [event.toolCallId] : [])),
      [interrupt.toolCallId],
    );
    assert.ok(!thread.events.some(({ type }) => type === EventType.TOOL_CALL_START));
    assert.equal(stack.worker.probes.effects.filter(({ note }) => note === 'ag-ui').length, 1);
    assert.equal((await turnsOf('approve')).length, 1);
  });

  it('run a call with edited arguments, and not one that is refused or cancelled', async () => {
    const answer = async (name: string, entry: object) => {
      const thread = open(name);
      await thread.say(`poke {"note":"${name}"}\nthen\nOver.`);
      const [interrupt] = interruptsOf(thread);
      const result = await thread.run({ resume: [{ interruptId: interrupt?.id, ...entry } as never] });
      assert.equal(textOf(result), 'Over.');
      return result.newMessages.flatMap((one) => (one.role === 'tool' ? [String(one.content)] : []));
    };
    const edited = { approved: true, editedArgs: { note: 'edited-note' } };
    await answer('edit', { status: 'resolved', payload: edited });
    const refused = await answer('refuse', {
      status: 'resolved',
      payload: { approved: false, reason: 'Not today' },
    });
    assert.match(String(refused), /ApprovalDenied/);
    await answer('abandon', { status: 'cancelled' });
    const notes = stack.worker.probes.effects.map(({ note }) => note);
    assert.deepEqual(
      ['edited-note', 'edit', 'refuse', 'abandon'].map((note) => notes.includes(note)),
      [true, false, false, false],
    );
  });

  it('show what was decided elsewhere, and take no message before', async () => {
    const thread = open('elsewhere');
    await thread.say('poke {"note":"elsewhere"}\nthen\nPoked there.');
    const [interrupt] = interruptsOf(thread);
    assert.ok(interrupt);
    assert.equal((await post({ threadId: 'elsewhere', ...user('And now?') })).status, 409);
    const decided = await stack.ask('POST', `/v1/approvals/${interrupt.id}/decision`, {
      body: { decision: 'approve' },
    });
    assert.equal(decided.status, 200);
    const resume = [{ interruptId: interrupt.id, status: 'cancelled' as const }];
    assert.equal(textOf(await thread.run({ resume })), 'Poked there.');
  });

  it('are interrupted by approvals of work that the agent gave away', async () => {
    const thread = open('below');
    const task = JSON.stringify({ task: 'poke {"note":"below"}', mode: 'sync', label: 'below' });
    await thread.say(`spawn ${task}`);
    const [interrupt] = interruptsOf(thread);
    assert.deepEqual([interrupt?.reason, interrupt?.toolCallId], ['confirmation', undefined]);
    await thread.run({
      resume: [{ interruptId: String(interrupt?.id), status: 'resolved', payload: { approved: true } }],
    });
    assert.equal(stack.worker.probes.effects.filter(({ note }) => note === 'below').length, 1);
  });

  it('pass tools of the front end on, and go on with their results', async () => {
    const thread = open('client');
    await thread.say('get_weather {"city":"Oslo"}\nget_weather {"city":"Bergen"}', { tools: [WEATHER] });
    const outcome = thread.outcome();
    assert.equal(outcome?.type, 'success');
    const { pendingToolCallIds: pending = [] } = outcome as { pendingToolCallIds?: string[] };
    const [asked] = thread.client.messages.slice(-1) as any[];
    assert.deepEqual(
      asked.toolCalls.map((call: any) => [call.id, call.function.name, call.function.arguments]),
      pending.map((id, at) => [id, 'get_weather', `{"city":"${['Oslo', 'Bergen'][at]}"}`]),
    );
    for (const [at, toolCallId] of pending.entries())
      thread.client.addMessage({ id: `r${at}`, role: 'tool', toolCallId, content: `{"degrees":${12 + at}}` });
    const answer = textOf(await thread.run({ tools: [WEATHER] }));
    assert.match(answer, /"degrees":12/);
    assert.match(answer, /"degrees":13/);
    assert.equal((await turnsOf('client')).length, 1);
  });

  it('give the agent what the application shows, and what a new session lacks', async () => {
    const thread = open('facts');
    thread.client.setMessages([
      { id: 's', role: 'system', content: 'Be brief.' },
      { id: 'a', role: 'user', content: 'Earlier question.' },
      { id: 'b', role: 'assistant', content: 'Earlier answer.' },
    ]);
    thread.client.setState({ cart: ['pear'] });
    const context = [{ description: 'page', value: 'checkout' }];
    const answer = textOf(await thread.say('What now?', { context }));
    for (const part of [
      'Be brief.',
      'assistant: Earlier answer.',
      'What now?',
      'page: checkout',
      '{"cart":["pear"]}',
    ])
      assert.ok(answer.includes(part), `${part}: ${answer}`);
    assert.ok(!textOf(await thread.say('And then?')).includes('Earlier'));
  });

  it('are found again by their ids, without what the client has', async () => {
    const thread = open('again');
    const first = await thread.say('peek {"note":"again"}\nthen\nOnly once.', { runId: 'run-again' });
    assert.equal(textOf(first), 'Only once.');
    const messages = structuredClone(thread.client.messages);
    await thread.run({ runId: 'run-again' });
    assert.deepEqual(thread.client.messages, messages);
    const page = open('again');
    assert.equal(textOf(await page.say('peek {"note":"again"}', { runId: 'run-again' })), 'Only once.');
    assert.equal((await turnsOf('again')).length, 1);
  });

  it('give a client that was cut off the rest of the same answer', async () => {
    const thread = open('cut', { agent: 'slow' });
    const words = 'One piece after the other. '.repeat(8).trim();
    const first = thread.say(`${words} ms=40`, { runId: 'run-cut' }).catch(() => undefined);
    await stack.worker.until('a piece', async () =>
      thread.events.some(({ type }) => type === EventType.TEXT_MESSAGE_CONTENT) ? true : undefined,
    );
    thread.client.abortRun();
    await first;
    const part = thread.client.messages.at(-1);
    assert.ok(part?.role === 'assistant' && words.startsWith(String(part.content)));
    await thread.run({ runId: 'run-cut' });
    assert.deepEqual(
      thread.client.messages.map(({ role, content }) => [role, content]),
      [
        ['user', `${words} ms=40`],
        ['assistant', `${words} ms=40`],
      ],
    );
    assert.equal((await turnsOf('cut')).length, 1);
  });

  it('show a page that was loaded anew what its thread waits for', async () => {
    await open('reload').say('poke {"note":"reload"}\nthen\nReloaded.');
    const page = open('reload');
    await page.run();
    const [interrupt] = interruptsOf(page);
    const payload = { approved: true };
    const resume = [{ interruptId: String(interrupt?.id), status: 'resolved' as const, payload }];
    assert.equal(textOf(await page.run({ resume })), 'Reloaded.');
  });

  it('end as cancelled when the turn is stopped, and as an error when it fails', async () => {
    const thread = open('stop');
    const running = thread.say('wait {"timeMs":60000}');
    await stack.worker.until('the call to start', async () =>
      thread.events.some(({ type }) => type === EventType.TOOL_CALL_END) ? true : undefined,
    );
    assert.equal((await stack.ask('POST', '/v1/sessions/stop/stop', { body: {} })).status, 202);
    await running;
    assert.deepEqual(thread.outcome(), { type: 'cancelled' });
    const failing = open('fail', { agent: 'flaky' });
    await failing.say('bad key').catch(() => undefined);
    const last = failing.events.at(-1) as unknown as Record<string, unknown>;
    assert.equal(last['type'], 'RUN_ERROR');
    assert.equal(typeof last['code'], 'string');
  });

  it('are of one user only', async () => {
    const [ann, bob] = [
      await stack.makeKey(['read', 'run'], { user: 'ann' }),
      await stack.makeKey(['read', 'run'], { user: 'bob' }),
    ];
    const mine = open('mine', { key: ann });
    await mine.say('poke {"note":"mine"}', { runId: 'of-ann' });
    const [interrupt] = interruptsOf(mine);
    const resume = [{ interruptId: interrupt?.id, status: 'cancelled' }];
    const { key: foreign } = await stack.makeTenant();
    const reader = await stack.makeKey(['read'], { user: 'ann' });
    const statusOf = async (key: string, body: object): Promise<number> =>
      (await post({ threadId: 'mine', ...body }, key)).status;
    assert.deepEqual(
      [
        await statusOf(bob, { ...user('Mine?'), runId: 'of-ann' }),
        await statusOf(bob, { runId: 'next' }),
        await statusOf(bob, { resume }),
        await statusOf(foreign, { resume }),
        await statusOf('tc_none', user('Mine?')),
        await statusOf(reader, user('Mine?')),
      ],
      [404, 400, 404, 404, 401, 403],
    );
  });

  it('say only what the protocol knows, and refuse what cannot be passed on', async () => {
    const lines = (await (await post({ ...user('Hello.'), state: { a: 1 } })).text()).split('\n\n');
    assert.deepEqual(JSON.parse(String(lines[0]?.slice(6))), {
      type: 'RUN_STARTED',
      threadId: 'raw',
      runId: 'r',
      protocolVersion: '1.0',
    });
    const image = { type: 'image', source: { type: 'url', value: 'https://x.invalid/a.png' } };
    for (const [change, words] of [
      [{ messages: [{ id: 'u', role: 'user', content: [image] }] }, /other addresses are not fetched/],
      [{ threadId: '../raw' }, /threadId/],
      [{ threadId: 'empty', messages: [] }, /nothing is new/],
      [{ state: { all: 'x'.repeat(100_000) } }, /context and state have 100052 characters/],
      [{ tools: [{ name: 'exec', description: '' }] }, /names/],
      [{ resume: [{ interruptId: 'apr_none', status: 'resolved', payload: 'yes' }] }, /needs approved/],
      [{ resume: [{ interruptId: 'apr_none', status: 'cancelled' }] }, /no such call/],
    ] as const) {
      const answer = await post({ ...user('Hello.'), runId: 'r2', ...change });
      const error = (await answer.json()) as { type: string; message: string };
      assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status}`);
      assert.equal(error.type, 'RUN_ERROR');
      assert.match(error.message, words);
    }
  });
});
