/** wait: limits as in GoClaw, and a durable timer in place of a blocked worker (AP-6's principle). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tool } from '#activities/tools/automation/wait.ts';
import { toolBench } from '#test/support/tool-call.ts';

describe('TL wait', () => {
  test('starts a timer workflow named after the call and waits for that', async (t) => {
    const bench = await toolBench(t);
    const result = await bench.run(tool, { timeMs: '1500', reason: 'build' }, { callId: 'call_x' });
    assert.deepEqual(result.ok && result.child, {
      type: 'wait',
      id: 'wait/default/call_x',
      input: { ms: 1500 },
      wait: true,
    });
  });

  for (const timeMs of [99, 300_001, 1.5, 'soon', undefined])
    test(`${timeMs} ms are refused`, async (t) => {
      const bench = await toolBench(t);
      const result = await bench.run(tool, { timeMs });
      assert.equal(!result.ok && result.code, 'InvalidArgs');
    });
});
