/** SH-3, F2: a box ends by itself when it is idle, and ends what nobody alive answers for. */
import assert from 'node:assert/strict';
import { after, describe } from 'node:test';
import { createBoxes, createEngine, createEngineProbe } from '@tempoclaw/sandbox';
import { sandboxOf } from '#domain/sandbox.ts';
import { engineTests, findEngine, removeBoxes } from '#test/support/container-engine.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

const { test, stop } = engineTests(await findEngine());
after(stop);

describe('SH-3 the life of a box', () => {
  test('ends what is past its time, then what that left, then itself', async (t, { address }) => {
    const installation = `test-${crypto.randomUUID()}`;
    const engine = createEngine(address);
    const boxes = createBoxes({
      name: 'tempoclaw',
      engine,
      look: createEngineProbe(engine, Date.now),
      installation,
      life: { idleSeconds: 15, maxAgeSeconds: 3600 },
      now: Date.now,
    });
    t.after(() => removeBoxes(address, installation));
    const sandbox = sandboxOf({}, 'required');
    assert.ok(sandbox);
    const probe = await boxes.look(sandbox);
    assert.ok(probe.ok);
    const owner = { key: ['a'], workspace: await temporaryFolder(t) };
    const name = await boxes.obtain(owner, sandbox, probe);
    // As a worker that has died leaves it: nobody waits for it, and its time is up.
    const seconds = uniqueSeconds();
    const exec = await engine.ask((docker) =>
      docker.getContainer(name).exec({
        Cmd: ['/bin/sh', '-c', `(env -i setsid sleep ${seconds} &); sleep ${seconds}`],
        Env: ['TEMPOCLAW_UNTIL=1'],
      }),
    );
    await engine.ask((_docker, abortSignal) => exec.start({ Detach: true, abortSignal }));
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 1));
    assert.ok(await eventually(() => runningWith(seconds).length === 0, 60_000));
    const gone = async (): Promise<boolean> => {
      const filters = { label: [`tempoclaw.sandbox=${installation}`] };
      return (await engine.ask((docker) => docker.listContainers({ all: true, filters }))).length === 0;
    };
    assert.ok(await eventually(gone, 90_000));
  });
});
