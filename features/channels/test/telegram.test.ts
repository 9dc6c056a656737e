import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { telegramReader } from '../telegram/reader.ts';
import { TOKEN, textUpdate } from '#test/support/telegram-server.ts';

const channel = { key: 'tg', settings: { username: '@OurBot' } };
const request = (secret?: string | string[]) => ({
  headers: { 'x-telegram-bot-api-secret-token': secret },
  body: Buffer.from('{}'),
});
const read = (update: object) =>
  telegramReader.read(update, channel, { headers: {}, credentials: { token: TOKEN } }).inbound;

describe('IN-4 what Telegram sends', () => {
  it('is believed with the secret of its channel alone', () => {
    const verify = (secret?: string | string[], of = 'right') =>
      telegramReader.verify(request(secret) as never, { secret_token: of }, 0, {});
    assert.ok(verify('right'));
    for (const wrong of ['wrong', '', 'right ', undefined, ['right', 'right']]) assert.ok(!verify(wrong));
    assert.ok(!verify('', ''));
  });

  it('is a message with its place, its person and whether the bot is meant', () => {
    const [inbound] = read(textUpdate('hey @ourbot tea?', { group: true, chat: -1001, topic: 7, update: 5 }));
    assert.deepEqual(
      [
        inbound?.id,
        inbound?.chat,
        inbound?.thread,
        inbound?.isGroup,
        inbound?.person,
        inbound?.text,
        inbound?.mentionsBot,
      ],
      ['5', '-1001', '7', true, { id: '42', name: 'Ann Lee' }, 'hey  tea?', true],
    );
    const [other] = read(textUpdate('hey @ourbotter', { group: true, chat: -1001 }));
    assert.deepEqual([other?.mentionsBot, other?.thread], [false, undefined]);
  });

  it('is no mention where the name is part of an address or of code, and is one by the bot’s id', () => {
    const group = { group: true, chat: -1001 } as const;
    const mentions = (text: string, entities: readonly object[] = []) => {
      const [inbound] = read(textUpdate(text, { ...group, more: { entities } }));
      return [inbound?.mentionsBot, inbound?.text];
    };
    for (const text of ['see https://t.me/@OurBot', 'https://x.example/?to=@ourbot', 'mail ann@ourbot'])
      assert.deepEqual(mentions(text), [false, text]);
    const code = [{ type: 'code', offset: 4, length: 7 }];
    assert.deepEqual(mentions('run @ourbot', code), [false, 'run @ourbot']);
    const byId = (id: number) => [{ type: 'text_mention', offset: 0, length: 7, user: { id, is_bot: true } }];
    assert.deepEqual(mentions('Our Bot tea?', byId(4711)), [true, 'tea?']);
    assert.deepEqual(mentions('Our Bot tea?', byId(4712)), [false, 'Our Bot tea?']);
  });

  it('does not take the message that made a topic for an answer to the bot', () => {
    const bot = { id: 4711, is_bot: true, username: 'OurBot' };
    const answers = (more: object) =>
      read(textUpdate('x', { group: true, chat: -1, more: { reply_to_message: { from: bot, ...more } } }))[0]
        ?.repliesToBot;
    assert.equal(answers({ text: 'Tea?' }), true);
    assert.equal(answers({ forum_topic_created: { name: 'Tea' } }), false);
  });

  it('has commands, unless they are for another bot', () => {
    const [command] = read(textUpdate('/ask@ourbot what now'));
    assert.deepEqual([command?.kind, command?.text], ['command', 'what now']);
    assert.deepEqual(read(textUpdate('/ask@another what now')), []);
  });

  it('has its files, a photo in its largest size, and knows what is forwarded', () => {
    const photo = [
      { file_id: 'small', file_size: 10 },
      { file_id: 'large', file_size: 99 },
    ];
    const document = { file_id: 'doc', file_name: 'a.pdf', mime_type: 'application/pdf', file_size: 7 };
    const [inbound] = read(textUpdate('', { more: { caption: 'look', photo, document } }));
    assert.deepEqual([inbound?.text, inbound?.isForwarded], ['look', false]);
    assert.deepEqual(inbound?.files, [
      { source: 'large', name: undefined, type: undefined, size: 99 },
      { source: 'doc', name: 'a.pdf', type: 'application/pdf', size: 7 },
    ]);
    const [passed] = read(textUpdate('x', { more: { forward_origin: { type: 'hidden_user' } } }));
    assert.equal(passed?.isForwarded, true);
  });

  it('is nothing when it is something else, or nonsense', () => {
    const bot = { from: { id: 1, is_bot: true, first_name: 'B' } };
    for (const update of [
      {},
      { update_id: 'x' },
      { update_id: 1, edited_message: {} },
      textUpdate('x', { more: bot }),
    ])
      assert.deepEqual(read(update), []);
    assert.deepEqual(read({ update_id: 1, callback_query: { id: 'q', data: 'x' } }), []);
    assert.deepEqual(read([] as never), []);
  });
});
