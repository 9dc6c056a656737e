/** The specification of a container, and what can be done from inside it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { BoxSettings } from '@tempoclaw/sandbox/settings';
import { type Bench, shellBench, textOf } from './support/bench.ts';
import { boxesOf, containerBox, engine, noEngine, testBoxes } from './support/engine.ts';

async function sh(bench: Bench, command: string, settings: Partial<BoxSettings> = {}): Promise<string> {
  return textOf(await bench.run(command, { settings: await containerBox(settings), timeoutMs: 20_000 }));
}

async function inspect(installation: string) {
  const [found] = await boxesOf(installation);
  assert.ok(found);
  return engine.ask((docker) => docker.getContainer(found).inspect());
}

describe('a box', { skip: noEngine }, () => {
  test('is made without rights, without network, with a read-only root and with limits', async (t) => {
    const { boxes, installation } = testBoxes(t);
    const bench = await shellBench(t, { boxes });
    await sh(bench, 'true', { memoryBytes: 64 << 20, cpus: 0.5, pids: 32 });
    const { HostConfig: host, Config: config, Mounts } = await inspect(installation);
    assert.deepEqual(host.CapDrop, ['ALL']);
    assert.ok(!host.CapAdd?.length);
    assert.ok(host.SecurityOpt?.includes('no-new-privileges:true'));
    assert.ok(
      !host.SecurityOpt?.some((option: string) => option.startsWith('seccomp')),
      'the engine’s own seccomp',
    );
    assert.equal(host.Privileged, false);
    assert.equal(host.ReadonlyRootfs, true);
    assert.equal(host.NetworkMode, 'none');
    assert.equal(host.PidsLimit, 32);
    assert.equal(host.Memory, 67_108_864);
    assert.equal(host.MemorySwap, 67_108_864);
    assert.equal(host.NanoCpus, 500_000_000);
    assert.match(host.Tmpfs?.['/tmp'] ?? '', /noexec,nosuid,nodev/);
    assert.doesNotMatch(config.User, /^(0|root|$)/);
    assert.deepEqual(
      Mounts.map(({ Destination, RW }) => [Destination, RW]),
      [['/workspace', true]],
    );
    assert.equal(config.Labels['test.group'], bench.base);
    assert.ok(config.Labels['test.config']);
  });

  test('has no root, no capability, no way to more rights', async (t) => {
    const bench = await shellBench(t, testBoxes(t));
    assert.notEqual(await sh(bench, 'id -u'), '0');
    const status = await sh(bench, 'cat /proc/self/status');
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
      assert.match(status, new RegExp(`Cap${set}:\\s0{16}`), set);
    assert.match(status, /NoNewPrivs:\s1/);
    assert.match(status, /Seccomp:\s2/);
  });

  test('can write nowhere but in the workspace and /tmp, and run nothing from /tmp', async (t) => {
    const bench = await shellBench(t, testBoxes(t));
    for (const path of [
      '/x',
      '/etc/x',
      '/usr/bin/x',
      '/root/x',
      '/sys/x',
      '/proc/sys/kernel/hostname',
      '/dev/x',
    ])
      assert.match(
        await sh(bench, `echo x >${path} && echo WRITTEN`),
        /Read-only|denied|Permission|No such/,
        path,
      );
    assert.equal(await sh(bench, 'echo x >/tmp/x && echo x >/workspace/x && echo done'), 'done');
    const program = 'printf "#!/bin/sh\\necho ran\\n" >/tmp/run; chmod +x /tmp/run; /tmp/run';
    assert.match(await sh(bench, program), /denied/i);
    assert.equal(await sh(bench, program.replaceAll('/tmp', '/workspace')), 'ran');
  });

  test('has no engine’s socket and none of the host’s files', async (t) => {
    const bench = await shellBench(t, testBoxes(t));
    await writeFile(join(bench.base, 'outside.txt'), 'secret of the host');
    assert.doesNotMatch(await sh(bench, `cat ${bench.base}/outside.txt ../outside.txt`), /secret of/);
    assert.equal(await sh(bench, 'ls /var/run/docker.sock /run/docker.sock 2>/dev/null | wc -l'), '0');
    assert.doesNotMatch(await sh(bench, 'cat /proc/mounts'), /docker\.sock/);
  });

  test('reaches no network', async (t) => {
    const server = createServer((_request, response) => response.end('reached')).listen(0, '0.0.0.0');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const bench = await shellBench(t, testBoxes(t));
    const text = await sh(bench, `ls /sys/class/net; exec 9<>/dev/tcp/127.0.0.1/${port} && echo CONNECTED`);
    assert.match(text, /^lo\b/);
    assert.doesNotMatch(text, /CONNECTED/);
  });

  test('shows the workspace read-only or not at all where that was asked for', async (t) => {
    const bench = await shellBench(t, testBoxes(t));
    await writeFile(join(bench.workspace, 'there.txt'), 'here');
    assert.match(await sh(bench, 'cat there.txt; echo x >new', { workspace: 'ro' }), /^here[\s\S]*Read-only/);
    assert.match(await sh(bench, 'cat there.txt', { workspace: 'none' }), /No such file/);
    assert.equal(await sh(bench, 'echo x >new; cat new', { workspace: 'none' }), 'x');
  });

  test('that wants more memory than it has ends that command, not the box', async (t) => {
    const bench = await shellBench(t, testBoxes(t));
    const hungry = 'head -c 200M /dev/zero | tail -n 1 | wc -c';
    assert.doesNotMatch(await sh(bench, hungry, { memoryBytes: 64 << 20 }), /\d{6,}/);
    assert.equal(await sh(bench, 'echo alive', { memoryBytes: 64 << 20 }), 'alive');
  });

  test('has no more processes than it may', async (t) => {
    const bench = await shellBench(t, testBoxes(t));
    const many = 'for i in $(seq 100); do sleep 5 & done 2>/dev/null; ls -d /proc/[0-9]* | wc -l';
    assert.doesNotMatch(await sh(bench, many, { pids: 40 }), /^[4-9]\d|^\d{3}/);
    assert.equal(await sh(bench, 'echo alive', { pids: 40 }), 'alive');
  });

  test('reaps what its commands left to process 1', async (t) => {
    const bench = await shellBench(t, testBoxes(t));
    await sh(bench, 'for i in 1 2 3; do (sh -c "sleep 0.01 & exit" &); done; sleep 0.3');
    // Process 1 reaps them when its own sleep is over.
    await new Promise((resolve) => setTimeout(resolve, 16_000));
    assert.doesNotMatch(await sh(bench, 'cat /proc/[0-9]*/stat'), /\) Z /);
  });
});
