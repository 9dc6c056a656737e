import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { DISCORD, discordAsk, discordHeaders, discordPress, startDiscord } from './discord-server.ts';
import { SLACK, slackHeaders, slackMessage, slackPress, startSlack } from '#test/support/slack-server.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { pressUpdate, startTelegram, textUpdate, TOKEN } from '#test/support/telegram-server.ts';

const RETRIES = `[${Array.from({ length: 20 }, () => '0.05').join(', ')}]`;

interface Heard {
  readonly status: number;
  /** JSON, else text. */
  readonly body: any;
}

interface Services extends Stack {
  readonly telegram: Awaited<ReturnType<typeof startTelegram>>;
  readonly slack: Awaited<ReturnType<typeof startSlack>>;
  readonly discord: Awaited<ReturnType<typeof startDiscord>>;
  add(key: string, type: string, settings: object, agent?: string): Promise<void>;
  pair(channel: string, person: string, user: string): Promise<void>;
  /** Sends the bytes as a service does. */
  hears(channel: string, body: string, headers: Readonly<Record<string, string>>): Promise<Heard>;
  slackSays(event: object): Promise<Heard>;
  discordSays(interaction: object): Promise<Heard>;
  /** The first existing question; resolves when its row exists too, because presses need it. */
  asked<Message>(messages: readonly Message[], idOf: (message: Message) => string): Promise<Message>;
  messages(): Promise<readonly { session_key: string; text: string; context: any }[]>;
}

/** Somebody other than the requester decides. */
const CAREFUL = {
  key: 'careful',
  model: 'rehearsal/follow',
  tools: { ask: [{ tool: 'poke', exclude_requester: true }] },
};

async function start(t: TestContext): Promise<Services> {
  const [telegram, slack, discord] = await Promise.all([startTelegram(t), startSlack(t), startDiscord(t)]);
  const stack = await startStack({
    agents: [CAREFUL],
    settings: `webhooks: { retrySeconds: ${RETRIES} }
channels: { telegram: { baseUrl: "${telegram.url}" }, slack: { baseUrl: "${slack.url}" }, discord: { baseUrl: "${discord.url}" } }`,
  });
  t.after(() => stack.stop());
  const services: Services = {
    ...stack,
    telegram,
    slack,
    discord,
    async add(key, type, settings, agent = 'main') {
      const made = await stack.ask('POST', '/v1/channels', { body: { key, type, agent, settings } });
      assert.equal(made.status, 201, JSON.stringify(made.body));
    },
    async pair(channel, person, user) {
      const body = { person, user, may_decide: true };
      assert.equal((await stack.ask('POST', `/v1/channels/${channel}/pairings`, { body })).status, 200);
    },
    async hears(channel, body, headers) {
      const url = `${stack.url}/v1/channels/${channel}/inbound?tenant=${stack.tenant}`;
      const response = await fetch(url, { method: 'POST', body, headers });
      const text = await response.text();
      const isJson = /json/.test(response.headers.get('content-type') ?? '');
      return { status: response.status, body: isJson ? JSON.parse(text) : text };
    },
    slackSays: (event) => signedJson('slack', event, slackHeaders),
    discordSays: (call) => signedJson('discord', call, discordHeaders),
    asked: (messages, idOf) =>
      stack.worker.until('the question', async () => {
        const { rows } = await stack.pool.query(
          'select message_id from channel_posts where approval_id is not null',
        );
        return messages.find((message) => rows.some(({ message_id }) => message_id === idOf(message)));
      }),
    async messages() {
      const { rows } = await stack.pool.query(
        `select session_key, text, context from messages where role = 'user' order by created_at`,
      );
      return rows;
    },
  };
  function signedJson(channel: string, input: object, sign: (body: string) => object): Promise<Heard> {
    const body = JSON.stringify(input);
    return services.hears(channel, body, { 'content-type': 'application/json', ...sign(body) });
  }
  return services;
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

describe('IN-4 one agent in several services', () => {
  it('a question asked in Telegram is approved by a button in Slack and answered in Telegram', async (t) => {
    const all = await start(t);
    const { telegram, slack } = all;
    await all.add('tg', 'telegram', { token: TOKEN, secret_token: 'x' }, 'careful');
    await all.add('slack', 'slack', { ...SLACK, approvals_to: { chat: 'C9' }, approvals_for: ['careful'] });
    await all.pair('tg', '42', 'ann');
    await all.pair('slack', 'U7', 'bob');
    const telegramSays = (update: object) =>
      all.hears('tg', JSON.stringify(update), { 'x-telegram-bot-api-secret-token': 'x' });
    await telegramSays(textUpdate('poke {"note":"x"}\nthen\npoked'));

    const question = await all.asked(slack.messages, ({ ts }) => ts);
    assert.equal(question.channel, 'C9');
    assert.match(question.text, /"note": "x"/);
    const own = await all.asked(telegram.messages, ({ id }) => String(id));
    assert.match(
      (await telegramSays(pressUpdate(own, 'Approve'))).body.text,
      /who asked for the call may not/,
    );
    const stranger = slackPress(question, 'Approve', 'U666');
    assert.equal((await all.hears('slack', stranger, { ...FORM, ...slackHeaders(stranger) })).status, 200);
    const refusal = await all.worker.until('the refusal', () =>
      slack.messages.find(({ text }) => text.includes('may not decide')),
    );
    assert.deepEqual([refusal.channel, refusal.thread], ['C9', question.ts]);
    assert.equal((await all.ask('GET', '/v1/approvals?status=pending')).body.data.length, 1);

    const press = slackPress(question, 'Approve', 'U7');
    const pressed = await all.hears('slack', press, { ...FORM, ...slackHeaders(press) });
    assert.deepEqual(pressed, { status: 200, body: '' });
    await all.worker.until('the answer', () => telegram.messages.find(({ text }) => text === 'poked'));
    const shown = await all.worker.until('the outcome', () =>
      slack.messages.find(({ ts, edits }) => ts === question.ts && edits > 0),
    );
    assert.match(shown.text, /^\*Approved\* by bob/);
    assert.deepEqual(shown.buttons, []);
    assert.equal(slack.messages.length, 2);
    await all.worker.until('the outcome there', () =>
      telegram.messages.find(({ id, edits }) => id === own.id && edits > 0),
    );
    const { body } = await all.ask('GET', '/v1/approvals');
    assert.deepEqual([body.data[0].status, body.data[0].decided_by], ['approved', 'bob']);
  });

  it('what one session says to another is answered where that one is', async (t) => {
    const all = await start(t);
    await all.add('tg', 'telegram', { token: TOKEN, secret_token: 'x' });
    await all.add('slack', 'slack', SLACK);
    await all.pair('tg', '42', 'ann');
    await all.pair('slack', 'U42', 'ann');
    await all.slackSays(slackMessage('say hello'));
    const first = await all.worker.until('the greeting', () => all.slack.messages[0]);
    const args = JSON.stringify({ session_key: 'slack:D1', message: 'say the tea is ready' });
    const update = JSON.stringify(textUpdate(`sessions_send ${args}\nthen\ntold`));
    for (const _ of [1, 2]) await all.hears('tg', update, { 'x-telegram-bot-api-secret-token': 'x' });
    const message = await all.worker.until('it there', () =>
      all.slack.messages.find(({ text }) => text.includes('the tea is ready')),
    );
    assert.deepEqual([message.channel, message.thread], [first.channel, first.thread]);
    const { text } = await all.worker.until('the answer here', () => all.telegram.messages.at(-1));
    assert.equal(text, 'told');
    assert.equal(all.telegram.messages.length, 1);
    assert.equal(all.slack.messages.length, 2);
  });

  it('Slack: the challenge of a new address, a forged request, and an answer in the thread of a mention, once', async (t) => {
    const all = await start(t);
    await all.add('slack', 'slack', SLACK);
    await all.pair('slack', 'U42', 'ann');
    const challenge = { type: 'url_verification', challenge: 'abc', token: 'x' };
    assert.deepEqual(await all.slackSays(challenge), { status: 200, body: { challenge: 'abc' } });
    const forged = JSON.stringify(slackMessage('say no'));
    const headers = { 'content-type': 'application/json', ...slackHeaders(forged, Date.now(), 'another') };
    assert.equal((await all.hears('slack', forged, headers)).status, 401);
    const old = { 'content-type': 'application/json', ...slackHeaders(forged, Date.now() - 400_000) };
    assert.equal((await all.hears('slack', forged, old)).status, 401);

    const event = { channel: 'C1', channel_type: 'channel', ts: '1700000100.5' };
    const notice = slackMessage('<@U0BOT> **done** <!channel>', event);
    for (const call of [
      notice,
      notice,
      { ...notice, event_id: 'EvB', event: { ...notice.event, type: 'app_mention' } },
    ])
      assert.deepEqual(await all.slackSays(call), { status: 200, body: {} });
    const answer = await all.worker.until('the answer', () => all.slack.messages[0]);
    assert.deepEqual([answer.channel, answer.thread, answer.text], ['C1', '1700000100.5', '*done* @channel']);
    assert.deepEqual(
      (await all.messages()).map(({ session_key, context }) => [session_key, context.user]),
      [['slack:C1:1700000100.5', 'ann']],
    );
  });

  it('Discord: a ping, a forged request, /ask of a stranger and of somebody, and a press', async (t) => {
    const all = await start(t);
    await all.add('discord', 'discord', DISCORD);
    assert.deepEqual((await all.discordSays({ id: '1', type: 1 })).body, { type: 1 });
    const forged = JSON.stringify(discordAsk('say no'));
    const sent = { 'content-type': 'application/json', ...discordHeaders(`${forged} `) };
    assert.equal((await all.hears('discord', forged, sent)).status, 401);

    const direct = { channel: { id: '8', type: 1 } };
    const { guild_id: _, ...alone } = discordAsk('say hi', direct) as any;
    const met = await all.discordSays(alone);
    assert.match(met.body.data.content, /pair discord \w{8} /);
    assert.equal(met.body.data.flags, 64);
    const inGroup = await all.discordSays(discordAsk('say hi'));
    assert.match(inGroup.body.data.content, /^I do not know you; write to me in a direct message/);
    assert.equal(inGroup.body.data.flags, 64);

    await all.pair('discord', '42', 'ann');
    const request = await all.discordSays(discordAsk('poke {"note":"x"}\nthen\npoked'));
    assert.equal(request.body.type, 4);
    assert.match(request.body.data.content, /^> poke/);
    const question = await all.asked(all.discord.messages, ({ id }) => id);
    const stranger = await all.discordSays(discordPress(question, 'Approve', '43'));
    assert.match(stranger.body.data.content, /may not decide/);
    const pressed = await all.discordSays(discordPress(question, 'Approve'));
    assert.match(pressed.body.data.content, /It is approved/);
    await all.worker.until('the answer', () =>
      all.discord.messages.find(({ content }) => content === 'poked'),
    );
    const shown = await all.worker.until('the outcome', () =>
      all.discord.messages.find(({ id, edits }) => id === question.id && edits > 0),
    );
    assert.deepEqual(shown.buttons, []);
  });
});
