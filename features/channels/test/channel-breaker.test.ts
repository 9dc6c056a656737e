/** DU-12: a chat service that fails is probed, and one chat that refuses stops no other. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { insertDirectPost } from '../store/channel-post-store.ts';
import { announceDeliveries } from '#features/webhooks-out/index.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type Chat, startTelegramChat } from '#test/support/telegram-chat.ts';

/** Each chat has posts of its own, of which each names its chat and its number. */
async function startWithPosts(
  t: TestContext,
  answer: Chat['telegram']['answer'],
  chats: readonly string[],
  posts: number,
): Promise<Chat> {
  const chat = await startTelegramChat(t);
  chat.telegram.answer = answer;
  const { rows } = await chat.pool.query<{ webhook_id: string }>('select webhook_id from channels');
  for (const to of chats)
    for (let post = 0; post < posts; post += 1)
      await insertDirectPost(forTenant(chat.pool, chat.tenant), rows[0]?.webhook_id ?? '', {
        id: `msg_${to}_${post}`,
        session: `s${to}`,
        post: { place: { chat: to }, markdown: `${to} ${post}` },
      });
  await announceDeliveries(chat.pool);
  return chat;
}

async function shown(chat: Chat): Promise<any> {
  return (await chat.ask('GET', '/v1/channels/tg')).body;
}

/** `look` runs at each check. */
function untilNoneWaits(chat: Chat, look: () => Promise<void> = async () => undefined): Promise<true> {
  return chat.worker.until('all', async () => {
    await look();
    const { rows } = await chat.pool.query(`select from webhook_deliveries where status = 'pending'`);
    return rows.length === 0 ? true : undefined;
  });
}

const CHATS = ['1', '2', '3', '4', '5', '6', '7', '8'];

describe('DU-12 a channel', () => {
  it('whose service fails is open, and sends all in order once the service works again', async (t) => {
    let isUp = false;
    const fails = { status: 502, body: { ok: false, error_code: 502, description: 'Bad Gateway' } };
    const chat = await startWithPosts(t, () => (isUp ? undefined : fails), CHATS, 4);
    const open = await chat.worker.until('an open breaker', async () => {
      const channel = await shown(chat);
      return channel.state === 'closed' ? undefined : channel;
    });
    assert.ok(open.enabled && open.failures >= 5 && open.next_attempt_at, JSON.stringify(open));
    isUp = true;
    await untilNoneWaits(chat);
    for (const one of CHATS)
      assert.deepEqual(
        chat.telegram.messages
          .filter((message) => message.chat === one)
          // The service may have posted what it answered with an error, so the rest says that.
          .map(({ text }) => text.split('\n')[0]),
        [0, 1, 2, 3].map((post) => `${one} ${post}`),
      );
    const { state, failures, failing_since } = await shown(chat);
    assert.deepEqual([state, failures, failing_since], ['closed', 0, null]);
  });

  it('in which chats refuse or ask to wait stays closed', async (t) => {
    const waits = new Set<string>();
    const gone = {
      status: 403,
      body: { ok: false, error_code: 403, description: 'Forbidden: bot was kicked' },
    };
    const later = {
      status: 429,
      body: { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 1 } },
    };
    const states = new Set<string>();
    const chat = await startWithPosts(
      t,
      ({ body: { chat_id: to } }) => {
        if (to === '1') return gone;
        if (waits.has(to)) return undefined;
        waits.add(to);
        return later;
      },
      CHATS,
      8,
    );
    await untilNoneWaits(chat, async () => {
      const { state, failures } = await shown(chat);
      states.add(`${state} ${failures}`);
    });
    assert.deepEqual([...states], ['closed 0']);
    assert.equal(chat.telegram.messages.length, 7 * 8);
    const { rows } = await chat.pool.query(
      `select session_key from webhook_deliveries where status = 'failed'`,
    );
    assert.deepEqual(
      rows.map(({ session_key }) => session_key),
      Array.from({ length: 8 }, () => 's1'),
    );
  });
});
