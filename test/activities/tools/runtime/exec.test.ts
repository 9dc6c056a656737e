/** SH-5, F12, F14: commands answer as in GoClaw, are limited in time and output, and leave nothing running. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { tool } from '#activities/tools/runtime/exec.ts';
import type { ToolResult } from '#domain/tool.ts';
import { createCatalog } from '#policy/catalog.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { toolBench } from '#test/support/tool-call.ts';

function words(result: ToolResult): string {
  return result.ok ? result.text : result.message;
}

describe('TL exec texts', () => {
  const cases: readonly (readonly [string, ToolResult])[] = [
    ['printf hi', { ok: true, text: 'hi' }],
    ['true', { ok: true, text: '(command completed with no output)' }],
    ['echo out; echo err >&2', { ok: true, text: 'out\n\nSTDERR:\nerr' }],
    ['echo no >&2; exit 3', { ok: false, code: 'ExecutionFailed', message: 'STDERR:\nno\nExit code: 3' }],
    ['kill -9 $$', { ok: false, code: 'ExecutionFailed', message: 'command was ended by signal SIGKILL' }],
    ["printf '\\033[31mred\\033[0m a\\000b'", { ok: true, text: 'red ab' }],
    ['cat', { ok: true, text: '(command completed with no output)' }],
  ];
  for (const [command, expected] of cases)
    test(`${command} gives ${JSON.stringify(expected)}`, async (t) => {
      const bench = await toolBench(t);
      assert.deepEqual(await bench.run(tool, { command }), expected);
    });

  test('a time-out says how long was allowed, as upstream does', async (t) => {
    const bench = await toolBench(t, { graceMs: 200 });
    const result = await bench.run(tool, { command: 'echo begun; sleep 60', timeout: 0.3 });
    assert.deepEqual(result, {
      ok: false,
      code: 'Timeout',
      message: 'begun\ncommand timed out after 0.3s',
    });
  });

  test('it runs in the workspace or a folder of it, and in no other', async (t) => {
    const bench = await toolBench(t);
    await mkdir(join(bench.workspace, 'sub'), { recursive: true });
    await writeFile(join(bench.workspace, 'f.txt'), '');
    const real = await realpath(bench.workspace);
    assert.equal(words(await bench.run(tool, { command: 'pwd -P' })).trim(), real);
    assert.equal(
      words(await bench.run(tool, { command: 'pwd', working_dir: 'sub' })).trim(),
      join(real, 'sub'),
    );
    for (const [working_dir, code] of [
      ['..', 'InvalidPath'],
      ['/etc', 'InvalidPath'],
      ['none', 'FileNotFound'],
      ['f.txt', 'InvalidPath'],
      ['f.txt/sub', 'FileNotFound'],
    ] as const) {
      const result = await bench.run(tool, { command: 'pwd', working_dir });
      assert.equal(!result.ok && result.code, code);
    }
  });

  test('empty commands and NUL are refused', async (t) => {
    const bench = await toolBench(t);
    for (const command of ['', '  ', 'echo a\0b']) {
      const result = await bench.run(tool, { command });
      assert.equal(!result.ok && result.code, 'InvalidArgs');
    }
  });
});

describe('R7 the environment of a command', () => {
  test('holds nothing of ours but the marks', async (t) => {
    process.env['OPENAI_API_KEY'] = 'canary-key';
    process.env['DATABASE_URL'] = 'postgres://canary';
    t.after(() => {
      delete process.env['OPENAI_API_KEY'];
      delete process.env['DATABASE_URL'];
    });
    const bench = await toolBench(t);
    const text = words(await bench.run(tool, { command: 'env' }));
    assert.doesNotMatch(text, /canary/);
    const names = text.split('\n').map((line) => line.split('=')[0]);
    assert.deepEqual(names.filter((name) => name?.startsWith('TEMPOCLAW_')).toSorted(), [
      'TEMPOCLAW_CALL',
      'TEMPOCLAW_WORKER',
    ]);
  });
});

describe('TL exec time limits', () => {
  const limit = (name: string, args: Record<string, unknown>, standard = 60): number => {
    const read = createCatalog([tool]).parse(name, { command: 'x', ...args });
    assert.ok(read.ok);
    const { timeoutSeconds } = tool.limits;
    assert.ok(typeof timeoutSeconds === 'function');
    // Ten seconds are added for ending the command.
    return timeoutSeconds(read.input as never, { timeoutSeconds: standard }) - 10;
  };

  test('of more than 300 s are cut to it, which the model is told', async (t) => {
    const bench = await toolBench(t);
    const message = words(await bench.run(tool, { command: 'echo hi', timeout: 900 }));
    assert.match(message, /^hi\n+\[timeout 900 was cut to 300 s, .*background/);
    assert.equal(words(await bench.run(tool, { command: 'echo hi', timeout: 300 })).trim(), 'hi');
  });

  test('are 60 s, the agent’s own, 30 s under exec_shell, and 300 s at most', () => {
    assert.equal(limit('exec', {}), 60);
    assert.equal(limit('exec', {}, 120), 120);
    assert.equal(limit('bash', {}), 60);
    assert.equal(limit('exec_shell', {}), 30);
    assert.equal(limit('exec_shell', { timeout: 45 }), 45);
    assert.equal(limit('exec', { timeout: 4_000 }), 300);
    assert.equal(limit('exec', { timeout: '90' }), 90);
  });
});

describe('SH-5 F14 what a command leaves', () => {
  const traps: Record<string, (seconds: string) => string> = {
    'a plain child': (s) => `sleep ${s}`,
    'children that ignore SIGTERM': (s) => `trap '' TERM; sleep ${s} & sleep ${s}`,
    'a session of its own': (s) => `setsid sleep ${s} & sleep ${s}`,
    'a double fork': (s) => `(setsid sh -c 'sleep ${s} & exit' &); sleep ${s}`,
    'a stopped process group': (s) => `sleep ${s} & kill -STOP $!; kill -STOP $$; sleep ${s}`,
    'a shell that starts another at each SIGTERM': (s) =>
      `trap 'sleep ${s} &' TERM; while :; do sleep ${s}; done`,
    // Each is in a session of its own. There are a thousand at most, for the case that they are not ended.
    'a row of processes that each start the next and end': (s) =>
      `export N=1000 C='N=$((N-1)); [ $N -gt 0 ] && setsid sh -c "$C" ${s} &'; setsid sh -c "$C" & sleep ${s}`,
  };
  for (const [name, command] of Object.entries(traps)) {
    test(`${name} is ended at the time-out`, async (t) => {
      const bench = await toolBench(t, { graceMs: 300 });
      const seconds = uniqueSeconds();
      const result = await bench.run(tool, { command: command(seconds), timeout: 0.5 });
      assert.equal(!result.ok && result.code, 'Timeout');
      assert.deepEqual(runningWith(seconds), []);
    });

    test(`${name} is ended when the call is cancelled`, async (t) => {
      const bench = await toolBench(t, { graceMs: 300 });
      const seconds = uniqueSeconds();
      const stop = new AbortController();
      const running = bench.run(tool, { command: command(seconds) }, { signal: stop.signal });
      assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0));
      stop.abort();
      const result = await running;
      assert.equal(!result.ok && result.code, 'Cancelled');
      assert.deepEqual(runningWith(seconds), []);
    });
  }

  test('what runs on after the command has ended is ended too, and said', async (t) => {
    const bench = await toolBench(t, { graceMs: 300 });
    const seconds = uniqueSeconds();
    const result = await bench.run(tool, {
      command: `sleep ${seconds} & (setsid sleep ${seconds} &) ; echo done`,
    });
    assert.match(words(result), /^done\n\[2 process\(es\) still running after the command were ended/);
    assert.deepEqual(runningWith(seconds), []);
  });

  test('other calls’ processes are left alone', async (t) => {
    const bench = await toolBench(t, { graceMs: 300 });
    const seconds = uniqueSeconds();
    const stop = new AbortController();
    const other = bench.run(
      tool,
      { command: `sleep ${seconds}` },
      { signal: stop.signal, callId: 'call_same' },
    );
    assert.ok(await eventually(() => runningWith(seconds).length > 0));
    await bench.run(tool, { command: 'sleep 60', timeout: 0.2 }, { callId: 'call_same' });
    assert.notDeepEqual(runningWith(`sleep ${seconds}`), []);
    stop.abort();
    await other;
  });
});

describe('F12 output', () => {
  test('is cut to 30,000 characters, head and tail when the tail matters, the rest kept whole', async (t) => {
    const bench = await toolBench(t);
    const result = await bench.run(tool, { command: 'seq 1 20000; echo 3 tests failed' });
    assert.ok(result.ok);
    assert.ok(result.text.length < 30_200);
    assert.match(result.text, /^1\n2\n/);
    assert.match(result.text, /characters left out\]/);
    assert.match(result.text, /3 tests failed$/);
    assert.match(result.whole ?? '', /\n10000\n/);
    const plain = await bench.run(tool, { command: 'seq 1 20000' });
    assert.ok(plain.ok && !plain.text.includes('\n20000'));
  });

  test('of 100 MB does not grow the worker by 150 MB', async () => {
    const program = fileURLToPath(new URL('../../../support/measure-output.ts', import.meta.url));
    for (const command of [
      'yes | head -c 100M >&2',
      "head -c 100M /dev/zero | tr '\\0' 'x'",
      'head -c 100M /dev/zero',
    ]) {
      const { stdout } = await promisify(execFile)(process.execPath, [program, command]);
      const { grown, bytes, whole } = JSON.parse(stdout) as Record<string, number>;
      assert.ok((grown ?? Infinity) < 150 * 1024 * 1024, `${command}: ${grown}`);
      assert.ok((whole ?? Infinity) <= 1_100_000, `${command}: kept ${whole}`);
      assert.ok((bytes ?? Infinity) <= 31_000, `${command}: shown ${bytes}`);
    }
  });

  test('is shown to watchers at most twice a second, in small pieces', async (t) => {
    const bench = await toolBench(t);
    const pieces: string[] = [];
    const progress = (text: string): void => {
      pieces.push(text);
    };
    const started = performance.now();
    await bench.run(tool, { command: 'for i in $(seq 120); do seq 500; sleep 0.01; done' }, { progress });
    const halves = (performance.now() - started) / 500;
    assert.ok(pieces.length > 0 && pieces.length <= halves + 1, `${pieces.length} in ${halves}`);
    assert.ok(pieces.every((piece) => piece.length <= 500));
  });
});
