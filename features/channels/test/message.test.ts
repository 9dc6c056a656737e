import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MediaTools } from '#features/media/reading/media-reading-tools.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import type { OwnChannels } from '../activities/own-channels.ts';
import { tool } from '../tools/message.ts';
import { readArguments } from '#policy/read-arguments.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { toolCall } from '#test/support/tool-call.ts';
import { toolError } from '#domain/tool.ts';
import { FileProblem } from '#activities/workspace/file-problem.ts';

type Call = Partial<RunningCall>;
type Bench = MediaTools & {
  readonly channels: OwnChannels;
  readonly keepFile: NonNullable<ToolDeps['keepFile']>;
};

/** What was posted where; `refused` must not be reached. */
function bench(lines: string[], refused?: string): Bench {
  return {
    media: {
      open: async (_call: unknown, ref: string) => {
        if (ref === 'gone.txt') throw new FileProblem('FileNotFound', 'there is no gone.txt');
        return { ref, name: ref, type: 'text/plain', bytes: Buffer.from(ref) };
      },
    } as never,
    keepFile: async (_call, { name }) => ({ name }) as never,
    channels: {
      target: async (_call, channel = 'tg', place) =>
        place.chat === refused
          ? toolError('PermissionDenied', 'no')
          : { channel: { key: channel } as never, place },
      say: async (_call, { channel, place }, words, files = []) =>
        void lines.push(
          [
            `${channel.key} ${place.chat} ${place.thread ?? ''}: ${words}`,
            ...files.map(({ name }) => name),
          ].join(' + '),
        ),
      createTopic: async () => '7',
    },
  };
}

const run = (deps: Bench, args: object, call: Call = {}) =>
  tool.run(deps, tool.input.parse(args), toolCall('/ws', { channel: 'tg', chatId: '42', ...call }));

describe('the tool message', () => {
  test('speaks in the chat of its conversation, and in its thread', async () => {
    const lines: string[] = [];
    assert.ok((await run(bench(lines), { message: 'Soon.' })).ok);
    assert.ok((await run(bench(lines), { message: 'Soon.' }, { chatId: '-1/7' })).ok);
    assert.deepEqual(lines, ['tg 42 : Soon.', 'tg -1 7: Soon.']);
  });

  test('speaks elsewhere only on the wish of its user, and where that may be', async () => {
    const lines: string[] = [];
    const other = { message: 'Hi.', target: '43' };
    for (const args of [
      other,
      { ...other, forward: true },
      { ...other, forward: true, forward_reason: ' ' },
    ]) {
      const refused = await run(bench(lines), args);
      assert.ok(!refused.ok && refused.code === 'InvalidArgs');
    }
    const wished = { ...other, forward: true, forward_reason: 'tell Bob hi' };
    const denied = await run(bench(lines, '43'), wished);
    assert.ok(!denied.ok && denied.code === 'PermissionDenied');
    assert.ok((await run(bench(lines), wished)).ok);
    assert.deepEqual(lines, ['tg 43 : Hi.']);
  });

  test('sends files along, and nothing when one of them is not to be had', async () => {
    const lines: string[] = [];
    const ok = await run(bench(lines), { message: 'Here.', media: ['a.pdf', 'artifact:art_1'] });
    assert.ok(ok.ok);
    const gone = await run(bench(lines), { message: 'Here.', media: ['a.pdf', 'gone.txt'] });
    assert.ok(!gone.ok && gone.code === 'FileNotFound');
    const far = await run(bench(lines), { message: 'Here.', media: ['https://a.example/x'] });
    assert.ok(!far.ok && far.code === 'InvalidArgs');
    assert.deepEqual(lines, ['tg 42 : Here. + a.pdf + artifact:art_1']);
  });

  test('understands the words of clawft', () => {
    const read = readArguments(tool, undefined, { channel: 'tg', chat_id: '42', content: 'Soon.' });
    assert.deepEqual(read.ok && read.args, { channel: 'tg', target: '42', message: 'Soon.' });
  });

  test('is nothing without words, for a subagent, or where there is no chat', async () => {
    const lines: string[] = [];
    assert.ok(!(await run(bench(lines), { message: '  ' })).ok);
    assert.ok(!(await run(bench(lines), { message: 'x' }, { chatId: null })).ok);
    assert.ok(!(await run(bench(lines), { message: 'x' }, { subagent: { depth: 1 } as never })).ok);
    assert.deepEqual(lines, []);
  });
});
