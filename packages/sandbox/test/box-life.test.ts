/** A container ends by itself when it is idle, and ends commands whose worker is dead. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createBoxes, createEngineProber } from '@tempoclaw/sandbox';
import { boxesOf, containerBox, engine, noEngine, testBoxes } from './support/engine.ts';
import { temporaryFolder } from './support/folders.ts';
import { eventually, runningWith, uniqueSeconds } from './support/processes.ts';

describe('the life of a box', { skip: noEngine }, () => {
  test('ends what is past its time, then what that left, then itself', async (t) => {
    const { installation } = testBoxes(t);
    const boxes = createBoxes({
      name: 'test',
      engine,
      prober: createEngineProber(engine, Date.now),
      installation,
      life: { idleSeconds: 15, maxAgeSeconds: 3600 },
      now: Date.now,
    });
    const settings = await containerBox();
    const probe = await boxes.probe(settings);
    assert.ok(probe.ok);
    const owner = { key: ['ann'], workspace: await temporaryFolder(t) };
    const name = await boxes.obtain(owner, settings, probe);
    // The command of a worker that has died: nobody waits for it, and its time is over.
    const seconds = uniqueSeconds();
    const exec = await engine.ask((docker) =>
      docker.getContainer(name).exec({
        Cmd: ['/bin/sh', '-c', `(env -i setsid sleep ${seconds} &); sleep ${seconds}`],
        Env: ['TEST_UNTIL=1'],
      }),
    );
    await engine.ask((_docker, abortSignal) => exec.start({ Detach: true, abortSignal }));
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 1));
    assert.ok(await eventually(() => runningWith(seconds).length === 0, 60_000));
    assert.ok(await eventually(async () => (await boxesOf(installation)).length === 0, 90_000));
  });

  test('is shared by those of one key, and ended with its group', async (t) => {
    const { boxes, installation } = testBoxes(t);
    const settings = await containerBox();
    const probe = await boxes.probe(settings);
    assert.ok(probe.ok);
    const workspace = await temporaryFolder(t);
    const obtain = (key: string, group?: string): Promise<string> =>
      boxes.obtain({ key: [key], workspace, group }, settings, probe);
    const [ann, again, ben] = [await obtain('ann', 'one'), await obtain('ann', 'one'), await obtain('ben')];
    assert.equal(ann, again);
    assert.notEqual(ann, ben);
    await boxes.endGroup('other');
    assert.equal((await boxesOf(installation)).length, 2);
    await boxes.endGroup('one');
    const { Name } = await engine.ask(async (docker) =>
      docker.getContainer((await boxesOf(installation))[0] ?? '').inspect(),
    );
    assert.equal(Name, `/${ben}`);
  });
});
