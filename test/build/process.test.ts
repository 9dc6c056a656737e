/** process: background commands of a session, which outlive the worker that started them. */
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createBackgroundCommands, endBackgroundCommands } from '@tempoclaw/sandbox';
import { OWN_NAME } from '#activities/process/own-names.ts';
import { type Processes, sessionProcesses } from '#activities/process/session-processes.ts';
import { tool as exec } from '#activities/tools/runtime/exec.ts';
import { tool } from '#activities/tools/runtime/process.ts';
import type { ToolResult } from '#domain/tool.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { type Bench, toolBench } from '#test/support/tool-call.ts';

function words(result: ToolResult): string {
  return result.ok ? result.text : `${result.code}: ${result.message}`;
}

async function start(bench: Bench, command: string): Promise<string> {
  const result = await bench.run(exec, { command, background: true });
  const id = /proc_[0-9a-f]{12}/.exec(words(result))?.[0];
  assert.ok(id, words(result));
  return id;
}

async function shows(bench: Bench, id: string, pattern: RegExp): Promise<void> {
  let seen = '';
  const found = await eventually(async () => {
    seen = words(await bench.run(tool, { action: 'poll', id }));
    return pattern.test(seen);
  });
  assert.ok(found, `${pattern} in ${seen}`);
}

/** Those of another worker. */
function processesIn(dir: string): Processes {
  const options = { name: OWN_NAME, dir, environment: { PATH: '/bin' }, now: Date.now };
  return sessionProcesses(createBackgroundCommands(options));
}

describe('TL process', () => {
  test('a background command is listed, fed, read to its end and its exit code', async (t) => {
    const bench = await toolBench(t);
    const id = await start(
      bench,
      'echo ready; while read line; do echo "got $line"; done; echo over; exit 7',
    );
    await shows(bench, id, /running\nready/);
    assert.match(words(await bench.run(tool, { action: 'list' })), new RegExp(`^${id} running, pid \\d+`));
    assert.match(words(await bench.run(tool, { action: 'write', id, data: 'a\nb\n' })), /Wrote 4 bytes/);
    await shows(bench, id, /got a\ngot b/);
    await bench.run(tool, { action: 'write', id, eof: true });
    await shows(bench, id, /ended with exit code 7\nready\ngot a\ngot b\nover$/);
    assert.match(words(await bench.run(tool, { action: 'write', id, data: 'x' })), /^ExecutionFailed/);
    // The process that stores its output may end an instant after it.
    const kill = async (): Promise<string> => words(await bench.run(tool, { action: 'kill', id }));
    assert.ok(await eventually(async () => /had ended already/.test(await kill())));
    assert.match(words(await bench.run(tool, { action: 'log', id, offset: 6 })), /^got a\n.*\[bytes 6 to/s);
  });

  test('kill ends it with all it started, sessions of their own too', async (t) => {
    const bench = await toolBench(t, { graceMs: 300 });
    const seconds = uniqueSeconds();
    const id = await start(bench, `trap '' TERM; (setsid sleep ${seconds} &); sleep ${seconds}`);
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length >= 2));
    assert.match(words(await bench.run(tool, { action: 'kill', id })), /^Killed/);
    assert.deepEqual(runningWith(seconds), []);
    // What records its exit code may be killed after it.
    assert.match(words(await bench.run(tool, { action: 'list' })), /killed|exit code 137/);
  });

  test('another session, tenant or person does not see it', async (t) => {
    const bench = await toolBench(t, { graceMs: 100 });
    const id = await start(bench, 'sleep 60');
    for (const other of [{ sessionKey: 'other' }, { tenant: 'other' }, { user: 'bob' }]) {
      assert.equal(words(await bench.run(tool, { action: 'list' }, other)), '(no background processes)');
      for (const action of ['poll', 'log', 'write', 'kill'])
        assert.match(words(await bench.run(tool, { action, id, data: 'x' }, other)), /^NotFound/);
    }
    for (const hostile of ['../x', 'proc_000000000000/../..', id.toUpperCase()])
      assert.match(words(await bench.run(tool, { action: 'log', id: hostile })), /^NotFound/);
  });

  test('it outlives its worker: another one goes on with it', async (t) => {
    const bench = await toolBench(t, { graceMs: 100 });
    const id = await start(bench, 'read line; echo "then $line"; sleep 60');
    const other = processesIn(join(bench.base, 'processes'));
    const owner = { tenant: 'default', sessionKey: 'test', user: null };
    assert.equal(await other.write(owner, id, 'more\n', false), true);
    assert.ok(await eventually(async () => (await other.log(owner, id, 0, 100))?.text === 'then more\n'));
    assert.equal(await other.killSession('default', 'test'), 1);
    assert.equal((await other.find(owner, id))?.running, false);
  });

  test('a worker that ends takes its own with it; those of another stay until all are ended', async (t) => {
    const bench = await toolBench(t, { graceMs: 100 });
    const [mine, others] = [uniqueSeconds(), uniqueSeconds()];
    // The command itself ends at once; what it left is ended too.
    await start(bench, `(sleep ${mine} &)`);
    const dir = join(bench.base, 'processes');
    const another = processesIn(dir);
    const call = { tenant: 'default', sessionKey: 'else', user: null, idempotencyKey: 'one' };
    await another.start(call, { command: `sleep ${others}`, cwd: bench.base, pwd: bench.base });
    assert.ok(
      await eventually(() => [mine, others].every((text) => runningWith(`sleep ${text}`).length > 0)),
    );
    assert.equal(await bench.deps.processes.stopOwn(), 1);
    assert.deepEqual(runningWith(`sleep ${mine}`), []);
    assert.notDeepEqual(runningWith(`sleep ${others}`), []);
    assert.equal(await endBackgroundCommands(dir, OWN_NAME), 1);
    assert.deepEqual(runningWith(`sleep ${others}`), []);
  });

  test('at most ten run at once in a session', async (t) => {
    const bench = await toolBench(t, { graceMs: 100 });
    for (let count = 0; count < 10; count += 1) await start(bench, 'sleep 60');
    const refused = words(await bench.run(exec, { command: 'sleep 60', background: true }));
    assert.match(refused, /^ExecutionFailed: 10 background processes run in this session/);
    assert.match(
      words(await bench.run(exec, { command: 'sleep 60', background: true }, { sessionKey: 'b' })),
      /^Started/,
    );
  });

  test('endless output stays within a few files of fixed size', async (t) => {
    const bench = await toolBench(t, { graceMs: 100 });
    const id = await start(bench, 'yes');
    const folder = async (): Promise<string> => {
      const names = await readdir(join(bench.base, 'processes'), { recursive: true });
      return join(bench.base, 'processes', names.find((name) => name.endsWith(id)) ?? '');
    };
    const at = await folder();
    const isFar = async (): Promise<boolean> =>
      (await readdir(at)).some((name) => /^out\.([4-9]|\d\d+)$/.test(name));
    assert.ok(await eventually(isFar, 20_000));
    await bench.run(tool, { action: 'kill', id });
    const sizes = await Promise.all(
      (await readdir(at)).map(async (name) => (await stat(join(at, name))).size),
    );
    assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 3 * 4 * 1024 * 1024 + 64 * 1024, String(sizes));
    assert.match(
      words(await bench.run(tool, { action: 'log', id, offset: 0 })),
      /older output is no longer kept/,
    );
    assert.match(words(await bench.run(tool, { action: 'poll', id })), /y\ny$/);
  });

  test('input that nobody reads does not hold the worker', async (t) => {
    const bench = await toolBench(t, { graceMs: 100 });
    const id = await start(bench, 'sleep 60');
    // More than a pipe accepts.
    const results = [];
    for (let count = 0; count < 2; count += 1)
      results.push(words(await bench.run(tool, { action: 'write', id, data: 'x'.repeat(65_000) })));
    assert.match(results.at(-1) ?? '', /does not read its input/);
  });

  test('an action without what it needs is refused in words', async (t) => {
    const bench = await toolBench(t);
    assert.match(words(await bench.run(tool, { action: 'poll' })), /^InvalidArgs: id: is required/);
    assert.match(words(await bench.run(tool, { action: 'shout' })), /^InvalidArgs/);
    assert.match(words(await bench.run(tool, { action: 'kill', id: 'proc_000000000000' })), /^NotFound/);
  });
});
