/** VF-4: concurrent changes of one file are all kept, whichever worker each of them runs in. */
import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { createFiles } from '#activities/workspace/files.ts';
import type { Files } from '#activities/workspace/contract.ts';
import { createFileLock } from '#store/files/file-lock.ts';
import { createPool, type Pool } from '#store/postgres/pool.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { temporaryFolder, toolCall } from '#test/support/tool-call.ts';

const WORKERS = 3;
const CHANGES = 20;

describe('VF-4 one file, several workers', () => {
  let database: TestDatabase;
  let pools: readonly Pool[];
  before(async () => {
    database = await createTestDatabase();
    pools = Array.from({ length: WORKERS }, () =>
      createPool({ url: database.url, size: 2, applicationName: 'worker', onIdleError: () => undefined }),
    );
  });
  after(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await database.drop();
  });

  async function workers(t: TestContext): Promise<{ all: readonly Files[]; workspace: string }> {
    const base = await temporaryFolder(t);
    const workspace = join(base, 'default', 'shared');
    await mkdir(workspace, { recursive: true });
    const all = pools.map((pool, number) =>
      createFiles({ journalDir: join(base, `journal${number}`), now: Date.now, lock: createFileLock(pool) }),
    );
    return { all, workspace };
  }

  const line = (text: string) => (old: Buffer | null) =>
    Buffer.concat([old ?? Buffer.alloc(0), Buffer.from(text)]);

  it('every change of each is in it', async (t) => {
    const { all, workspace } = await workers(t);
    const words = all.flatMap((_, worker) =>
      Array.from({ length: CHANGES }, (_unused, change) => `${worker}-${change}\n`),
    );
    await Promise.all(
      all.flatMap((files, worker) =>
        words
          .filter((word) => word.startsWith(`${worker}-`))
          .map((word) => files.change(toolCall(workspace), 'log.txt', true, line(word))),
      ),
    );
    const kept = (await readFile(join(workspace, 'log.txt'), 'utf8')).split('\n').filter(Boolean);
    assert.deepEqual(kept.toSorted(), words.map((word) => word.trim()).toSorted());
  });

  it('a whole file that is put there meanwhile is not written over by what was read before it', async (t) => {
    const { all, workspace } = await workers(t);
    const [one, two] = all;
    assert.ok(one && two);
    await one.write(toolCall(workspace), 'a.txt', 'old\n');
    let whole: Promise<unknown> = Promise.resolve();
    await one.change(toolCall(workspace), 'a.txt', false, (old) => {
      whole = two.write(toolCall(workspace), 'a.txt', 'whole\n');
      return line('changed\n')(old);
    });
    await whole;
    assert.equal(await readFile(join(workspace, 'a.txt'), 'utf8'), 'whole\n');
  });

  it('of several that replace the same version one does', async (t) => {
    const { all, workspace } = await workers(t);
    const [files] = all;
    assert.ok(files);
    const { version } = await files.write(toolCall(workspace), 'a.txt', 'old');
    const outcomes = await Promise.allSettled(
      all.map((each, worker) =>
        each.write(toolCall(workspace), 'a.txt', `by ${worker}`, (there) => assert.equal(there, version)),
      ),
    );
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  });
});
