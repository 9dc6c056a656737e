/** F3, IN-11: kill -9 of the worker while a Nexus operation is open, also while the operation is cancelled. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { WorkflowFailedError } from '@temporalio/client';
import { type NexusCaller, startCaller } from '#features/nexus/test/caller.ts';
import { createStand, type Stand } from '#test/support/faults.ts';
import type { Killable } from '#test/support/worker-process.ts';

const ENDPOINT = 'killed-worker';

describe('F3 IN-11 Nexus operations under kill -9', { timeout: 300_000 }, () => {
  let stand: Stand;
  let worker: Killable;
  let caller: NexusCaller;
  before(async () => {
    stand = await createStand({
      workers: 1,
      settings: `nexus: { endpoints: { ${ENDPOINT}: { tenant: red, user: ann } } }`,
      scripts: { slow: "rules:\n  - reply: { delay: 2s, text: 'Answer to {{user}}' }\n" },
      agents: [{ key: 'slow', type: 'open', model: 'rehearsal/slow' }],
    });
    worker = stand.workers[0] ?? assert.fail('there is no worker');
    caller = await startCaller(stand.temporalAddress());
    await caller.connect(ENDPOINT, 'tempoclaw');
  });
  after(async () => {
    await caller?.stop();
    await stand?.close();
  });

  const untilItRuns = (session: string): Promise<true> =>
    stand.until(`a turn in ${session}`, async () => {
      const { rowCount } = await stand.pool.query(
        `select from turns where tenant_id = 'red' and session_key = $1 and status = 'running'`,
        [session],
      );
      return rowCount ? true : undefined;
    });
  const turnsOf = async (session: string): Promise<readonly string[]> => {
    const { rows } = await stand.pool.query<{ status: string }>(
      `select status from turns where tenant_id = 'red' and session_key = $1`,
      [session],
    );
    return rows.map(({ status }) => status);
  };

  it('complete once, with the answer', async () => {
    const handle = await caller.start(ENDPOINT, 'me', 'killed', 'slow');
    await untilItRuns('killed');
    await worker.kill();
    await worker.start();
    assert.equal((await handle.result()).text, 'Answer to me');
    assert.deepEqual(await turnsOf('killed'), ['completed']);
  });

  it('begin when the worker is there again', async () => {
    await worker.kill();
    const handle = await caller.start(ENDPOINT, 'you', 'late', 'slow');
    await worker.start();
    assert.equal((await handle.result()).text, 'Answer to you');
    assert.deepEqual(await turnsOf('late'), ['completed']);
  });

  it('stop their turn when they were cancelled without a worker', async () => {
    const handle = await caller.start(ENDPOINT, 'wait {"timeMs":300000}', 'stopped', 'main');
    await untilItRuns('stopped');
    await worker.kill();
    await handle.cancel();
    await worker.start();
    await assert.rejects(handle.result(), WorkflowFailedError);
    assert.deepEqual(await turnsOf('stopped'), ['stopped']);
  });
});
