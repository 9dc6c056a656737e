import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { discordReader } from '../discord/reader.ts';
import { slackReader } from '../slack/reader.ts';
import { discordAsk, discordPress } from './discord-server.ts';
import { slackMessage, slackPress } from '#test/support/slack-server.ts';

const channel = { key: 'ch', settings: {} };
const proven = { headers: {}, credentials: {} };

describe('IN-4 what Slack sends', () => {
  const read = (body: unknown) => slackReader.read(body, channel, proven);
  const first = (body: unknown) => read(body).inbound[0];

  it('answers the challenge of a new address', () => {
    const { inbound, reply } = read({ type: 'url_verification', challenge: '3eZbrw1aB', token: 'x' });
    assert.deepEqual([inbound, reply], [[], { status: 200, body: { challenge: '3eZbrw1aB' } }]);
  });

  it('a direct message is said to the bot, in no thread', () => {
    const body = slackMessage('Look at <https://a.example|the page> &amp; tell <@U7> &lt;now&gt;', {
      ts: '17.1',
    });
    assert.deepEqual(first(body), {
      kind: 'message',
      id: 'D1.17.1',
      chat: 'D1',
      thread: undefined,
      isGroup: false,
      person: { id: 'U42', name: 'U42' },
      text: 'Look at the page (https://a.example) & tell @U7 <now>',
      mentionsBot: false,
      repliesToBot: false,
      files: [],
    });
  });

  it('somebody of another workspace has its id before his own, whether he writes or presses', () => {
    const person = (event: object) => first(slackMessage('hi', { ts: '17.1', ...event }))?.person.id;
    assert.deepEqual(
      [person({}), person({ user_team: 'T1' }), person({ user_team: 'T2' }), person({ team: 'T2' })],
      ['U42', 'U42', 'T2/U42', 'T2/U42'],
    );
  });

  it('a mention begins a thread, and is one thing though it is told as two events', () => {
    const event = { channel: 'C1', channel_type: 'channel', ts: '17.2' };
    const inbound = first(slackMessage('<@U0BOT> deploy', event));
    const mentioned = first(slackMessage('<@U0BOT> deploy', { ...event, type: 'app_mention' }));
    assert.deepEqual(inbound, mentioned);
    assert.deepEqual(
      [inbound?.id, inbound?.thread, inbound?.isGroup, inbound?.mentionsBot, inbound?.text],
      ['C1.17.2', '17.2', true, true, 'deploy'],
    );
    assert.deepEqual(first(slackMessage('<@U0BOT|agent> deploy', event)), inbound, 'with its name');
    assert.equal(first(slackMessage('<@U0BOTTLE> deploy', event))?.mentionsBot, false);
  });

  it('an answer in a thread that the bot began is said to it', () => {
    const event = { channel: 'C1', channel_type: 'channel', thread_ts: '17.0', parent_user_id: 'U0BOT' };
    const answer = first(slackMessage('and then?', event));
    assert.deepEqual([answer?.thread, answer?.repliesToBot, answer?.mentionsBot], ['17.0', true, false]);
  });

  it('has the files of a message, but those that it does not show', () => {
    const pdf = {
      id: 'F1',
      name: 'a.pdf',
      mimetype: 'application/pdf',
      size: 7,
      url_private: 'https://files.slack.com/a',
    };
    const files = [pdf, { id: 'F2', mode: 'tombstone' }];
    assert.deepEqual(first(slackMessage('', { subtype: 'file_share', files }))?.files, [
      { source: 'https://files.slack.com/a', name: 'a.pdf', type: 'application/pdf', size: 7 },
    ]);
    assert.deepEqual(read(slackMessage('', { subtype: 'file_share', files: files.slice(1) })).inbound, []);
  });

  it('hears neither bots nor changes nor what is none of its own', () => {
    for (const event of [
      { bot_id: 'B1' },
      { user: 'U0BOT' },
      { subtype: 'message_changed' },
      { subtype: 'bot_message' },
      { type: 'reaction_added' },
      { user: undefined },
      { channel: 7 },
    ])
      assert.deepEqual(read(slackMessage('x', event)).inbound, [], JSON.stringify(event));
    for (const body of [null, 7, [], {}, { type: 'event_callback' }, 'payload=%7B', 'payload=null', 'x'])
      assert.deepEqual(read(body).inbound, [], JSON.stringify(body));
  });

  it('a press is known by who pressed what', () => {
    const message = {
      ts: '17.3',
      channel: 'C1',
      thread: '17.0',
      text: 'Allow?',
      buttons: [{ text: { text: 'Approve' }, value: 'msg_1.a' }],
      edits: 0,
    };
    const { thread: _, ...outside } = message;
    const [below] = read(slackPress({ ...outside, thread: undefined }, 'Approve')).inbound;
    assert.equal(below?.thread, '17.3');
    const { inbound, reply } = read(slackPress(message, 'Approve', 'U43'));
    const [press] = inbound;
    assert.deepEqual(reply, { status: 200, body: '' });
    assert.match(press?.id ?? '', /^C1\.17\.3\./);
    assert.deepEqual(
      [press?.kind, press?.chat, press?.thread, press?.person, press?.press],
      ['press', 'C1', '17.0', { id: 'U43', name: 'ann' }, { data: 'msg_1.a' }],
    );
  });
});

describe('IN-4 what Discord sends', () => {
  const read = (body: unknown) => discordReader.read(body, channel, proven);

  it('answers a ping', () => {
    assert.deepEqual(read({ id: '1', type: 1 }), { inbound: [], reply: { status: 200, body: { type: 1 } } });
  });

  it('a question of /ask, which the others of the channel are shown', () => {
    const { inbound, reply } = read(discordAsk('say @everyone hi'));
    const [request] = inbound;
    assert.deepEqual(
      [
        request?.kind,
        request?.chat,
        request?.thread,
        request?.isGroup,
        request?.mentionsBot,
        request?.person,
        request?.text,
      ],
      ['command', '5', undefined, true, true, { id: '42', name: 'Ann Lee' }, 'say @everyone hi'],
    );
    assert.deepEqual(reply?.body, {
      type: 4,
      data: { content: '> say @\u200beveryone hi', flags: 0, allowed_mentions: { parse: [] } },
    });
  });

  it('a question that is too long to be shown ends within no character, because Discord takes no half of one', () => {
    const shown = ['', 'a'].map(
      (more) => read(discordAsk(`${more}${'\u{1f600}'.repeat(1_500)}`)).reply?.body as any,
    );
    assert.deepEqual(
      shown.map(({ data }) => [data.content.length, data.content.isWellFormed()]),
      [
        [2_000, true],
        [2_000, true],
      ],
    );
  });

  it('a thread is one of its channel, and a direct message has nobody else', () => {
    const [inThread] = read(discordAsk('x', { channel: { id: '7', type: 11, parent_id: '5' } })).inbound;
    assert.deepEqual([inThread?.chat, inThread?.thread], ['5', '7']);
    const { member, guild_id: _, ...call } = discordAsk('x', { channel: { id: '8', type: 1 } }) as any;
    const [direct] = read({ ...call, user: member.user }).inbound;
    assert.deepEqual([direct?.chat, direct?.isGroup, direct?.person.id], ['8', false, '42']);
  });

  it('a press is known by who pressed what, and is answered to him alone', () => {
    const message = {
      id: '900',
      channel: '5',
      content: 'x',
      buttons: [{ label: 'Approve', custom_id: 'msg_1.a' }],
      edits: 0,
    };
    const { inbound, reply } = read(discordPress(message, 'Approve', '43'));
    const [press] = inbound;
    assert.deepEqual(
      [press?.kind, press?.person.id, press?.press?.data, reply?.body],
      ['press', '43', 'msg_1.a', { type: 6 }],
    );
    assert.ok(press);
    const answer = discordReader.answer?.(press, 'It is approved.').body;
    assert.deepEqual(answer, {
      type: 4,
      data: { content: 'It is approved.', flags: 64, allowed_mentions: { parse: [] } },
    });
  });

  it('is of no use otherwise', () => {
    for (const body of [
      null,
      7,
      'x',
      [],
      {},
      { type: 2 },
      { type: 3, id: '1' },
      { ...discordAsk('x'), type: 4 },
    ])
      assert.deepEqual(read(body).inbound, [], JSON.stringify(body));
    assert.deepEqual(read(discordAsk('')).inbound, []);
  });
});
