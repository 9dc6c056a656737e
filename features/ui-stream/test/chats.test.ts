/** Chats of front ends, spoken by the AI SDK's own transport and reader. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { type Stack, startStack } from '#test/support/stack.ts';

const WEATHER = {
  name: 'get_weather',
  description: 'Weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

type Part = UIMessage['parts'][number] & Record<string, any>;

describe('IN-11 chats of front ends', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  const transportOf = (key = stack.key) =>
    new DefaultChatTransport<UIMessage>({
      api: `${stack.url}/v1/ui/main`,
      headers: { authorization: `Bearer ${key}` },
      body: { tools: [WEATHER] },
      prepareReconnectToStreamRequest: ({ id, api }) => ({ api: `${api}/${id}/stream` }),
    });
  async function send(chatId: string, messages: UIMessage[], key?: string): Promise<UIMessage> {
    const options = {
      chatId,
      messages,
      trigger: 'submit-message',
      messageId: undefined,
      abortSignal: undefined,
    } as const;
    const stream = await transportOf(key).sendMessages(options);
    const last = messages.at(-1);
    return read(stream, last?.role === 'assistant' ? last : undefined);
  }
  async function read(stream: ReadableStream<UIMessageChunk>, message?: UIMessage): Promise<UIMessage> {
    let whole: UIMessage | undefined;
    for await (const state of readUIMessageStream({
      stream,
      ...(message && { message: structuredClone(message) }),
      terminateOnError: true,
    }))
      whole = state;
    assert.ok(whole);
    return whole;
  }
  const user = (text: string): UIMessage => ({
    id: `u-${text}`,
    role: 'user',
    parts: [{ type: 'text', text }],
  });
  const textOf = ({ parts }: UIMessage): string =>
    parts
      .map((part) => (part.type === 'text' ? part.text : ''))
      .filter(Boolean)
      .join('|');
  const callsOf = ({ parts }: UIMessage): Part[] =>
    parts.filter(({ type }) => type === 'dynamic-tool') as Part[];
  /** As a front end changes the part of a call. */
  const withCall = (message: UIMessage, change: object): UIMessage => ({
    ...message,
    parts: message.parts.map((part) =>
      part.type === 'dynamic-tool' ? ({ ...part, ...change } as never) : part,
    ),
  });

  it('are sessions: an answer is a message, the next one goes on', async () => {
    const first = await send('talk', [user('Walrus one.')]);
    assert.equal(textOf(first), 'Walrus one.');
    const second = await send('talk', [user('Walrus one.'), first, user('Walrus two.')]);
    assert.equal(textOf(second), 'Walrus two.');
    const { body } = await stack.ask('GET', '/v1/sessions/ui-talk/turns');
    assert.equal(body.data.length, 2);
  });

  it('show calls of the agent’s tools with arguments and results, step by step', async () => {
    const message = await send('tools', [user('peek {"note":"seen"}\nthen\nDone.')]);
    const [call] = callsOf(message);
    assert.deepEqual(
      [call?.['toolName'], call?.['state'], call?.['input']],
      ['peek', 'output-available', { note: 'seen' }],
    );
    assert.equal(textOf(message), 'Done.');
    assert.equal(message.parts.filter(({ type }) => type === 'step-start').length, 2);
  });

  it('ask for approvals, and the same message goes on after the decision', async () => {
    const said = user('poke {"note":"ui"}\nthen\nPoked.');
    const asks = await send('approve', [said]);
    const [call] = callsOf(asks);
    assert.equal(call?.['state'], 'approval-requested');
    const approval = { ...call['approval'], approved: true };
    const answered = withCall(asks, { state: 'approval-responded', approval });
    const weak = await stack.makeKey(['run']);
    await assert.rejects(send('approve', [said, answered], weak));
    const done = await send('approve', [said, answered]);
    assert.equal(textOf(done), 'Poked.');
    assert.equal(callsOf(done)[0]?.['state'], 'output-available');
    assert.equal(stack.worker.probes.effects.filter(({ note }) => note === 'ui').length, 1);
    assert.equal(textOf(await send('approve', [said, answered])), 'Poked.');
  });

  it('pass tools of the front end on, and go on with their results', async () => {
    const said = user('get_weather {"city":"Oslo"}');
    const asks = await send('client', [said]);
    const [call] = callsOf(asks);
    assert.deepEqual(
      [call?.['toolName'], call?.['state'], call?.['input']],
      ['get_weather', 'input-available', { city: 'Oslo' }],
    );
    const answered = withCall(asks, { state: 'output-available', output: { degrees: 12 } });
    assert.match(textOf(await send('client', [said, answered])), /"degrees":12/);
  });

  it('are found again by a page that was loaded anew', async () => {
    const held = await stack.ask('POST', '/v1/sessions/ui-again/messages', {
      body: { text: 'wait {"timeMs":2000}\nthen\nStill here.' },
    });
    assert.equal(held.status, 202);
    const stream = await transportOf().reconnectToStream({ chatId: 'again' });
    assert.ok(stream);
    assert.equal(textOf(await read(stream)), 'Still here.');
    assert.equal(await transportOf().reconnectToStream({ chatId: 'again' }), null);
    assert.equal(await transportOf().reconnectToStream({ chatId: 'never' }), null);
  });

  it('are answered once when a request comes again, and anew when another answer is asked for', async () => {
    const turns = async () => (await stack.ask('GET', '/v1/sessions/ui-twice/turns')).body.data.length;
    const first = await send('twice', [user('Once.')]);
    assert.equal(textOf(await send('twice', [user('Once.')])), 'Once.');
    assert.equal(await turns(), 1);
    await send('twice', [user('Once.'), first, user('Once.')]);
    assert.equal(await turns(), 2);
    const body = { id: 'twice', messages: [user('Once.')], trigger: 'regenerate-message' };
    assert.equal((await stack.ask('POST', '/v1/ui/main', { body })).status, 200);
    assert.equal(await turns(), 3);
  });

  it('are of one user only', async () => {
    const [ann, bob] = [
      await stack.makeKey(['read', 'run'], { user: 'ann' }),
      await stack.makeKey(['read', 'run'], { user: 'bob' }),
    ];
    await send('mine', [user('Only mine.')], ann);
    await assert.rejects(send('mine', [user('And mine?')], bob), /no session/);
    assert.equal(await transportOf(bob).reconnectToStream({ chatId: 'mine' }), null);
    await send('mine', [user('poke {"note":"mine"}')], ann);
    await assert.rejects(send('mine', [user('And mine?')], bob), /no session/);
  });

  it('refuse what they cannot pass on', async () => {
    const file = { type: 'file', mediaType: 'image/png', url: 'https://x.invalid/a.png' } as const;
    await assert.rejects(
      send('bad', [{ ...user('See.'), parts: [file] }]),
      /other addresses are not fetched/,
    );
    await assert.rejects(send('../bad', [user('Hello.')]), /must be 1 to 128 letters/);
    for (const body of [
      'null',
      '[]',
      '{}',
      '{"id":"x","messages":[]}',
      '{"id":"x","messages":[{"role":"user","parts":[]}]}',
      '{"id":"x","messages":[{"role":"assistant","parts":[{"type":"t","toolCallId":"apr_x","state":"output-available"}]}]}',
    ]) {
      const { status } = await fetch(`${stack.url}/v1/ui/main`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
        body,
      });
      assert.ok(status >= 400 && status < 500, `${body}: ${status}`);
    }
  });
});
