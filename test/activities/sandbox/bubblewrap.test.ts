/** SH-3: the second choice to a container, from inside. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createBoxes } from '#activities/sandbox/boxes.ts';
import { createBubblewrap } from '#activities/sandbox/bubblewrap.ts';
import { createEngine } from '#activities/sandbox/engine.ts';
import { createEngineLook } from '#activities/sandbox/look-at-engine.ts';
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
    engine,
    look: createEngineLook(engine, Date.now),
    installation: 'none',
    life: { idleSeconds: 60, maxAgeSeconds: 60 },
    now: Date.now,
  });
  return toolBench(t, { boxes, bubblewrap, graceMs: 300 });
}

describe('SH-3 bubblewrap in place of a container', { skip }, () => {
  const sh = async (bench: Bench, command: string, settings?: SandboxSettings): Promise<string> => {
    const result = await bench.run(tool, { command, timeout: 20 }, boxed(settings));
    return (result.ok ? result.text : result.message).trim();
  };

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

  test('holds background commands too', async (t) => {
    const bench = await benchWithout(t);
    const command = 'echo \'it is\' "$PWD"; cat /proc/self/status | grep CapEff';
    const started = await bench.run(tool, { command, background: true }, boxed());
    assert.match(started.ok ? started.text : '', /\[runs in bubblewrap instead of a container: /);
    const id = /proc_[0-9a-f]{12}/.exec(started.ok ? started.text : '')?.[0];
    const said = async (): Promise<string> => {
      const log = await bench.run(processTool, { action: 'log', id }, boxed());
      return log.ok ? log.text : '';
    };
    assert.ok(
      await eventually(async () => /^it is \/workspace\nCapEff:\s0{16}/.test(await said())),
      await said(),
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
