/** MO-1, IN-11: what a model thinks, in the session's events and by the official clients of protocols. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HttpAgent } from '@ag-ui/client';
import type { AGUIEvent, Message } from '@ag-ui/core';
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import { createSessionUpdates } from '#features/acp/session-updates.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const THINKER = `
rules:
  - when: { last_tool: peek }
    reply: { thinking: 'It is seen.', text: Seen. }
  - reply: { thinking: 'Let me look.', text: 'I look.', calls: [{ tool: peek, args: { note: thought } }] }
`;

describe('IN-11 thoughts in protocols', { timeout: 100_000 }, () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      scripts: { thinker: THINKER },
      agents: [
        { key: 'open', model: 'rehearsal/thinker', show_thinking: true },
        { key: 'closed', model: 'rehearsal/thinker' },
      ],
    });
  });
  after(() => stack?.stop());

  const headers = () => ({ authorization: `Bearer ${stack.key}` });

  async function eventsOf(agent: string): Promise<readonly { type: string; data: { text?: string } }[]> {
    const session = `events-of-${agent}`;
    const { body } = await stack.ask('POST', `/v1/sessions/${session}/messages`, {
      body: { agent, text: 'Look.' },
    });
    await stack.worker.ended(body.turn_id);
    const { rows } = await stack.pool.query(
      'select type, data from events where tenant_id = $1 and session_key = $2 order by id',
      [stack.worker.tenant, session],
    );
    return rows;
  }

  it('are events of agents that show them, before what they lead to, and of no others', async () => {
    const hook = { url: 'https://hook.example/all', events: ['*'] };
    assert.equal((await stack.ask('POST', '/v1/webhooks', { body: hook })).status, 201);
    const shown = (await eventsOf('open')).flatMap(({ type, data }) =>
      type === 'message.thinking' || type === 'message.completed' ? [data.text] : [],
    );
    assert.deepEqual(shown, ['Let me look.', 'I look.', 'It is seen.', 'Seen.']);
    assert.ok(!(await eventsOf('closed')).some(({ type }) => type === 'message.thinking'));
    const { rows } = await stack.pool.query(
      'select distinct event from webhook_deliveries where tenant_id = $1',
      [stack.worker.tenant],
    );
    const delivered = rows.map(({ event }) => event);
    assert.ok(delivered.includes('message.completed') && !delivered.includes('message.thinking'));
    const pieces = { ...hook, events: ['message.thinking'] };
    assert.equal((await stack.ask('POST', '/v1/webhooks', { body: pieces })).status, 400);
    const messages = await stack.ask('GET', '/v1/sessions/events-of-open/messages');
    assert.doesNotMatch(JSON.stringify(messages.body), /Let me look/);
  });

  it('are messages of reasoning in AG-UI, which the client sends back without a second copy', async () => {
    const client = new HttpAgent({
      url: `${stack.url}/v1/ag-ui/open`,
      threadId: 'ag-thoughts',
      headers: headers(),
    });
    const events: AGUIEvent[] = [];
    client.subscribe({ onEvent: ({ event }) => void events.push(event as AGUIEvent) });
    client.addMessage({ id: 'u1', role: 'user', content: 'Look.' });
    const { newMessages } = await client.runAgent({});
    const read = (messages: readonly Message[]) =>
      messages.flatMap((one) => (one.role === 'tool' || !one.content ? [] : [[one.role, one.content]]));
    assert.deepEqual(read(newMessages), [
      ['reasoning', 'Let me look.'],
      ['assistant', 'I look.'],
      ['reasoning', 'It is seen.'],
      ['assistant', 'Seen.'],
    ]);
    const kinds = events.map(({ type }): string => type).filter((type) => type.startsWith('REASONING'));
    const one = ['START', 'MESSAGE_START', 'MESSAGE_CONTENT', 'MESSAGE_END', 'END'];
    assert.deepEqual(
      kinds,
      [...one, ...one].map((kind) => `REASONING_${kind}`),
    );
    // A page that was loaded anew follows the same turn.
    events.length = 0;
    client.messages = client.messages.slice(0, 2);
    await client.runAgent({});
    assert.deepEqual(read(client.messages), [['user', 'Look.'], ...read(newMessages)]);
    client.addMessage({ id: 'u2', role: 'user', content: 'Again.' });
    await client.runAgent({});
    const { rows } = await stack.pool.query(
      `select text from messages where tenant_id = $1 and session_key = 'ag-thoughts' and role = 'user'`,
      [stack.worker.tenant],
    );
    assert.deepEqual(rows.map(({ text }) => text).toSorted(), ['Again.', 'Look.']);
  });

  it('are parts of a message of the AI SDK', async () => {
    const transport = new DefaultChatTransport<UIMessage>({
      api: `${stack.url}/v1/ui/open`,
      headers: headers(),
    });
    const stream = await transport.sendMessages({
      chatId: 'ui-thoughts',
      messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Look.' }] }],
      trigger: 'submit-message',
      messageId: undefined,
      abortSignal: undefined,
    });
    let last: UIMessage | undefined;
    for await (const message of readUIMessageStream({ stream })) last = message;
    assert.deepEqual(
      last?.parts.flatMap((part) =>
        part.type === 'reasoning' || part.type === 'text' ? [[part.type, part.text, part.state]] : [],
      ),
      [
        ['reasoning', 'Let me look.', 'done'],
        ['text', 'I look.', 'done'],
        ['reasoning', 'It is seen.', 'done'],
        ['text', 'Seen.', 'done'],
      ],
    );
  });

  it('are thoughts for editors that speak ACP', () => {
    const take = createSessionUpdates(new Map());
    const event = { type: 'message.thinking', turn_id: 't', data: { text: 'Hm.', step: 1, attempt: 1 } };
    assert.deepEqual(take(event as never), [
      { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Hm.' } },
    ]);
  });
});
