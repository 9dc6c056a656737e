import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createChance } from '#test/support/seeded.ts';
import { type Answer, type Stack, startStack } from '#test/support/stack.ts';
import {
  pressUpdate,
  refusal,
  startTelegram,
  type TelegramMessage,
  type TelegramServer,
  textUpdate,
  TOKEN,
} from '#test/support/telegram-server.ts';

const RETRIES = `[${Array.from({ length: 20 }, () => '0.05').join(', ')}]`;
const SECRET = 'of-the-webhook';

interface Chat extends Stack {
  readonly telegram: TelegramServer;
  /** An update as the service sends it. */
  hears(update: object, options?: { readonly secret?: string; readonly channel?: string }): Promise<Answer>;
  pair(person: string, user: string, mayDecide?: boolean): Promise<void>;
  /** Resolves when the chat shows what is looked for. */
  shows(what: string, wanted: (message: TelegramMessage) => boolean): Promise<TelegramMessage>;
}

async function start(t: TestContext, settings: object = {}): Promise<Chat> {
  const telegram = await startTelegram(t);
  const stack = await startStack({
    settings: `webhooks: { retrySeconds: ${RETRIES} }\nchannels: { telegram: { baseUrl: "${telegram.url}" } }`,
    agents: [{ key: 'other', model: 'rehearsal/follow' }],
  });
  t.after(() => stack.stop());
  const body = {
    key: 'tg',
    type: 'telegram',
    agent: 'main',
    settings: { token: TOKEN, secret_token: SECRET, username: 'ourbot', ...settings },
  };
  const made = await stack.ask('POST', '/v1/channels', { body });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return {
    ...stack,
    telegram,
    hears: (update, { secret = SECRET, channel = 'tg' } = {}) =>
      stack.ask('POST', `/v1/channels/${channel}/inbound?tenant=${stack.tenant}`, {
        key: null,
        body: update,
        headers: { 'x-telegram-bot-api-secret-token': secret },
      }),
    async pair(person, user, may_decide = true) {
      const paired = await stack.ask('POST', '/v1/channels/tg/pairings', {
        body: { person, user, may_decide },
      });
      assert.equal(paired.status, 200, JSON.stringify(paired.body));
    },
    shows: (what, wanted) => stack.worker.until(what, () => telegram.messages.find(wanted)),
  };
}

async function messages({
  pool,
}: Stack): Promise<readonly { session_key: string; text: string; context: any }[]> {
  const { rows } = await pool.query(
    `select session_key, text, context from messages where role = 'user' order by created_at`,
  );
  return rows;
}

describe('IN-4 a Telegram channel', () => {
  it('answers each message once, though its service fails three times in ten', async (t) => {
    const chat = await start(t);
    const chance = createChance(11);
    chat.telegram.answer = () => (chance.between(1, 10) <= 3 ? refusal(502, 'Bad Gateway') : undefined);
    await chat.pair('42', 'ann');
    const asked = ['one', 'two', 'three'].map((word) => textUpdate(`word ${word}`));
    for (const update of asked) assert.equal((await chat.hears(update)).status, 200);
    for (const update of asked) assert.equal((await chat.hears(update)).status, 200);
    for (const word of ['one', 'two', 'three']) await chat.shows(word, ({ text }) => text.includes(word));
    await chat.worker.until('all deliveries', async () => {
      const { body } = await chat.ask('GET', '/v1/channels/tg/deliveries?status=pending');
      return body.data.length === 0 ? true : undefined;
    });
    assert.equal(chat.telegram.messages.length, 3);
    assert.ok(chat.telegram.messages.every(({ chat: place }) => place === '42'));
    assert.deepEqual(
      (await messages(chat)).map(({ session_key }) => session_key),
      ['tg:42', 'tg:42', 'tg:42'],
    );
    assert.equal((await messages(chat))[0]?.context.user, 'ann');
  });

  it('takes nothing that its service did not sign, nor for a channel that is off or not there', async (t) => {
    const chat = await start(t);
    assert.equal((await chat.hears(textUpdate('hello'), { secret: 'wrong' })).status, 401);
    assert.equal((await chat.hears(textUpdate('hello'), { channel: 'none' })).status, 401);
    const off = await chat.ask('PATCH', '/v1/channels/tg', { body: { enabled: false } });
    assert.equal(off.body.enabled, false, JSON.stringify(off.body));
    assert.equal((await chat.hears(textUpdate('hello'))).status, 401);
    assert.deepEqual(await messages(chat), []);
  });

  it('gives a stranger a code and does nothing else, until somebody pairs him by it', async (t) => {
    const chat = await start(t);
    const met = await chat.hears(textUpdate('hi'));
    assert.equal(met.body.method, 'sendMessage');
    const [, code] = /pair tg (\w{8}) /.exec(met.body.text) ?? [];
    const again = await chat.hears(textUpdate('hi'));
    assert.match(again.body.text, new RegExp(`pair tg ${code} `));
    assert.deepEqual((await chat.hears(textUpdate('hi @ourbot', { group: true, chat: -100 }))).body, {});
    assert.deepEqual(await messages(chat), []);

    const wrong = await chat.ask('POST', '/v1/channels/tg/pairings', {
      body: { code: 'AAAAAAAA', user: 'ann' },
    });
    assert.equal(wrong.status, 422);
    const body = { code, user: 'ann' };
    const paired = await chat.ask('POST', '/v1/channels/tg/pairings', { body });
    assert.deepEqual(
      [paired.body.person, paired.body.name, paired.body.may_decide],
      ['42', 'Ann Lee', false],
    );
    assert.equal((await chat.ask('POST', '/v1/channels/tg/pairings', { body })).status, 422);
    await chat.hears(textUpdate('hi'));
    await chat.shows('the answer', ({ text }) => text === 'hi');
    const people = await chat.ask('GET', '/v1/channels/tg/people');
    assert.deepEqual(
      people.body.data.map(({ user }: { user: string }) => user),
      ['ann'],
    );
    assert.equal((await chat.ask('DELETE', '/v1/channels/tg/people/42')).status, 204);
    assert.match((await chat.hears(textUpdate('hi'))).body.text, /I do not know you/);
  });

  it('hears in groups what is said to it, in a session for each topic with the tools of that topic', async (t) => {
    const chat = await start(t, { topics: { '7': { allowed_tools: ['read_file'] } } });
    await chat.pair('42', 'ann');
    const group = { group: true, chat: -1001 };
    await chat.hears(textUpdate('nobody', group));
    await chat.hears(textUpdate('main @OurBot', { ...group, more: {} }));
    await chat.hears(textUpdate('@ourbot topic', { ...group, topic: 7 }));
    const reply = {
      reply_to_message: { message_id: 1, from: { id: 4711, is_bot: true, username: 'ourbot' } },
    };
    await chat.hears(textUpdate('answer', { ...group, more: reply }));
    await chat.shows('the topic', ({ text, thread }) => text === 'topic' && thread === 7);
    await chat.shows('the group', ({ text, thread }) => text === 'answer' && thread === undefined);
    const heard = (await messages(chat)).map(({ session_key, text, context }) => [
      session_key,
      text,
      context.group,
    ]);
    assert.deepEqual(heard, [
      ['tg:-1001', 'main', undefined],
      ['tg:-1001:7', 'topic', ['read_file']],
      ['tg:-1001', 'answer', undefined],
    ]);
  });

  it('marks what people say whom nobody has paired, where it is open to them', async (t) => {
    const chat = await start(t, { people: 'open' });
    const update = textUpdate('hi');
    await chat.hears(update);
    await chat.hears(update);
    const [said, ...others] = await messages(chat);
    assert.deepEqual(others, []);
    assert.match(said?.text ?? '', /^<<<EXTERNAL_UNTRUSTED_CONTENT id=\w{32} source=telegram:42>>>/);
    assert.equal(said?.context.user, 'tg:42');
  });

  it('waits as long as its service says when there was too much', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    const refused: number[] = [];
    chat.telegram.answer = ({ method }) => {
      if (method !== 'sendMessage' || refused.length > 0) return undefined;
      refused.push(Date.now());
      return refusal(429, 'Too Many Requests: retry after 1', { retry_after: 1 });
    };
    await chat.hears(textUpdate('hi'));
    await chat.shows('the answer', ({ text }) => text === 'hi');
    // Ours would have been a twentieth of it.
    assert.ok(Date.now() - (refused[0] ?? 0) >= 1_000);
  });

  it('shows its credentials to nobody, and what it was told', async (t) => {
    const chat = await start(t);
    const shown = await chat.ask('GET', '/v1/channels/tg');
    assert.deepEqual(shown.body.credentials, ['token', 'secret_token']);
    assert.ok(!JSON.stringify(shown.body).includes(SECRET));
    assert.deepEqual((await chat.ask('GET', '/v1/webhooks')).body.data, []);
    const without = { key: 'x', type: 'telegram', settings: {} };
    assert.equal((await chat.ask('POST', '/v1/channels', { body: without })).status, 422);
    assert.equal((await chat.ask('DELETE', '/v1/channels/tg')).status, 204);
    assert.equal((await chat.ask('GET', '/v1/channels/tg')).status, 404);
  });

  it('cannot be spoken in over the API by a key of a user', async (t) => {
    const chat = await start(t);
    const key = await chat.makeKey(['run'], { user: 'bob' });
    const body = { text: 'hi', channel: 'tg', chat_id: '42' };
    assert.equal((await chat.ask('POST', '/v1/sessions/mine/messages', { key, body })).status, 403);
  });
});

describe('AP-2 approvals in a Telegram channel', () => {
  it('are decided by the button of somebody who may, and of nobody else', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    await chat.pair('43', 'bob', false);
    await chat.hears(textUpdate('poke {"note":"x"}'));
    const question = await chat.shows('the question', ({ buttons }) => buttons.length > 0);
    assert.match(question.text, /poke/);
    assert.match(question.text, /&quot;note&quot;: &quot;x&quot;/);
    const stranger = await chat.hears(pressUpdate(question, 'Approve', 99));
    assert.equal(stranger.body.method, 'answerCallbackQuery');
    assert.match(stranger.body.text, /may not decide/);
    assert.match((await chat.hears(pressUpdate(question, 'Approve', 43))).body.text, /may not decide/);
    assert.equal((await chat.ask('GET', '/v1/approvals?status=pending')).body.data.length, 1);
    const pressed = await chat.hears(pressUpdate(question, 'Approve'));
    assert.match(pressed.body.text, /It is approved/);
    const edited = await chat.shows('the outcome', ({ id, edits }) => id === question.id && edits > 0);
    assert.match(edited.text, /^<b>Approved<\/b> by ann/);
    assert.deepEqual(edited.buttons, []);
    const { body } = await chat.ask('GET', '/v1/approvals');
    assert.deepEqual([body.data[0].status, body.data[0].decided_by], ['approved', 'ann']);
    assert.match((await chat.hears(pressUpdate(question, 'Reject'))).body.text, /was approved by ann/);
  });

  it('change when they are decided elsewhere, and are asked where the channel says', async (t) => {
    const chat = await start(t, { approvals_to: { chat: '-500', thread: '3' } });
    await chat.pair('42', 'ann');
    await chat.hears(textUpdate('poke {"note":"x"}'));
    const question = await chat.shows('the question', ({ buttons }) => buttons.length > 0);
    assert.deepEqual([question.chat, question.thread], ['-500', 3]);
    const { body } = await chat.ask('GET', '/v1/approvals?status=pending');
    const path = `/v1/approvals/${body.data[0].id}/decision`;
    await chat.ask('POST', path, { body: { decision: 'reject', reason: 'not today' } });
    const edited = await chat.shows('the outcome', ({ id, edits }) => id === question.id && edits > 0);
    assert.match(edited.text, /^<b>Denied<\/b> by .*not today/);
  });

  it('of an agent are asked in its channel wherever it works', async (t) => {
    const chat = await start(t, { approvals_to: { chat: '-500' }, approvals_for: ['main'] });
    await chat.worker.say('elsewhere', 'poke {"note":"x"}');
    const question = await chat.shows('the question', ({ buttons }) => buttons.length > 0);
    assert.equal(question.chat, '-500');
    assert.equal(chat.telegram.messages.length, 1);
  });
});
