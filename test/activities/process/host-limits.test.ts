/** SH-3, R11: limits of a command on the host. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tool } from '#activities/tools/runtime/exec.ts';
import { tool as processTool } from '#activities/tools/runtime/process.ts';
import { eventually } from '#test/support/processes.ts';
import { toolBench } from '#test/support/tool-call.ts';

describe('SH-3 a command on the host', () => {
  const limits = 'ulimit -c; ulimit -f; ulimit -t; cat /proc/self/oom_score_adj';

  test('makes no core dump and no file of more than 16 GiB, and goes first when memory is short', async (t) => {
    const bench = await toolBench(t);
    const result = await bench.run(tool, { command: limits });
    // bash counts files in KiB.
    assert.deepEqual(result, { ok: true, text: '0\n16777216\n3600\n1000' });
  });

  test('cannot raise a limit again over what it was given', async (t) => {
    const bench = await toolBench(t);
    const result = await bench.run(tool, { command: 'ulimit -S -c unlimited 2>&1; ulimit -c' });
    assert.match(result.ok ? result.text : result.message, /\n?0$/);
  });

  test('has them in the background too, but for its time', async (t) => {
    const bench = await toolBench(t);
    await bench.run(tool, { command: limits, background: true });
    const say = async (): Promise<string> => {
      const [only] = await bench.deps.processes.list({
        tenant: 'default',
        sessionKey: 'test',
        user: null,
      });
      const log = await bench.run(processTool, { action: 'log', id: only?.id });
      return log.ok ? log.text : '';
    };
    assert.ok(await eventually(async () => /1000/.test(await say())));
    assert.match(await say(), /^0\n16777216\nunlimited\n1000/);
  });
});
