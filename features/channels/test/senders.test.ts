import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ChannelError, type Refusal } from '../activities/channel-error.ts';
import type { ChannelSender, SendContext } from '../activities/channel-sender.ts';
import { discordSender } from '../discord/sender.ts';
import { slackSender } from '../slack/sender.ts';
import { createEgress } from '#activities/egress/create-egress.ts';
import type { ChannelPlace, ChannelPost } from '../contract.ts';
import { DISCORD, startDiscord } from './discord-server.ts';
import { SLACK, slackRefusal, startSlack } from '#test/support/slack-server.ts';
import { telegramSender } from '../telegram/sender.ts';
import { refusal, startTelegram, TOKEN } from '#test/support/telegram-server.ts';

function contextOf(t: TestContext, baseUrl: string, token: string): SendContext {
  const egress = createEgress({ resolve: async () => ['127.0.0.1'], record: async () => undefined });
  const rules = { internalHosts: [new URL(baseUrl).host] };
  const door = egress.open({ labels: { tenant: 't', purpose: 'channel' }, rules });
  t.after(() => door.close());
  return { client: door, credentials: { token }, baseUrl, signal: new AbortController().signal };
}

async function sendAll(sender: ChannelSender, context: SendContext, place: ChannelPlace, post: ChannelPost) {
  const ids: string[] = [];
  for (const part of sender.split(post)) ids.push(await sender.send(context, place, part));
  return ids;
}

async function refusalOf(doing: Promise<unknown>): Promise<Refusal & { readonly message: string }> {
  try {
    await doing;
  } catch (error) {
    assert.ok(error instanceof ChannelError);
    return { ...error.refusal, message: error.message };
  }
  throw new assert.AssertionError({ message: 'it was taken' });
}

const UNKNOWN = { name: undefined, type: undefined, size: undefined };

const buttons = [
  { label: 'Approve', data: 'msg_1.a' },
  { label: 'Look', url: 'https://ours.example/a' },
];

describe('IN-4 what Slack is told', () => {
  const place = { chat: 'C1', thread: '17.0' };

  it('is said in its thread, fetches and calls nothing, and has its buttons', async (t) => {
    const slack = await startSlack(t);
    const context = contextOf(t, slack.url, SLACK.token);
    await sendAll(slackSender, context, place, { markdown: '**Hi** <!channel>' });
    const [id] = await sendAll(slackSender, context, place, { markdown: 'Allow?', buttons });
    assert.equal(slack.messages[0]?.text, '*Hi* &lt;!channel&gt;');
    const { unfurl_links, parse, thread_ts } = slack.calls[0]?.body ?? {};
    assert.deepEqual([unfurl_links, parse, thread_ts], [false, 'none', '17.0']);
    assert.equal(slack.calls[1]?.body.blocks[0].text.verbatim, true);
    assert.deepEqual(
      slack.messages[1]?.buttons.map(({ text, value }) => [text.text, value]),
      [
        ['Approve', 'msg_1.a'],
        ['Look', undefined],
      ],
    );
    const allowed = { markdown: 'Allowed.', buttons: [] };
    assert.equal(await slackSender.edit(context, place, id ?? '', allowed), true);
    const { text, buttons: remaining, edits } = slack.messages[1] ?? {};
    assert.deepEqual([text, remaining, edits], ['Allowed.', [], 1]);
    assert.equal(await slackSender.edit(context, place, '1.gone', { markdown: 'x' }), false);
  });

  it('comes in messages that it takes, long as it may be', async (t) => {
    const slack = await startSlack(t);
    const context = contextOf(t, slack.url, SLACK.token);
    const markdown = 'a < b & c\n'.repeat(1_500);
    const ids = await sendAll(slackSender, context, place, { markdown, buttons });
    assert.equal(new Set(ids).size, slack.messages.length);
    assert.ok(slack.messages.length > 5);
    assert.ok(slack.messages.every(({ text }) => text.length <= 3_000));
    assert.deepEqual(
      slack.messages.map((one) => one.buttons.length).filter((count) => count > 0),
      [2],
    );
    const words = slack.messages.map(({ text }) => text).join('\n');
    assert.equal(words.match(/a &lt; b &amp; c/g)?.length, 1_500);
  });

  it('refuses for good, for now, or until a time that it says', async (t) => {
    const slack = await startSlack(t);
    const context = contextOf(t, slack.url, SLACK.token);
    const refused = () => refusalOf(slackSender.send(context, place, { markdown: 'x' }));
    slack.answer = () => slackRefusal('channel_not_found');
    assert.deepEqual(await refused(), {
      status: 200,
      retryAfter: undefined,
      isFinal: true,
      message: 'Slack: channel_not_found',
    });
    slack.answer = () => slackRefusal('internal_error');
    assert.equal((await refused()).isFinal, false);
    slack.answer = () => ({
      status: 429,
      headers: { 'retry-after': '30' },
      body: { ok: false, error: 'ratelimited' },
    });
    assert.deepEqual(await refused(), {
      status: 429,
      retryAfter: 30_000,
      isFinal: false,
      message: 'Slack: ratelimited',
    });
    slack.answer = () => ({ status: 503, body: [] });
    assert.deepEqual(await refused(), {
      status: 503,
      retryAfter: undefined,
      isFinal: false,
      message: 'Slack: it answered 503',
    });
    const stranger = contextOf(t, slack.url, 'wrong');
    assert.equal((await refusalOf(slackSender.send(stranger, place, { markdown: 'x' }))).isFinal, false);
  });
});

describe('IN-4 what Discord is told', () => {
  const place = { chat: '5' };

  it('mentions nobody, shows no preview, and has its buttons', async (t) => {
    const discord = await startDiscord(t);
    const context = contextOf(t, discord.url, DISCORD.token);
    const [id] = await sendAll(
      discordSender,
      context,
      { chat: '5', thread: '7' },
      { markdown: 'Hi @everyone <@1>', buttons },
    );
    const { line, body } = discord.calls[0] ?? {};
    assert.equal(line, 'POST /channels/7/messages');
    assert.deepEqual(
      [body.content, body.allowed_mentions, body.flags],
      ['Hi @\u200beveryone \\<@1\\>', { parse: [] }, 4],
    );
    assert.deepEqual(body.components, [
      {
        type: 1,
        components: [
          { type: 2, label: 'Approve', style: 2, custom_id: 'msg_1.a' },
          { type: 2, label: 'Look', style: 5, url: 'https://ours.example/a' },
        ],
      },
    ]);
    await discordSender.edit(context, { chat: '5', thread: '7' }, id ?? '', {
      markdown: 'Allowed.',
      buttons: [],
    });
    assert.deepEqual([discord.messages[0]?.content, discord.messages[0]?.buttons], ['Allowed.', []]);
    assert.equal(await discordSender.edit(context, place, '1', { markdown: 'x' }), false);
  });

  it('comes in messages that it takes, in threads that it makes', async (t) => {
    const discord = await startDiscord(t);
    const context = contextOf(t, discord.url, DISCORD.token);
    await sendAll(discordSender, context, place, { markdown: 'a_b * c\n'.repeat(500) });
    assert.ok(discord.messages.length > 2);
    assert.ok(discord.messages.every(({ content }) => content.length <= 2_000));
    assert.equal(await discordSender.createTopic?.(context, '5', 'Plans', {}), '77');
    const topic = (name: string, options: object) =>
      refusalOf(discordSender.createTopic?.(context, '5', name, options) ?? Promise.resolve());
    assert.match((await topic('x'.repeat(101), {})).message, /at most 100 characters/);
    assert.match((await topic('Tea', { iconColor: 1 })).message, /no icons/);
    await discordSender.typing?.(context, place);
    assert.equal(discord.calls.at(-1)?.line, 'POST /channels/5/typing');
  });

  it('refuses for good, for now, or until a time that it says', async (t) => {
    const discord = await startDiscord(t);
    const context = contextOf(t, discord.url, DISCORD.token);
    const refused = () => refusalOf(discordSender.send(context, place, { markdown: 'x' }));
    discord.answer = () => ({ status: 403, body: { message: 'Missing Access', code: 50001 } });
    assert.deepEqual(await refused(), {
      status: 403,
      retryAfter: undefined,
      isFinal: true,
      message: 'Discord: Missing Access (50001)',
    });
    discord.answer = () => ({
      status: 429,
      body: { message: 'You are being rate limited.', retry_after: 0.65, global: false },
    });
    assert.deepEqual(await refused(), {
      status: 429,
      retryAfter: 650,
      isFinal: false,
      message: 'Discord: You are being rate limited.',
    });
    discord.answer = () => ({ status: 502 });
    assert.equal((await refused()).isFinal, false);
    const stranger = contextOf(t, discord.url, 'wrong');
    assert.equal((await refusalOf(discordSender.send(stranger, place, { markdown: 'x' }))).isFinal, false);
  });
});

describe('IN-4 what Telegram is told', () => {
  it('waits as long as it says, in its answer or in a header of what is before it', async (t) => {
    const telegram = await startTelegram(t);
    const context = contextOf(t, telegram.url, TOKEN);
    const refused = () => refusalOf(telegramSender.send(context, { chat: '1' }, { markdown: 'x' }));
    const busy = 'Too Many Requests: retry after 3';
    telegram.answer = () => refusal(429, busy, { retry_after: 3 });
    assert.equal((await refused()).retryAfter, 3_000);
    telegram.answer = () => ({ status: 429, headers: { 'retry-after': '7' }, body: {} });
    const { retryAfter, isFinal } = await refused();
    assert.deepEqual([retryAfter, isFinal], [7_000, false]);
  });
});

const photo = { name: 'a.png', type: 'image/png', bytes: Buffer.from('picture') };

describe('IN-4 files of a chat service', () => {
  it('Slack takes one in three steps into the thread, and gives those of its own hosts to this app alone', async (t) => {
    const slack = await startSlack(t);
    const context = contextOf(t, slack.url, SLACK.token);
    const place = { chat: 'C1', thread: '17.0' };
    const id = await slackSender.sendFile(context, place, photo);
    assert.equal(String(slack.files.get(id)), 'picture');
    const [message] = slack.messages;
    assert.deepEqual([message?.channel, message?.thread, message?.text], ['C1', '17.0', 'file a.png']);
    slack.answer = ({ method }) =>
      method === 'upload' ? { status: 429, headers: { 'retry-after': '4' }, body: {} } : undefined;
    assert.equal((await refusalOf(slackSender.sendFile(context, place, photo))).retryAfter, 4_000);
    slack.files.set('plan', Buffer.from('plan'));
    const at = (path: string) => ({ ...UNKNOWN, source: new URL(path, slack.url).href });
    assert.equal(String(await slackSender.fetchFile(context, at('/files/plan'))), 'plan');
    const hidden = await refusalOf(slackSender.fetchFile(context, at('/files/other')));
    assert.deepEqual([hidden.isFinal, /files:read/.test(hidden.message)], [true, true]);
    const elsewhere = await startSlack(t);
    elsewhere.files.set('plan', Buffer.from('plan'));
    for (const source of [
      `${elsewhere.url}/files/plan`,
      'https://slack.com.evil.example/x',
      'http://files.slack.com/x',
      '?',
    ])
      assert.equal((await refusalOf(slackSender.fetchFile(context, { ...UNKNOWN, source }))).isFinal, true);
    assert.deepEqual(elsewhere.calls, []);
  });

  it('Discord takes one with a message that mentions nobody, and gives those of its own hosts', async (t) => {
    const discord = await startDiscord(t);
    const context = contextOf(t, discord.url, DISCORD.token);
    await discordSender.sendFile(context, { chat: '5', thread: '6' }, photo);
    const [message] = discord.messages;
    assert.deepEqual([message?.channel, message?.file], ['6', photo]);
    const notice = JSON.parse(discord.calls[0]?.body.payload_json);
    assert.deepEqual(notice.allowed_mentions, { parse: [] });
    discord.files.set('/attachments/1/2/plan.txt', Buffer.from('plan'));
    const source = `${discord.url}/attachments/1/2/plan.txt`;
    assert.equal(String(await discordSender.fetchFile(context, { ...UNKNOWN, source })), 'plan');
    const far = { ...UNKNOWN, source: 'https://cdn.discordapp.com.evil.example/x' };
    assert.equal((await refusalOf(discordSender.fetchFile(context, far))).isFinal, true);
  });

  it('one that is too large for it, whatever it takes today, is refused for good', async (t) => {
    const discord = await startDiscord(t);
    discord.answer = () => ({ status: 413, body: { message: 'Request entity too large', code: 40005 } });
    const telegram = await startTelegram(t);
    telegram.answer = () => refusal(413, 'Request Entity Too Large');
    for (const [sender, context] of [
      [discordSender, contextOf(t, discord.url, DISCORD.token)],
      [telegramSender, contextOf(t, telegram.url, TOKEN)],
    ] as const)
      assert.equal((await refusalOf(sender.sendFile(context, { chat: '5' }, photo))).isFinal, true);
  });

  it('Telegram takes a picture as a photo, else as a document, and gives those that it has', async (t) => {
    const telegram = await startTelegram(t);
    const context = contextOf(t, telegram.url, TOKEN);
    telegram.answer = ({ method }) =>
      method === 'sendPhoto' && telegram.messages.length > 0
        ? refusal(400, 'Bad Request: PHOTO_INVALID_DIMENSIONS')
        : undefined;
    for (const file of [photo, photo, { ...photo, name: 'a.txt', type: 'text/plain' }])
      await telegramSender.sendFile(context, { chat: '-1', thread: '7' }, file);
    assert.deepEqual(
      telegram.messages.map(({ chat, thread, photo: picture, document }) => [
        chat,
        thread,
        picture?.name,
        document?.name,
      ]),
      [
        ['-1', 7, 'a.png', undefined],
        ['-1', 7, undefined, 'a.png'],
        ['-1', 7, undefined, 'a.txt'],
      ],
    );
    telegram.files.set('plan', Buffer.from('plan'));
    const file = (source: string) => telegramSender.fetchFile(context, { ...UNKNOWN, source });
    assert.equal(String(await file('plan')), 'plan');
    assert.equal((await refusalOf(file('none'))).isFinal, true);
  });
});
