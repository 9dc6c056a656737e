/** R1: the words of somebody who is no user count as external, whichever service brings them. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { taskSessionKey } from '#domain/team/team.ts';
import { type Chat, startTelegramChat } from '#test/support/telegram-chat.ts';
import { textUpdate } from '#test/support/telegram-server.ts';

/** Names of what the session has read, once it exists. */
function readBy(chat: Chat, session: string): Promise<readonly string[]> {
  return chat.worker.until(`${session} to be there`, async () => {
    const { rows } = await chat.pool.query(
      `select s.used from sessions s join turns t on t.session_key = s.key where s.key = $1 and t.ended_at is not null`,
      [session],
    );
    return rows[0] && Object.keys(rows[0].used);
  });
}
async function decides(chat: Chat, session: string): Promise<string> {
  const body = { tool: 'exec', args: { command: 'ls' }, agent: 'main', context: { session } };
  return (await chat.ask('POST', '/v1/explain/tool', { body })).body.decision;
}

describe('R1 strangers', () => {
  it('in a chat that is open to all; a paired person’s own words do not, and what is forwarded does', async (t) => {
    const chat = await startTelegramChat(t, { people: 'open' });
    await chat.ask('PUT', '/v1/policy', { body: { tools: { profile: 'careful' } } });
    await chat.pair('42', 'ann');
    await chat.hears(textUpdate('hello', { from: 7 }));
    assert.deepEqual(await readBy(chat, 'tg:7'), ['outside_message']);
    assert.equal(await decides(chat, 'tg:7'), 'ask');
    await chat.hears(textUpdate('hello', { from: 42 }));
    assert.deepEqual(await readBy(chat, 'tg:42'), []);
    assert.equal(await decides(chat, 'tg:42'), 'allow');
    await chat.hears(textUpdate('look', { from: 42, more: { forward_origin: { type: 'hidden_user' } } }));
    await chat.worker.until('the forwarded text to be taken', async () =>
      (await decides(chat, 'tg:42')) === 'ask' ? true : undefined,
    );
  });

  it('by a signed call, as a message and as a task of a team', async (t) => {
    const chat = await startTelegramChat(t, {}, [{ key: 'boss' }, { key: 'member' }]);
    const secret = 'of-the-calls-0123456789';
    await chat.ask('POST', '/v1/teams', { body: { key: 'crew', lead: 'boss', members: ['member'] } });
    const calls = async (key: string, settings: object): Promise<void> => {
      const input = { secret, signature: 'github', template: 'Do {{words}}', ...settings };
      const body = { key, type: 'webhook', agent: 'main', settings: input };
      const made = await chat.ask('POST', '/v1/channels', { body });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const words = { words: 'it.' };
      const signature = createHmac('sha256', secret).update(JSON.stringify(words)).digest('hex');
      const headers = { 'x-hub-signature-256': `sha256=${signature}` };
      const path = `/v1/channels/${key}/inbound?tenant=${chat.tenant}`;
      const received = await chat.ask('POST', path, { key: null, body: words, headers });
      assert.equal(received.status, 200, JSON.stringify(received.body));
    };
    await calls('says', { session: 's' });
    assert.ok((await readBy(chat, 'says:s')).includes('outside_message'));
    await calls('tasks', { action: 'task', team: 'crew', subject: 'Look', assignee: 'member' });
    assert.ok((await readBy(chat, taskSessionKey('crew', 1, 'member'))).includes('outside_message'));
  });
});
