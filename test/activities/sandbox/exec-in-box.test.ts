/** SH-3, SH-5, F12, F14: exec in a container returns what it returns on the host, and leaves nothing in it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { OWN_NAME } from '#activities/process/own-names.ts';
import { reapOrphans } from '@tempoclaw/sandbox';
import { tool } from '#activities/tools/runtime/exec.ts';
import { sandboxOf, type SandboxSettings } from '#domain/sandbox.ts';
import type { ToolResult } from '#domain/tool.ts';
import { engineTests, findEngine, testBoxes } from '#test/support/container-engine.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { toolBench } from '#test/support/tool-call.ts';

const { test, stop } = engineTests(await findEngine());
after(stop);

function words(result: ToolResult): string {
  return result.ok ? result.text : result.message;
}

/** Counts only the sleeps, not the shells that contain their text. */
function commands(seconds: string): number[] {
  return runningWith(`sleep ${seconds}`).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep\0'),
  );
}

/** For a call of an agent whose sandbox is required. */
function boxed(settings: SandboxSettings = {}) {
  const sandbox = sandboxOf({ mode: 'required', ...settings }, undefined);
  assert.ok(sandbox);
  return { sandbox, mount: '/workspace' };
}

describe('SH-3 exec in a container', () => {
  const commands = [
    'printf hi',
    'true',
    'echo out; echo err >&2',
    'echo no >&2; exit 3',
    'kill -9 $$',
    'kill -TERM $$',
    'exit 129',
    "printf '\\033[31mred\\033[0m a\\000b'",
    'cat',
    'printf a; printf b >&2; printf c',
    'nonesuch',
    'seq 1 20000; echo 3 tests failed',
    'echo "$PAGER $TERM $0"',
    'sh -c "exit 7"',
    'printf "\\036 not ours \\036" >&2',
  ];
  test('gives the same texts, exit codes and signals as on the host', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address), graceMs: 300 });
    for (const command of commands) {
      const onHost = await bench.run(tool, { command });
      const inBox = await bench.run(tool, { command }, boxed());
      assert.deepEqual(inBox, onHost, command);
    }
  });

  test('runs in the workspace under /workspace, as a user that owns what is in it', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    await bench.files.write({ workspace: bench.workspace, idempotencyKey: 'a' }, 'sub/old.txt', 'old\n');
    const command = 'pwd; cat old.txt; echo new >>old.txt; echo made >made.txt; ls -l >/dev/null; id -u';
    const result = await bench.run(tool, { command, working_dir: 'sub' }, boxed());
    assert.match(words(result), /^\/workspace\/sub\nold\n[1-9]\d*$/);
    const page = await bench.files.readPage(
      { workspace: bench.workspace, idempotencyKey: 'b' },
      'sub/made.txt',
      { offset: 0, maxChars: 100 },
    );
    assert.match(JSON.stringify(page), /made/);
  });

  test('keeps the container between calls, one for a session', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    await bench.run(tool, { command: 'echo kept >/tmp/note' }, boxed());
    assert.equal(words(await bench.run(tool, { command: 'cat /tmp/note' }, boxed())).trim(), 'kept');
    const other = await bench.run(tool, { command: 'cat /tmp/note' }, { ...boxed(), sessionKey: 'another' });
    assert.match(words(other), /No such file/);
  });

  test('is shared by an agent’s sessions or a tenant’s agents where the scope says so, and by no other tenant', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    const hosts = async (scope: 'agent' | 'shared', overrides: object): Promise<string> =>
      words(
        await bench.run(
          tool,
          { command: 'cat /tmp/who || echo $RANDOM | tee /tmp/who' },
          { ...boxed({ scope }), ...overrides },
        ),
      )
        .split('\n')[0]!
        .trim();
    const first = await hosts('agent', {});
    assert.equal(await hosts('agent', { sessionKey: 'two' }), first);
    assert.notEqual(await hosts('agent', { agent: 'other' }), first);
    const shared = await hosts('shared', {});
    assert.equal(await hosts('shared', { agent: 'other', sessionKey: 'three' }), shared);
    assert.notEqual(await hosts('shared', { tenant: 'foreign' }), shared);
  });

  test('has none of our variables, and none of the worker’s', async (t, engine) => {
    process.env['OPENAI_API_KEY'] = 'canary-key';
    t.after(() => delete process.env['OPENAI_API_KEY']);
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    const text = words(
      await bench.run(tool, { command: 'env; cat /proc/*/environ | tr "\\0" "\\n"' }, boxed()),
    );
    assert.doesNotMatch(text, /canary/);
    assert.match(text, /HOME=\/tmp/);
  });
});

describe('SH-5 F14 what a command leaves in its container', () => {
  const traps: Record<string, (seconds: string) => string> = {
    'a plain child': (s) => `sleep ${s}`,
    'children that ignore SIGTERM': (s) => `trap '' TERM; sleep ${s} & sleep ${s}`,
    'a session of its own': (s) => `setsid sleep ${s} & sleep ${s}`,
    'a double fork': (s) => `(setsid sh -c 'sleep ${s} & exit' &); sleep ${s}`,
    'a stopped process group': (s) => `sleep ${s} & kill -STOP $!; kill -STOP $$; sleep ${s}`,
    'a child without our marks': (s) => `(env -i setsid sh -c 'sleep ${s} & exit' &); sleep ${s}`,
    'a shell that starts another at each SIGTERM': (s) =>
      `trap 'sleep ${s} &' TERM; while :; do sleep ${s}; done`,
  };
  for (const [name, command] of Object.entries(traps)) {
    test(`${name} is ended at the time-out, and when the call is cancelled`, async (t, engine) => {
      const bench = await toolBench(t, { boxes: testBoxes(t, engine.address), graceMs: 300 });
      const seconds = uniqueSeconds();
      const late = await bench.run(tool, { command: command(seconds), timeout: 0.7 }, boxed());
      assert.equal(!late.ok && late.code, 'Timeout', words(late));
      assert.deepEqual(runningWith(seconds), []);
      const stopping = new AbortController();
      const running = bench.run(tool, { command: command(seconds) }, { ...boxed(), signal: stopping.signal });
      assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0));
      stopping.abort();
      const stopped = await running;
      assert.equal(!stopped.ok && stopped.code, 'Cancelled');
      assert.deepEqual(runningWith(seconds), []);
    });
  }

  test('another worker that starts on the machine ends nothing of one that lives', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address), graceMs: 300 });
    const seconds = uniqueSeconds();
    const stopping = new AbortController();
    const running = bench.run(tool, { command: `sleep ${seconds}` }, { ...boxed(), signal: stopping.signal });
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0));
    await reapOrphans(OWN_NAME);
    assert.notDeepEqual(runningWith(`sleep ${seconds}`), []);
    stopping.abort();
    await running;
  });

  test('what is cancelled while it is being started is ended, whenever that is', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address), graceMs: 300 });
    await bench.run(tool, { command: 'true' }, boxed());
    for (const wait of [0, 20, 50, 100, 200, 300]) {
      const seconds = uniqueSeconds();
      const signal = AbortSignal.timeout(wait);
      const stopped = await bench.run(tool, { command: `sleep ${seconds}` }, { ...boxed(), signal });
      assert.equal(!stopped.ok && stopped.code, 'Cancelled', `after ${wait} ms: ${words(stopped)}`);
      assert.deepEqual(runningWith(seconds), []);
    }
  });

  test('what runs on after the command has ended is ended too, and said', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address), graceMs: 300 });
    const seconds = uniqueSeconds();
    const command = `sleep ${seconds} & (setsid sleep ${seconds} &) ; echo done`;
    const result = await bench.run(tool, { command }, boxed());
    assert.match(words(result), /^done\n\[2 process\(es\) still running after the command were ended/);
    assert.deepEqual(runningWith(seconds), []);
  });

  test('other calls’ processes are left alone', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address), graceMs: 300 });
    const seconds = uniqueSeconds();
    const stopping = new AbortController();
    const overrides = { ...boxed(), signal: stopping.signal };
    const other = bench.run(tool, { command: `(setsid sleep ${seconds} &) ; sleep ${seconds}` }, overrides);
    assert.ok(await eventually(() => commands(seconds).length === 2));
    await bench.run(tool, { command: 'sleep 60', timeout: 0.3 }, boxed());
    await bench.run(tool, { command: 'sleep 60 &' }, boxed());
    assert.equal(commands(seconds).length, 2);
    stopping.abort();
    await other;
    assert.deepEqual(runningWith(seconds), []);
  });

  test('a fork bomb ends with the call, and with it only its own container', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address), graceMs: 300 });
    const bomb = 'b() { b | b & }; b; sleep 30';
    const result = await bench.run(tool, { command: bomb, timeout: 2 }, boxed({ pids: 64 }));
    assert.equal(result.ok, false);
    await sleep(100);
    assert.equal(
      words(await bench.run(tool, { command: 'echo alive' }, boxed({ pids: 64 }))).trim(),
      'alive',
    );
  });
});

describe('F12 output of a container', () => {
  test('of 100 MB is cut while it streams, and shown to watchers', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    let pieces = 0;
    const overrides = { ...boxed(), progress: () => void (pieces += 1) };
    const result = await bench.run(tool, { command: 'yes | head -c 100M; echo 1 failed' }, overrides);
    assert.ok(result.ok && result.text.length <= 31_000, words(result).slice(-300));
    assert.match(result.text, /1 failed$/);
    assert.ok((result.whole?.length ?? 0) <= 1_100_000);
    assert.ok(pieces > 0);
  });
});
