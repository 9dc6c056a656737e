/** VF-6 with a bucket that is slow to remove. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { cleanStore } from '../activities/clean-store.ts';
import { removeSnapshots } from '../activities/remove-snapshots.ts';
import { createBench } from './bench.ts';

describe('VF-6 workspaces while their objects are removed', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('stay held for as long as that takes, so that no worker writes anew what is about to go', async (t) => {
    const { worker, store, tenant, row } = await createBench(database, t);
    const a = worker('a');
    const scope = { workspace: a.folder, idempotencyKey: 'call' };
    for (let n = 0; n < 55; n += 1)
      await a.files.write({ ...scope, idempotencyKey: `call-${n}` }, 'changes', `text ${n}`);
    const held: unknown[] = [];
    const slow = {
      ...store,
      async remove(keys: readonly string[]) {
        // Most of the lease is over when the bucket begins.
        await database.pool.query(
          `update workspaces set held_until = clock_timestamp() + interval '2500 ms' where tenant_id = $1`,
          [tenant],
        );
        await sleep(3_000);
        held.push((await row())?.held);
        await store.remove(keys);
      },
    };
    const options = { pool: database.pool, store: slow, holder: 'sweep' };
    assert.ok((await cleanStore(options)) > 100);
    await removeSnapshots(options, tenant, 'main', async () => undefined);
    assert.deepEqual(held, [true, true]);
  });
});
