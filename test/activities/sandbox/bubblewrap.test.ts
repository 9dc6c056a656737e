/** SH-3: the second choice to a container, from inside. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  createBoxes,
  createBubblewrap,
  createEngine,
  createEngineProbe,
  refusedNumber,
} from '@tempoclaw/sandbox';
import { tool } from '#activities/tools/runtime/exec.ts';
import { tool as processTool } from '#activities/tools/runtime/process.ts';
import { tool as workspaceDir } from '#activities/tools/other/workspace-dir.ts';
import { type SandboxSettings, sandboxOf } from '#domain/sandbox.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { type Bench, toolBench } from '#test/support/tool-call.ts';

const bubblewrap = createBubblewrap((process.env['PATH'] ?? '').split(':'));
const works = await bubblewrap.works();
assert.ok(works || process.env['CI'] !== 'true', 'bubblewrap must work where CI runs');
const skip = works ? false : 'bubblewrap is not here, or may not make namespaces';

function boxed(settings: SandboxSettings = {}) {
  const sandbox = sandboxOf({}, { mode: 'preferred', ...settings });
  assert.ok(sandbox);
  return { sandbox, mount: '/workspace' };
}

async function benchWithout(t: Parameters<typeof toolBench>[0]): Promise<Bench> {
  const engine = createEngine('unix:///nonesuch/docker.sock');
  const boxes = createBoxes({
    name: 'tempoclaw',
    engine,
    look: createEngineProbe(engine, Date.now),
    installation: 'none',
    life: { idleSeconds: 60, maxAgeSeconds: 60 },
    now: Date.now,
  });
  return toolBench(t, { boxes, bubblewrap, graceMs: 300 });
}

describe('SH-3 bubblewrap in place of a container', { skip }, () => {
  const sh = async (bench: Bench, command: string, settings?: SandboxSettings): Promise<string> => {
    const result = await bench.run(tool, { command, timeout: 60 }, boxed(settings));
    return (result.ok ? result.text : result.message).trim();
  };
  /** What a command says in a box that nobody asked for, of which there is no word. */
  const quiet = async (bench: Bench, command: string): Promise<string> => {
    const result = await bench.run(tool, { command, timeout: 20 }, { sandbox: sandboxOf({}, undefined)! });
    return (result.ok ? result.text : result.message).trim();
  };

  test('SH-3: has the bounds of its settings, and its workspace that of disk', async (t) => {
    const bench = await benchWithout(t);
    const small = { memory: '64m', pids: 64 };
    // Memory that other programs give back hides what a command takes until its keeper measures again, after MEASURE_SECONDS of
    // wall_bounds.py: the command must hold it for longer than that.
    const takes = (code: string): Promise<string> =>
      sh(bench, `python3 -c '${code}\nimport time\ntime.sleep(50)'`, small);
    assert.match(await takes('x = b"x" * (200 << 20)'), /64 MiB of memory at most \(sandbox\.memory\)/);
    assert.match(await takes('open("/tmp/x", "wb").write(b"x" * (30 << 20))'), /No space left/);
    const forks = 'import os\nfor _ in range(99):\n  if os.fork() == 0: break';
    assert.match(await takes(forks), /64 processes and threads at most \(sandbox\.pids\)/);
    const written = await sh(bench, 'for i in $(seq 90); do head -c 5M /dev/zero >big.$i; sleep 0.01; done');
    assert.match(written, /128 MiB of disk at most/);
  });

  test('is used when there is no engine, and the result says so', async (t) => {
    const bench = await benchWithout(t);
    assert.match(
      await sh(bench, 'echo hi; pwd'),
      /^hi\n\/workspace\n\[runs in bubblewrap instead of a container: /,
    );
    assert.deepEqual(await bench.run(workspaceDir, {}, boxed()), { ok: true, text: '/workspace' });
    const quiet = { sandbox: sandboxOf({}, undefined)! };
    assert.deepEqual(await bench.run(tool, { command: 'echo hi' }, quiet), { ok: true, text: 'hi' });
  });

  test('SH-2 has the programs of the system, and a sandbox that is required those of its image', async (t) => {
    const { shell } = (await benchWithout(t)).deps;
    assert.equal(await shell.placeOf(boxed().sandbox), 'system');
    assert.equal(await shell.placeOf(boxed({ mode: 'required' }).sandbox), 'image');
    assert.equal(await shell.placeOf(undefined), 'host');
  });

  test('shows the workspace and nothing else of the host', async (t) => {
    const bench = await benchWithout(t);
    await mkdir(join(bench.workspace, 'sub'), { recursive: true });
    await writeFile(join(bench.base, 'outside.txt'), 'secret of the host');
    assert.doesNotMatch(await sh(bench, `cat ${bench.base}/outside.txt ../outside.txt`), /secret of/);
    assert.match(
      await sh(bench, 'ls -A /home /root /var /run /etc/shadow 2>&1; echo done'),
      /No such file[\s\S]*done/,
    );
    await sh(bench, 'echo made >/workspace/sub/file');
    assert.match(await sh(bench, 'cat sub/file; ls /proc | grep -c "^[0-9]"'), /^made\n[1-9]\n/);
  });

  test('has no network, no rights, and can write to nothing of the system', async (t) => {
    const bench = await benchWithout(t);
    assert.match(await sh(bench, 'tail -n +3 /proc/net/dev | cut -d: -f1'), /^lo\n/);
    assert.match(await sh(bench, 'cat /proc/self/status'), /CapEff:\s0{16}[\s\S]*NoNewPrivs:\s1/);
    for (const path of ['/usr/x', '/etc/x', '/x', '/proc/x'])
      assert.match(await sh(bench, `echo x >${path} && echo WRITTEN`), /Read-only|denied|No such/, path);
    // Written back as it is, so that a box with a hole leaves the machine as it was.
    const setting = '/proc/sys/kernel/core_pattern';
    const back = await sh(bench, `old=$(cat ${setting}); echo "$old" >${setting} && echo WRITTEN`);
    assert.match(back, /Read-only|denied|No such/);
    // 'h' prints the kernel's help at most.
    assert.match(await sh(bench, 'echo h >/proc/sysrq-trigger && echo WRITTEN'), /Read-only|denied|No such/);
    assert.match(
      await sh(bench, 'mount -o remount,rw /proc 2>&1; unshare -Urm mount -o remount,rw /proc'),
      /only|denied|permitted|must be/,
    );
  });

  test('R4 makes no namespaces, and asks nothing of the kernel that a command has no need of', async (t) => {
    const bench = await benchWithout(t);
    for (const command of ['unshare -U true', 'unshare -m true', 'unshare -n true', 'unshare --time true'])
      assert.match(await quiet(bench, command), /not permitted|No space left/, command);
    assert.match(await quiet(bench, 'cat /proc/self/status'), /Seccomp:\s2/);
    const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
    const calls = ['mount', 'keyctl', 'bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup', 'setns'];
    for (const name of calls) {
      const number = refusedNumber(name, arch);
      // 1: EPERM. With these arguments an allowed call succeeds, or fails with another.
      const script = `syscall(${number}, 0, 0, 0, 0, 0); print $! + 0`;
      assert.equal(await quiet(bench, `perl -e '${script}'`), '1', name);
    }
    // TIOCSTI on a descriptor that is no terminal is ENOTTY (25) where it is not refused before.
    const types = (request: string): string =>
      `perl -e 'my $x = "x" x 64; ioctl(STDIN, ${request}, $x); print $! + 0'`;
    assert.equal(await quiet(bench, types('0x5412')), '1');
    assert.equal(await quiet(bench, types('0x5401')), '25');
    const attach = arch === 'x64' ? 101 : 117;
    assert.equal(await quiet(bench, `perl -e 'syscall(${attach}, 16, 1, 0, 0); print $! + 0'`), '1');
  });

  test('R4 goes on to start processes and threads', async (t) => {
    const bench = await benchWithout(t);
    assert.equal(await quiet(bench, 'echo a | (sleep 0.01; cat) | tr a b'), 'b');
  });

  test('R4 has no descriptor of ours', async (t) => {
    const held = await open('/dev/null');
    t.after(() => held.close());
    const bench = await benchWithout(t);
    assert.equal(await quiet(bench, 'ls /proc/self/fd | tr "\\n" " "'), '0 1 2 3');
    // As a worker inherits them from whoever started it.
    const prefix = await bubblewrap.prefix(bench.workspace, '', boxed().sandbox);
    const stdio = ['ignore', 'pipe', 'inherit', ...Array.from({ length: 40 }, () => held.fd)] as const;
    const started = spawnSync(prefix[0] ?? '', [...prefix.slice(1), 'ls', '/proc/self/fd'], {
      stdio: [...stdio],
      encoding: 'utf8',
    });
    assert.equal(started.stdout.trim().replaceAll('\n', ' '), '0 1 2 3');
  });

  test('holds background commands too', async (t) => {
    const bench = await benchWithout(t);
    const command = 'echo \'it is\' "$PWD"; cat /proc/self/status | grep CapEff';
    const started = await bench.run(tool, { command, background: true }, boxed());
    assert.match(started.ok ? started.text : '', /\[runs in bubblewrap instead of a container: /);
    const id = /proc_[0-9a-f]{12}/.exec(started.ok ? started.text : '')?.[0];
    const say = async (): Promise<string> => {
      const log = await bench.run(processTool, { action: 'log', id }, boxed());
      return log.ok ? log.text : '';
    };
    assert.ok(
      await eventually(async () => /^it is \/workspace\nCapEff:\s0{16}/.test(await say())),
      await say(),
    );
  });

  test('shows the workspace read-only or not at all where that was asked for', async (t) => {
    const bench = await benchWithout(t);
    await mkdir(bench.workspace, { recursive: true });
    await writeFile(join(bench.workspace, 'a'), 'here');
    assert.match(await sh(bench, 'cat a; echo x >b', { workspace: 'ro' }), /^here[\s\S]*Read-only/);
    assert.match(await sh(bench, 'cat a', { workspace: 'none' }), /No such file/);
  });

  test('SH-5 ends all that a command started, at the time-out and when it is stopped', async (t) => {
    const bench = await benchWithout(t);
    const seconds = uniqueSeconds();
    const command = `(env -i setsid sh -c 'sleep ${seconds} & exit' &); sleep ${seconds}`;
    const late = await bench.run(tool, { command, timeout: 0.7 }, boxed());
    assert.equal(!late.ok && late.code, 'Timeout');
    assert.ok(await eventually(() => runningWith(seconds).length === 0));
    const stopping = new AbortController();
    const running = bench.run(tool, { command }, { ...boxed(), signal: stopping.signal });
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0));
    stopping.abort();
    await running;
    assert.ok(await eventually(() => runningWith(seconds).length === 0));
  });
});
