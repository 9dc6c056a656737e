/** SH-3, SH-5: background commands of an agent in a box run in it, and are listed and ended as on the host. */
import assert from 'node:assert/strict';
import { after, describe } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { tool as exec } from '#activities/tools/runtime/exec.ts';
import { tool as processTool } from '#activities/tools/runtime/process.ts';
import { sandboxOf } from '#domain/sandbox.ts';
import type { ToolResult } from '#domain/tool.ts';
import { engineTests, findEngine, testBoxes } from '#test/support/container-engine.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { toolBench } from '#test/support/tool-call.ts';

const { test, stop } = engineTests(await findEngine());
after(stop);

const sandbox = sandboxOf({ mode: 'required' }, undefined);
assert.ok(sandbox);
const boxed = { sandbox, mount: '/workspace' };

function words(result: ToolResult): string {
  return result.ok ? result.text : `${result.code}: ${result.message}`;
}

function idOf(result: ToolResult): string {
  const id = /proc_[0-9a-f]{12}/.exec(words(result))?.[0];
  assert.ok(id, words(result));
  return id;
}

/** Counts the sleep itself, not what contains its text. */
function sleeping(seconds: string): number {
  return runningWith(`sleep ${seconds}`).length;
}

describe('SH-3 a background command in a box', () => {
  test('runs in it, beside other commands of the session, and its output is read', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    const command = 'pwd; id -u; while [ ! -e go ]; do sleep 0.1; done; echo went; echo oops >&2; exit 3';
    const id = idOf(await bench.run(exec, { command, background: true }, boxed));
    const poll = async (): Promise<string> =>
      words(await bench.run(processTool, { action: 'poll', id }, boxed));
    assert.ok(
      await eventually(async () => /running\n\/workspace\n[1-9]\d*$/.test(await poll())),
      await poll(),
    );
    await bench.run(exec, { command: 'touch /workspace/go' }, boxed);
    assert.ok(await eventually(async () => /ended with exit code 3/.test(await poll())), await poll());
    // The order in which the two streams are read is undefined.
    assert.match(await poll(), /went/);
    assert.match(await poll(), /oops/);
  });

  test('takes input and its end', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    const id = idOf(
      await bench.run(exec, { command: 'read a; echo "got $a"; cat; echo over', background: true }, boxed),
    );
    const act = async (args: object): Promise<string> =>
      words(await bench.run(processTool, { id, ...args }, boxed));
    assert.match(await act({ action: 'write', data: 'one\n' }), /Wrote 4 bytes/);
    assert.ok(await eventually(async () => /got one/.test(await act({ action: 'poll' }))));
    await act({ action: 'write', data: 'two\n', eof: true });
    assert.ok(
      await eventually(async () => /exit code 0[\s\S]*two[\s\S]*over/.test(await act({ action: 'poll' }))),
    );
  });

  test('is ended in the box when it is killed, with all that it started', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    const seconds = uniqueSeconds();
    const command = `(env -i setsid sh -c 'sleep ${seconds} & exit' &); trap '' TERM; sleep ${seconds}`;
    const id = idOf(await bench.run(exec, { command, background: true }, boxed));
    assert.ok(await eventually(() => sleeping(seconds) > 1));
    assert.match(words(await bench.run(processTool, { action: 'kill', id }, boxed)), /^Killed/);
    assert.equal(sleeping(seconds), 0);
  });

  test('is ended in the box whenever it is killed, also while it is being started', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    await bench.run(exec, { command: 'true' }, boxed);
    for (const wait of [0, 100, 200, 300, 400, 600]) {
      const seconds = uniqueSeconds();
      const id = idOf(await bench.run(exec, { command: `sleep ${seconds}`, background: true }, boxed));
      await pause(wait);
      await bench.run(processTool, { action: 'kill', id }, boxed);
      assert.equal(sleeping(seconds), 0, `killed ${wait} ms after its start`);
    }
  });

  test('is left alone by the end and the time-out of other commands', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address), graceMs: 300 });
    const command = 'while :; do echo tick; sleep 0.2; done';
    const id = idOf(await bench.run(exec, { command, background: true }, boxed));
    await bench.run(exec, { command: 'sleep 60', timeout: 0.3 }, boxed);
    await bench.run(exec, { command: 'sleep 60 &' }, boxed);
    assert.match(words(await bench.run(processTool, { action: 'poll', id }, boxed)), /running/);
  });
});
