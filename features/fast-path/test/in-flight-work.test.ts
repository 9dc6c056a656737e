/** DU-1: work that a local activity starts is started once, whoever continues it, and does not run on for nobody. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createInFlightWork, type InlineAttempt } from '../activities/in-flight-work.ts';
import { eventually } from '#test/support/processes.ts';

const MAX = 2;

interface Asked {
  readonly key: string;
}

/** Work that ends when the test says so, or when it is stopped. */
function createStage(unfollowedMs?: number, patienceMs = 20) {
  const started: InlineAttempt[] = [];
  let end: (word: string) => void = () => undefined;
  const work = (_asked: Asked, attempt: InlineAttempt): Promise<string> => {
    started.push(attempt);
    return new Promise((resolve) => {
      end = resolve;
      attempt.signal.addEventListener('abort', () => resolve('stopped'));
    });
  };
  const { run, reserve, endAll } = createInFlightWork<Asked, string>({
    keyOf: ({ key }) => key,
    work,
    patienceMs,
    max: MAX,
    unfollowedMs,
  });
  return {
    started,
    end: (word: string): void => end(word),
    run: (request: Asked, info: { isLocal: boolean; attempt?: number }, env = environment(info)) =>
      env.run<[Asked], string | undefined, typeof run>(run, request),
    work,
    reserve,
    endAll,
  };
}

function environment(info: { isLocal: boolean; attempt?: number }): MockActivityEnvironment {
  return new MockActivityEnvironment({ attempt: 1, ...info });
}

const LOCAL = { isLocal: true };
const TASK = { isLocal: false };

describe('DU-1 work that goes on', () => {
  it('is begun once: the activity that follows gives its result', async () => {
    const stage = createStage();
    assert.equal(await stage.run({ key: 'a' }, LOCAL), undefined);
    const follows = stage.run({ key: 'a' }, TASK);
    stage.end('over');
    assert.equal(await follows, 'over');
    assert.equal(stage.started.length, 1);
  });

  it('that is over before it is followed keeps its result until then', async () => {
    const stage = createStage();
    await stage.run({ key: 'a' }, LOCAL);
    stage.end('over');
    assert.equal(await stage.run({ key: 'a' }, TASK), 'over');
    assert.equal(stage.started.length, 1);
  });

  it('is not begun anew by a local activity that the server asks for twice', async () => {
    const stage = createStage();
    await stage.run({ key: 'a' }, LOCAL);
    const again = stage.run({ key: 'a' }, LOCAL);
    stage.end('over');
    assert.equal(await again, 'over');
    assert.equal(stage.started.length, 1);
  });

  it('is stopped by what stops the activity that follows', async () => {
    const stage = createStage();
    await stage.run({ key: 'a' }, LOCAL);
    const follower = environment(TASK);
    const follows = stage.run({ key: 'a' }, TASK, follower);
    follower.cancel();
    assert.equal(await follows, 'stopped');
  });

  it('is no more than a worker may run: what comes then is begun when something is over', async () => {
    const stage = createStage();
    for (let n = 0; n < MAX; n += 1) assert.equal(await stage.run({ key: `k${n}` }, LOCAL), undefined);
    await assert.rejects(stage.run({ key: 'more' }, LOCAL), /as much as may be/);
    assert.equal(stage.started.length, MAX);
    stage.end('over');
    assert.equal(await stage.run({ key: `k${MAX - 1}` }, TASK), 'over');
    assert.equal(await stage.run({ key: 'more' }, LOCAL), undefined);
    assert.equal(stage.started.length, MAX + 1);
  });

  it('knows whether a workflow task waits for it', async () => {
    const stage = createStage();
    stage.reserve()?.start({ key: 'a' }, 'run', stage.work);
    await eventually(() => stage.started.length === 1);
    const [attempt] = stage.started;
    assert.equal(attempt?.isAwaited?.(), false);
    const waits = stage.run({ key: 'a' }, LOCAL);
    await eventually(() => attempt?.isAwaited?.() === true);
    assert.equal(await waits, undefined);
    assert.equal(attempt?.isAwaited?.(), false);
  });

  it('is not waited for once it says that it lasts, and goes on', async () => {
    const stage = createStage(undefined, 60_000);
    const pending = stage.run({ key: 'a' }, LOCAL);
    await eventually(() => stage.started.length === 1);
    stage.started[0]?.detach?.();
    assert.equal(await pending, undefined);
    assert.equal(await stage.run({ key: 'a' }, LOCAL), undefined);
    const follows = stage.run({ key: 'a' }, TASK);
    stage.end('over');
    assert.equal(await follows, 'over');
    assert.equal(stage.started.length, 1);
  });

  it('is stopped with all that nobody goes on with, by who knows that', async () => {
    const stage = createStage();
    await stage.run({ key: 'one/a' }, LOCAL);
    await stage.run({ key: 'two/a' }, LOCAL);
    await stage.endAll(({ key }) => key === 'one/a');
    assert.deepEqual(
      stage.started.map(({ signal }) => signal.aborted),
      [true, false],
    );
  });

  it('is stopped when nobody follows', async () => {
    const stage = createStage(50);
    await stage.run({ key: 'a' }, LOCAL);
    assert.ok(await eventually(() => stage.started[0]?.signal.aborted === true));
  });
});
