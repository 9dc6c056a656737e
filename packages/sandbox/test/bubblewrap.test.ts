/** The alternative to a container, tested from inside. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createBubblewrap, refusedNumber } from '@tempoclaw/sandbox';
import type { BoxSettings } from '@tempoclaw/sandbox/settings';
import { type Bench, shellBench, textOf } from './support/bench.ts';
import { eventually, runningWith, uniqueSeconds } from './support/processes.ts';
import { box } from './support/settings.ts';

const bubblewrap = createBubblewrap((process.env['PATH'] ?? '').split(':'));
const works = await bubblewrap.works();
assert.ok(works || process.env['CI'] !== 'true', 'bubblewrap must work where CI runs');
const skip = works ? false : 'bubblewrap is not here, or may not make namespaces';

const benchWithout = (t: Parameters<typeof shellBench>[0]): Promise<Bench> => shellBench(t, { bubblewrap });

async function sh(bench: Bench, command: string, settings: Partial<BoxSettings> = {}): Promise<string> {
  return textOf(await bench.run(command, { settings: box(settings) }));
}

describe('bubblewrap in place of a container', { skip }, () => {
  test('has the bounds of its settings, and its workspace that of disk', async (t) => {
    const bench = await benchWithout(t);
    const small = { memoryBytes: 64 << 20, pids: 64 };
    // Memory that other programs release hides what a command takes until its keeper measures again, after
    // MEASURE_SECONDS of wall_bounds.py. So the command must keep it for longer than that.
    const takes = (code: string): Promise<string> =>
      sh(bench, `python3 -c '${code}\nimport time\ntime.sleep(50)'`, small);
    assert.match(await takes('x = b"x" * (200 << 20)'), /64 MiB of memory at most \(box\.memory\)/);
    assert.match(await takes('open("/tmp/x", "wb").write(b"x" * (30 << 20))'), /No space left/);
    const forks = 'import os\nfor _ in range(99):\n  if os.fork() == 0: break';
    assert.match(await takes(forks), /64 processes and threads at most \(box\.pids\)/);
    const written = await sh(bench, 'for i in $(seq 90); do head -c 5M /dev/zero >big.$i; sleep 0.01; done');
    assert.match(written, /128 MiB of disk at most/);
  });

  test('is used when there is no engine, and the outcome says so where somebody has set the box', async (t) => {
    const bench = await benchWithout(t);
    const { stdout, note } = await bench.run('echo hi; pwd');
    assert.equal(stdout, 'hi\n/workspace\n');
    assert.match(note ?? '', /^runs in bubblewrap instead of a container: /);
    assert.equal(await bench.shell.workspacePath(bench.workspace, box()), '/workspace');
    assert.equal((await bench.run('echo hi', { settings: box({ stated: false }) })).note, undefined);
  });

  test('has the programs of the system, and a box that is required those of its image', async (t) => {
    const { shell } = await benchWithout(t);
    assert.equal(await shell.placeOf(box()), 'system');
    assert.equal(await shell.placeOf(box({ mode: 'required' })), 'image');
    assert.equal(await shell.placeOf(undefined), 'host');
  });

  test('shows the workspace and nothing else of the host', async (t) => {
    const bench = await benchWithout(t);
    await writeFile(join(bench.base, 'outside.txt'), 'secret of the host');
    assert.doesNotMatch(await sh(bench, `cat ${bench.base}/outside.txt ../outside.txt`), /secret of/);
    assert.match(
      await sh(bench, 'ls -A /home /root /var /run /etc/shadow 2>&1; echo done'),
      /No such file[\s\S]*done/,
    );
    await sh(bench, 'mkdir sub; echo made >/workspace/sub/file');
    assert.match(await sh(bench, 'cat sub/file; ls /proc | grep -c "^[0-9]"'), /^made\n[1-9]$/);
  });

  test('has no network, no rights, and can write to nothing of the system', async (t) => {
    const bench = await benchWithout(t);
    assert.match(await sh(bench, 'tail -n +3 /proc/net/dev | cut -d: -f1'), /^lo$/);
    assert.match(await sh(bench, 'cat /proc/self/status'), /CapEff:\s0{16}[\s\S]*NoNewPrivs:\s1/);
    for (const path of ['/usr/x', '/etc/x', '/x', '/proc/x'])
      assert.match(await sh(bench, `echo x >${path} && echo WRITTEN`), /Read-only|denied|No such/, path);
    // The original value is written back, so that a sandbox with a hole does not change the machine.
    const setting = '/proc/sys/kernel/core_pattern';
    const back = await sh(bench, `old=$(cat ${setting}); echo "$old" >${setting} && echo WRITTEN`);
    assert.match(back, /Read-only|denied|No such/);
    // 'h' only prints the kernel's help.
    assert.match(await sh(bench, 'echo h >/proc/sysrq-trigger && echo WRITTEN'), /Read-only|denied|No such/);
    assert.match(
      await sh(bench, 'mount -o remount,rw /proc 2>&1; unshare -Urm mount -o remount,rw /proc'),
      /only|denied|permitted|must be/,
    );
  });

  test('makes no namespaces, and asks nothing of the kernel that a command has no need of', async (t) => {
    const bench = await benchWithout(t);
    for (const command of ['unshare -U true', 'unshare -m true', 'unshare -n true', 'unshare --time true'])
      assert.match(await sh(bench, command), /not permitted|No space left/, command);
    assert.match(await sh(bench, 'cat /proc/self/status'), /Seccomp:\s2/);
    const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
    const calls = ['mount', 'keyctl', 'bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup', 'setns'];
    for (const name of calls) {
      const number = refusedNumber(name, arch);
      // 1 is EPERM. With these arguments an allowed call succeeds, or fails with another error.
      const script = `syscall(${number}, 0, 0, 0, 0, 0); print $! + 0`;
      assert.equal(await sh(bench, `perl -e '${script}'`), '1', name);
    }
    // Without the refusal, TIOCSTI on a descriptor that is not a terminal is ENOTTY (25).
    const types = (request: string): string =>
      `perl -e 'my $x = "x" x 64; ioctl(STDIN, ${request}, $x); print $! + 0'`;
    assert.equal(await sh(bench, types('0x5412')), '1');
    assert.equal(await sh(bench, types('0x5401')), '25');
    const attach = arch === 'x64' ? 101 : 117;
    assert.equal(await sh(bench, `perl -e 'syscall(${attach}, 16, 1, 0, 0); print $! + 0'`), '1');
  });

  test('goes on to start processes and threads', async (t) => {
    const bench = await benchWithout(t);
    assert.equal(await sh(bench, 'echo a | (sleep 0.01; cat) | tr a b'), 'b');
  });

  test('has no descriptor of ours', async (t) => {
    const held = await open('/dev/null');
    t.after(() => held.close());
    const bench = await benchWithout(t);
    assert.equal(await sh(bench, 'ls /proc/self/fd | tr "\\n" " "'), '0 1 2 3');
    // Descriptors that a worker inherits from its starter.
    const prefix = await bubblewrap.prefix(bench.workspace, '', box());
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
    const request = { sandbox: box(), owner: bench.owner, inside: '', timeoutMs: 60_000 };
    const line = await bench.shell.backgroundLine(command, [bench.workspace], request);
    assert.ok(line.ok);
    assert.match(line.note ?? '', /^runs in bubblewrap instead of a container: /);
    const owner = { owner: 'ann', group: 'one' };
    const place = { cwd: bench.workspace, pwd: bench.workspace };
    const started = await bench.background.start(
      { ...owner, idempotencyKey: 'first' },
      { command, line: line.line, ...place },
    );
    assert.ok(started.ok);
    const log = async (): Promise<string> =>
      (await bench.background.log(owner, started.id, undefined, 9_000))?.text ?? '';
    assert.ok(
      await eventually(async () => /^it is \/workspace\nCapEff:\s0{16}/.test(await log())),
      await log(),
    );
  });

  test('shows the workspace read-only or not at all where that was asked for', async (t) => {
    const bench = await benchWithout(t);
    await writeFile(join(bench.workspace, 'a'), 'here');
    assert.match(await sh(bench, 'cat a; echo x >b', { workspace: 'ro' }), /^here[\s\S]*Read-only/);
    assert.match(await sh(bench, 'cat a', { workspace: 'none' }), /No such file/);
  });

  test('ends all that a command started, at the time-out and when it is stopped', async (t) => {
    const bench = await benchWithout(t);
    const seconds = uniqueSeconds();
    const command = `(env -i setsid sh -c 'sleep ${seconds} & exit' &); sleep ${seconds}`;
    assert.equal((await bench.run(command, { timeoutMs: 700 })).ended, 'timeout');
    assert.ok(await eventually(() => runningWith(seconds).length === 0));
    const stopping = new AbortController();
    const running = bench.run(command, { signal: stopping.signal });
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0));
    stopping.abort();
    assert.equal((await running).ended, 'cancelled');
    assert.ok(await eventually(() => runningWith(seconds).length === 0));
  });
});
