import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Frame, readFrames } from '#cli/follow.ts';

function responseOf(...chunks: (string | Uint8Array)[]): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks)
        controller.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk);
      controller.close();
    },
  });
  return new Response(body);
}

describe('IN-2 the event stream reader', () => {
  test('reads the same frames wherever the chunks are cut', async () => {
    const lines = ['retry: 50', '', ': heartbeat', '', 'id: 7', 'data: {"a":', 'data: "é"}', '', ''];
    const bytes = new TextEncoder().encode(lines.join('\n'));
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const frames: Frame[] = [];
      const retries: number[] = [];
      const received = { bytes: () => undefined, retry: (ms: number) => retries.push(ms) };
      for await (const frame of readFrames(responseOf(bytes.slice(0, cut), bytes.slice(cut)), received))
        frames.push(frame);
      assert.deepEqual([frames, retries], [[{ id: 7, body: { a: 'é' } }], [50]], `cut at ${cut}`);
    }
  });

  test('refuses a line without end', async () => {
    const megabyte = 'x'.repeat(1024 * 1024);
    await assert.rejects(async () => {
      for await (const _frame of readFrames(responseOf('data: ', ...Array<string>(9).fill(megabyte))))
        assert.fail('a frame came');
    }, /not an event feed/);
  });
});
