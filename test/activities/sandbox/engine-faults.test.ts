/** SH-3, F16: there is no box, or it disappears under a command. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, describe, test as plainTest } from 'node:test';
import { createBoxes, createEngine, createEngineProber } from '@tempoclaw/sandbox';
import { tool } from '#activities/tools/runtime/exec.ts';
import { type SandboxSettings, sandboxOf } from '#domain/sandbox.ts';
import type { ToolResult } from '#domain/tool.ts';
import { engineTests, findEngine, removeBoxes, testBoxes } from '#test/support/container-engine.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { temporaryFolder, toolBench } from '#test/support/tool-call.ts';

/** This test kills and restarts it. `runsc` is the engine's usual runtime under that name. */
const { test, stop } = engineTests(await findEngine(true, ['--add-runtime', 'runsc=/usr/sbin/runc']));
after(stop);

function words(result: ToolResult): string {
  return result.ok ? result.text : result.message;
}

function boxed(settings: SandboxSettings | 'preferred' | 'required' | undefined) {
  const sandbox = sandboxOf({}, settings);
  assert.ok(sandbox);
  return { sandbox, mount: '/workspace' };
}

function codeOf(result: ToolResult): string | undefined {
  return result.ok ? undefined : result.code;
}

describe('SH-3 without an engine', () => {
  const nowhere = async (t: Parameters<typeof temporaryFolder>[0]) => {
    const address = `unix://${await temporaryFolder(t)}/none.sock`;
    const engine = createEngine(address);
    return createBoxes({
      name: 'tempoclaw',
      engine,
      prober: createEngineProber(engine, Date.now),
      installation: 'none',
      life: { idleSeconds: 60, maxAgeSeconds: 60 },
      now: Date.now,
    });
  };

  plainTest('required refuses and runs nothing', async (t) => {
    const bench = await toolBench(t, {
      boxes: await nowhere(t),
      bubblewrap: { works: async () => true, prefix: async () => [] },
    });
    const result = await bench.run(tool, { command: 'echo ran >ran' }, boxed('required'));
    assert.equal(codeOf(result), 'SandboxUnavailable');
    assert.match(words(result), /no engine answers at unix:.*has not run/s);
    assert.deepEqual(
      (await bench.files.list({ workspace: bench.workspace, idempotencyKey: 'a' }, '.', 10)).entries,
      [],
    );
  });

  plainTest('required starts nothing in the background, where no box is', async (t) => {
    const bench = await toolBench(t, { boxes: await nowhere(t) });
    const result = await bench.run(tool, { command: 'sleep 60', background: true }, boxed('required'));
    assert.equal(codeOf(result), 'SandboxUnavailable');
  });

  plainTest('preferred runs on the host and says so, and says nothing where nobody asked', async (t) => {
    const bench = await toolBench(t, { boxes: await nowhere(t) });
    const result = await bench.run(tool, { command: 'echo ran' }, boxed('preferred'));
    assert.match(words(result), /^ran\n\[runs on the host, not in a sandbox: no engine answers/);
    assert.deepEqual(await bench.run(tool, { command: 'echo ran' }, boxed(undefined)), {
      ok: true,
      text: 'ran',
    });
  });
});

describe('SH-3 F16 an engine', () => {
  test('without the image: required refuses and says how to make it, preferred falls back', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    const image = 'no-such-image';
    const refused = await bench.run(tool, { command: 'echo ran' }, boxed({ mode: 'required', image }));
    assert.equal(codeOf(refused), 'SandboxUnavailable');
    assert.match(words(refused), /no image no-such-image; make it with/);
    const fallen = await bench.run(tool, { command: 'echo ran' }, boxed({ mode: 'preferred', image }));
    assert.match(words(fallen), /^ran\n\[runs on the host/);
  });

  test('is asked by two workers for the same box at once, and makes one', async (t, engine) => {
    const installation = `test-${crypto.randomUUID()}`;
    const workers = [1, 2, 3, 4].map(() => testBoxes(t, engine.address, installation));
    const bench = await toolBench(t, {});
    const { sandbox } = boxed('required');
    const owner = { key: ['a'], workspace: bench.workspace };
    const names = await Promise.all(
      workers.map(async (boxes) => {
        const probe = await boxes.probe(sandbox);
        assert.ok(probe.ok);
        return boxes.obtain(owner, sandbox, probe);
      }),
    );
    assert.equal(new Set(names).size, 1);
    const filters = { label: [`tempoclaw.sandbox=${installation}`] };
    const all = await createEngine(engine.address).ask((docker) =>
      docker.listContainers({ all: true, filters }),
    );
    assert.deepEqual(
      all.map(({ State }) => State),
      ['running'],
    );
  });

  test('loses a box under a command: the call says so, the next has a new box', async (t, engine) => {
    const installation = `test-${crypto.randomUUID()}`;
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address, installation) });
    const seconds = uniqueSeconds();
    const running = bench.run(tool, { command: `echo begun; sleep ${seconds}` }, boxed('required'));
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0));
    await removeBoxes(engine.address, installation);
    const result = await running;
    assert.equal(codeOf(result), 'SandboxUnavailable');
    assert.match(words(result), /^begun\nthe sandbox .* while the command ran/);
    assert.equal(words(await bench.run(tool, { command: 'echo again' }, boxed('required'))).trim(), 'again');
  });

  test('that is killed under a command is told, required refuses while it is away, and it comes back', async (t, engine) => {
    const installation = `test-${crypto.randomUUID()}`;
    const boxes = testBoxes(t, engine.address, installation);
    const bench = await toolBench(t, { boxes });
    const seconds = uniqueSeconds();
    const running = bench.run(tool, { command: `sleep ${seconds}` }, boxed('required'));
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0));
    await engine.kill('SIGKILL');
    const lost = await running;
    assert.equal(codeOf(lost), 'SandboxUnavailable');
    const away = await bench.run(tool, { command: 'echo ran' }, boxed('required'));
    assert.equal(codeOf(away), 'SandboxUnavailable');
    const fallen = await bench.run(tool, { command: 'echo ran' }, boxed('preferred'));
    assert.match(words(fallen), /^ran\n\[runs on the host/);
    // The number of its containerd has another process now.
    const folder = dirname(engine.address.slice('unix://'.length));
    await writeFile(join(folder, 'exec/containerd/containerd.pid'), String(process.pid));
    await engine.start();
    const back = async (): Promise<boolean> =>
      words(await bench.run(tool, { command: 'echo back' }, boxed('required'))).trim() === 'back';
    assert.ok(await eventually(back, 60_000));
    assert.deepEqual(runningWith(seconds), []);
  });

  test('that hangs is told too, and the call ends', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    const running = bench.run(tool, { command: 'sleep 60' }, boxed('required'));
    await bench.run(tool, { command: 'true' }, boxed('required'));
    await engine.kill('SIGSTOP');
    t.after(() => engine.kill('SIGCONT'));
    const result = await running;
    assert.equal(codeOf(result), 'SandboxUnavailable');
    assert.match(words(result), /has not answered/);
    await engine.kill('SIGCONT');
  });

  test('has gVisor’s runtime: it is used when asked for; has not: required refuses', async (t, engine) => {
    const installation = `test-${crypto.randomUUID()}`;
    const boxes = testBoxes(t, engine.address, installation);
    const bench = await toolBench(t, { boxes });
    const settings = { mode: 'required', runtime: 'runsc' } as const;
    assert.equal(words(await bench.run(tool, { command: 'echo in' }, boxed(settings))).trim(), 'in');
    const filters = { label: [`tempoclaw.sandbox=${installation}`] };
    const client = createEngine(engine.address);
    const [made] = await client.ask((docker) => docker.listContainers({ filters }));
    const { HostConfig } = await client.ask((docker) => docker.getContainer(made?.Id ?? '').inspect());
    assert.equal(HostConfig.Runtime, 'runsc');
  });

  test('forgets boxes that have ended: the reaper removes them by their label', async (t, engine) => {
    const installation = `test-${crypto.randomUUID()}`;
    const boxes = testBoxes(t, engine.address, installation);
    const client = createEngine(engine.address);
    const labels = { 'tempoclaw.sandbox': installation };
    const made = await client.ask((docker) =>
      docker.createContainer({
        Image: 'tempoclaw-sandbox',
        Cmd: ['true'],
        Labels: labels,
        NetworkDisabled: true,
      }),
    );
    await made.start();
    await made.wait();
    assert.equal(await boxes.prune(), 1);
    const filters = { label: [`tempoclaw.sandbox=${installation}`] };
    assert.deepEqual(await client.ask((docker) => docker.listContainers({ all: true, filters })), []);
  });
});
