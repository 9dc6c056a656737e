/** DE-5: a conversation that continues with another agent. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

const handing = (args: Record<string, unknown>): string =>
  `handoff ${JSON.stringify(args)}\nthen\nHanded on.`;

describe('DE-5 handoff', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      settings: 'budgets: [{ scope: turn, calls: 1000 }, { scope: session, calls: 1000 }]',
      agents: [
        { key: 'billing', model: 'rehearsal/echo' },
        { key: 'returner', model: 'rehearsal/returner' },
        { key: 'gone', model: 'rehearsal/echo' },
      ],
      scripts: {
        returner: `
description: Hands every conversation back at once.
rules:
  - when: { step: 0 }
    reply: { calls: [{ tool: handoff, args: { agent: main, reason: 'not mine' } }] }
  - reply: { text: '{{result}}' }
`,
      },
    });
    for (const target of ['billing', 'returner', 'gone'])
      await stack.ask('POST', '/v1/agent-links', {
        body: { source: 'main', target, direction: 'bidirectional' },
      });
  });
  after(() => stack.stop());

  const say = (session: string, text: string, chat: string) =>
    stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
      body: { text, channel: 'web', chat_id: chat },
    });

  it('tells the agent who hands over and why, and the next message goes there until the route is cleared', async () => {
    const first = await say('h', handing({ agent: 'billing', reason: 'an invoice' }), 'c1');
    assert.equal(first.body.text, 'Handed on.');
    const { body: routes } = await stack.ask('GET', '/v1/handoffs');
    const [route] = routes.data;
    assert.deepEqual([route.from, route.to, route.chat_id], ['main', 'billing', 'c1']);
    const received = await stack.worker.until(
      'the handoff',
      async () => (await stack.worker.heard(route.session_key))[0],
    );
    assert.match(received.text, /^\[Handoff from main\]\nReason: an invoice\n\nConversation so far:\nuser: /);
    assert.ok((await stack.worker.events('h')).some(({ type }) => type === 'handoff'));

    const next = await say('h', 'Where is my invoice?', 'c1');
    assert.equal(next.body.session_key, route.session_key);
    assert.equal((await say('other', 'Hello.', 'c2')).body.session_key, 'other');

    const path = '/v1/handoffs?channel=web&chat_id=c1';
    assert.equal((await stack.ask('DELETE', path)).status, 204);
    assert.equal((await say('h', 'Back again.', 'c1')).body.session_key, 'h');
    assert.equal((await stack.ask('DELETE', path)).status, 404);
  });

  it('a chat that was handed on is not handed back before the user has spoken', async () => {
    await say('l', handing({ agent: 'returner', reason: 'yours' }), 'c3');
    const { body: routes } = await stack.ask('GET', '/v1/handoffs');
    const route = routes.data.find((one: { chat_id: string }) => one.chat_id === 'c3');
    assert.equal(route.to, 'returner');
    const turn = await stack.worker.until('its answer', async () =>
      (await stack.worker.turns(route.session_key)).find(({ ended_at }) => ended_at !== null),
    );
    assert.match(turn.text ?? '', /"main" has handed this conversation on already/);
  });

  it('the chat of an agent that was deleted falls back to its first session', async () => {
    await say('d', handing({ agent: 'gone', reason: 'r' }), 'c4');
    assert.equal((await stack.ask('DELETE', '/v1/agents/gone')).status, 204);
    assert.equal((await say('d', 'Anybody?', 'c4')).body.session_key, 'd');
  });

  it('refuses without agent, reason, link or chat, in words', async () => {
    let refusals = 0;
    const refusal = async (args: Record<string, unknown>, chat: Record<string, string>) => {
      const { turn_id } = await stack.worker.say(`r-${refusals++}`, handing(args), chat);
      await stack.worker.ended(turn_id);
      return (await stack.worker.calls(turn_id))[0]?.result ?? '';
    };
    const chat = { channel: 'web', chat_id: 'c5' };
    assert.match(await refusal({ reason: 'r' }, chat), /agent is required for handoff/);
    assert.match(await refusal({ agent: 'billing' }, chat), /reason is required for handoff/);
    assert.match(await refusal({ agent: 'ghost', reason: 'r' }, chat), /target agent "ghost" not found/);
    assert.match(await refusal({ agent: ' ', reason: 'r' }, chat), /agent is required for handoff/);
    assert.match(await refusal({ agent: 'ghost', reason: 'r' }, {}), /target agent "ghost" not found/);
    assert.match(await refusal({ agent: 'billing', reason: 'r' }, {}), /handoff requires channel context/);
    assert.match(await refusal({ action: 'clear' }, {}), /clear requires channel context/);
    assert.match(await refusal({ action: 'x' }, chat), /unknown action: x \(use 'transfer' or 'clear'\)/);
    assert.match(await refusal({ action: 'clear' }, chat), /Handoff route cleared\./);
  });

  it('DU-7 PO-5 the conversation keeps the budget of its first session, and what was read in it', async () => {
    const handsOn = `peek {"note":"a page"}\nthen\n${handing({ agent: 'billing', reason: 'an invoice' })}`;
    assert.equal((await say('chat', handsOn, 'c6')).body.text, 'Handed on.');
    const next = await say('chat', 'Where is it?', 'c6');
    const session: string = next.body.session_key;
    assert.notEqual(session, 'chat');
    const turns = await stack.worker.until('the turns of the handoff and of the next message', async () => {
      const all = await stack.worker.turns(session);
      return all.length === 2 ? all : undefined;
    });
    for (const { id } of turns) assert.equal((await stack.worker.ended(id)).status, 'completed');
    const used = async (scope: 'turn' | 'session', subject: string): Promise<number> => {
      const path = `/v1/budgets/accounts?budget=settings:${scope}:*:total&subject=${subject}`;
      return (await stack.ask('GET', path)).body.data[0]?.spent ?? 0;
    };
    assert.equal(await used('session', 'chat'), 5);
    assert.equal(await used('turn', turns[0]?.id ?? ''), 1);
    assert.equal(await used('session', session), 0);
    const { rows } = await stack.pool.query('select used from sessions where tenant_id = $1 and key = $2', [
      stack.tenant,
      session,
    ]);
    assert.deepEqual(Object.keys(rows[0]?.used), ['peek']);
  });

  it('IN-9 a key of a user lists and ends handoffs of that user only', async () => {
    const ann = await stack.makeKey(['read', 'run'], { user: 'ann' });
    const bob = await stack.makeKey(['read', 'run'], { user: 'bob' });
    const body = { text: handing({ agent: 'billing', reason: 'r' }), channel: 'web', chat_id: 'c7' };
    const sent = await stack.ask('POST', '/v1/sessions/of-ann/messages?wait=60', { key: ann, body });
    assert.equal(sent.body.text, 'Handed on.');
    const chats = async (key: string) =>
      (await stack.ask('GET', '/v1/handoffs', { key })).body.data.map(
        ({ chat_id }: { chat_id: string }) => chat_id,
      );
    assert.deepEqual([await chats(ann), await chats(bob)], [['c7'], []]);
    const path = '/v1/handoffs?channel=web&chat_id=c7';
    assert.equal((await stack.ask('DELETE', path, { key: bob })).status, 404);
    assert.equal((await stack.ask('DELETE', path, { key: ann })).status, 204);
  });
});
