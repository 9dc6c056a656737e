import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OwnChannels } from '../activities/own-channels.ts';
import { tool } from '../tools/create-forum-topic.ts';
import { toolCall } from '#test/support/tool-call.ts';
import { toolError } from '#domain/tool.ts';

describe('the tool create_forum_topic', () => {
  const made: unknown[] = [];
  const channels = (answer: string | ReturnType<typeof toolError>): OwnChannels => ({
    target: async (_call, _channel, place) => ({ channel: { key: 'tg' } as never, place }),
    say: async () => undefined,
    createTopic: async (_call, { place }, name, options) => {
      made.push([place.chat, name, options.iconColor]);
      return answer;
    },
  });
  const run = (args: object, answer: string | ReturnType<typeof toolError> = '7') =>
    tool.run(
      { channels: channels(answer) },
      tool.input.parse({ chat_id: '-1001', name: 'Tea', ...args }),
      toolCall('/ws', { channel: 'tg', chatId: '-1001' }),
    );

  test('creates one and says how its chat is called', async () => {
    const result = await run({ icon_color: 7322096 });
    assert.ok(result.ok && result.text.includes('-1001/7'));
    assert.deepEqual(made.splice(0), [['-1001', 'Tea', 7322096]]);
  });

  test('takes the colours that the service has, and says what the service says', async () => {
    const wrong = await run({ icon_color: 1 });
    assert.ok(!wrong.ok && wrong.code === 'InvalidArgs');
    assert.deepEqual(made.splice(0), []);
    const refused = await run({}, toolError('ExecutionFailed', 'Telegram: not enough rights'));
    assert.ok(!refused.ok && refused.message.includes('not enough rights'));
    assert.equal(tool.replay, 'once');
  });
});
