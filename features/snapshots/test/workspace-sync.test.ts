/** Several workers as several copies in one process, each with a folder of its own, on the run's Postgres. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFolderSkills } from '#features/skills/activities/folder-skills.ts';
import { cleanStore } from '../activities/clean-store.ts';
import { removeSnapshots } from '../activities/remove-snapshots.ts';
import { Failure } from '#domain/errors.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';
import { type Bench, type Copy, createBench } from './bench.ts';

const key = (): string => randomBytes(6).toString('hex');

describe('VF-6 workspaces that follow the work', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const bench = (t: TestContext): Promise<Bench> => createBench(database, t);

  const scope = ({ folder }: Copy, idempotencyKey = key()) => ({ workspace: folder, idempotencyKey });
  const textOf = async (copy: Copy, path: string): Promise<string | undefined> =>
    (await copy.files.readBytes(scope(copy), path, 1_000_000))?.toString();
  const append = (copy: Copy, path: string, text: string, call?: string) =>
    copy.files.change(scope(copy, call), path, true, (old) =>
      Buffer.concat([old ?? Buffer.alloc(0), Buffer.from(text)]),
    );
  /** Does what a command does, in the folder that is held. */
  async function command(copy: Copy, run: (cwd: string) => Promise<void>): Promise<void> {
    const folder = await copy.files.hold(scope(copy), '.', 'run');
    try {
      await run(folder.cwd);
    } finally {
      await folder.close();
    }
  }

  it('a file that one worker wrote is there for the next, by a tool or by a command, with what was removed gone', async (t) => {
    const { worker, row } = await bench(t);
    const [a, b] = [worker('a'), worker('b')];
    await a.files.write(scope(a), 'notes/one.md', 'one');
    assert.equal(await textOf(b, 'notes/one.md'), 'one');
    await command(b, async (cwd) => {
      await writeFile(join(cwd, 'built'), 'by a command');
      await rm(join(cwd, 'notes'), { recursive: true });
    });
    assert.equal(await textOf(a, 'built'), 'by a command');
    assert.deepEqual(await readdir(a.folder), ['built']);
    const { revision, held } = (await row()) ?? {};
    // These are the previous contents, the write, the command.
    assert.deepEqual([revision, held], [3, false]);
  });

  it('looking changes no revision, and neither does a command that changed nothing', async (t) => {
    const { worker, row } = await bench(t);
    const a = worker('a');
    await a.files.write(scope(a), 'one', 'one');
    const before = await row();
    await a.files.list(scope(a), '.', 10);
    await a.files.isFolder(scope(a), '.');
    await command(a, async () => undefined);
    assert.equal((await row())?.revision, before?.revision);
  });

  it('takes what is there for its first revision, where a folder had files before', async (t) => {
    const { worker } = await bench(t);
    const [a, b] = [worker('a'), worker('b')];
    await mkdir(a.folder, { recursive: true });
    await writeFile(join(a.folder, 'old'), 'from before');
    await a.files.list(scope(a), '.', 10);
    assert.equal(await textOf(b, 'old'), 'from before');
  });

  it('a holder that was killed is followed when its time is over, and its half-done write is nowhere, there neither', async (t) => {
    const { worker, expire, row } = await bench(t);
    const [a, b] = [worker('a'), worker('b')];
    await a.files.write(scope(a), 'kept', 'recorded');
    // The process is gone here: what it has started is on its disk, and the row says that it holds the workspace.
    await a.followed.enter(scope(a), 1_000);
    await writeFile(join(a.folder, 'kept'), 'half');
    await writeFile(join(a.folder, 'torn'), 'half');
    assert.equal((await row())?.held, true);
    await expire();
    assert.equal(await textOf(b, 'kept'), 'recorded');
    await b.files.write(scope(b), 'more', 'by b');
    const again = worker('a');
    assert.equal(await textOf(again, 'kept'), 'recorded');
    assert.deepEqual((await readdir(again.folder)).sort(), ['kept', 'more']);
  });

  it('and so it is when the same machine is the next, with nobody in between', async (t) => {
    const { worker, expire } = await bench(t);
    const a = worker('a');
    await a.files.write(scope(a), 'kept', 'recorded');
    await a.followed.enter(scope(a), 1_000);
    await writeFile(join(a.folder, 'kept'), 'half');
    await expire();
    assert.equal(await textOf(worker('a'), 'kept'), 'recorded');
  });

  it('a frozen holder that comes back keeps nothing: its snapshot is refused, and its folder is made right', async (t) => {
    const { worker, expire } = await bench(t);
    const [a, b] = [worker('a'), worker('b')];
    await a.files.write(scope(a), 'file', 'first');
    // It freezes in the middle of a command.
    const frozen = command(a, async (cwd) => {
      await writeFile(join(cwd, 'file'), 'frozen');
      await expire();
      await b.files.write(scope(b), 'file', 'by b');
    });
    await assert.rejects(frozen, { code: 'OutcomeUnknown', message: /went on to another worker/ });
    assert.equal(await textOf(b, 'file'), 'by b');
    assert.equal(await textOf(a, 'file'), 'by b');
  });

  it('a change that may run again is refused so that it does, and then is there once', async (t) => {
    const { worker, expire } = await bench(t);
    const [a, b] = [worker('a'), worker('b')];
    await append(a, 'log', 'one\n');
    const call = key();
    await append(a, 'log', 'two\n', call);
    // It was stored but not recorded, because the worker died. The repeat is elsewhere.
    assert.deepEqual(await append(b, 'log', 'two\n', call), { done: true });
    assert.equal(await textOf(b, 'log'), 'one\ntwo\n');
    // It was not stored, because another worker was faster.
    const other = key();
    const holding = await a.followed.enter(scope(a), 1_000);
    await expire();
    await append(b, 'log', 'three\n');
    await assert.rejects(append(a, 'log', 'four\n', other), { type: 'Unavailable' });
    await holding.leave();
    assert.deepEqual(await append(a, 'log', 'four\n', other), { done: false });
    assert.equal(await textOf(b, 'log'), 'one\ntwo\nthree\nfour\n');
  });

  it('what could not be kept since the store is away is thrown away, and said', async (t) => {
    const made = await bench(t);
    const [a, b] = [made.worker('a'), made.worker('b')];
    await a.files.write(scope(a), 'file', 'first');
    made.gate = (what) => {
      if (what === 'put') throw new Failure('Unavailable', 'the store is away');
    };
    await assert.rejects(append(a, 'file', 'second'), { type: 'Unavailable', message: 'the store is away' });
    const run = command(a, (cwd) => writeFile(join(cwd, 'file'), 'by a command'));
    await assert.rejects(run, { code: 'OutcomeUnknown', message: /may be lost: the store is away/ });
    made.gate = () => undefined;
    assert.equal(await textOf(b, 'file'), 'first');
    assert.equal(await textOf(a, 'file'), 'first');
  });

  it('what has no room is refused with its name, and is gone after', async (t) => {
    const { worker } = await bench(t);
    const a = worker('a', database.pool, { fileBytes: 100, entries: 10, depth: 5 });
    await a.files.write(scope(a), 'file', 'first');
    const run = command(a, (cwd) => writeFile(join(cwd, 'large'), 'x'.repeat(101)));
    await assert.rejects(run, {
      code: 'OutcomeUnknown',
      message: /large: it has 101 bytes; a file may have 100/,
    });
    assert.deepEqual(
      (await a.files.list(scope(a), '.', 10)).entries.map(({ name }) => name),
      ['file'],
    );
  });

  it('a worker waits for a workspace that another has, and takes it when it is given back', async (t) => {
    const { worker } = await bench(t);
    const [a, b] = [worker('a'), worker('b')];
    await a.files.write(scope(a), 'file', '1');
    const order: string[] = [];
    let entered = (): void => undefined;
    const isIn = new Promise<void>((resolve) => (entered = resolve));
    const first = command(a, async (cwd) => {
      entered();
      await sleep(300);
      await writeFile(join(cwd, 'file'), '2');
      order.push('a');
    });
    await isIn;
    const seen = textOf(b, 'file').then((text) => (order.push('b'), text));
    await first;
    assert.equal(await seen, '2');
    assert.deepEqual(order, ['a', 'b']);
  });

  it('says who has it when it waited long enough, and takes nothing after that', async (t) => {
    const { worker, row } = await bench(t);
    const [a, b] = [worker('a'), worker('b')];
    const use = await a.followed.enter(scope(a), 1_000);
    const taken = (await row())?.fence;
    await assert.rejects(b.followed.enter(scope(b), 50), {
      code: 'Timeout',
      message: /the workspace main is in use by worker a; nothing was done/,
    });
    const stop = new AbortController();
    const waiting = b.followed.enter({ ...scope(b), signal: stop.signal }, 60_000);
    stop.abort(new Error('the turn was stopped'));
    await assert.rejects(waiting, /the turn was stopped/);
    // A running try finds it held; a later one would take it.
    await sleep(600);
    await use.leave();
    await sleep(600);
    assert.deepEqual([(await row())?.held, (await row())?.fence], [false, taken]);
  });

  it('another worker does not take it while its files are brought here, however long that lasts', async (t) => {
    const made = await bench(t);
    const [a, b] = [made.worker('a'), made.worker('b')];
    await a.files.write(scope(a), 'file', '1');
    const until = async (): Promise<number> => {
      const { rows } = await database.pool.query(
        'select extract(epoch from held_until)::float8 as until from workspaces where tenant_id = $1',
        [made.tenant],
      );
      return rows[0].until;
    };
    let isRenewed = false;
    made.gate = async () => {
      made.gate = () => undefined;
      const first = await until();
      const deadline = Date.now() + 6_000;
      while (!isRenewed && Date.now() < deadline) {
        await sleep(100);
        isRenewed = (await until()) > first;
      }
    };
    assert.equal(await textOf(b, 'file'), '1');
    assert.equal(isRenewed, true);
  });

  it('a worker that lost it while it brought the files here takes it again before it writes', async (t) => {
    const made = await bench(t);
    const [a, b] = [made.worker('a'), made.worker('b')];
    await append(a, 'log', 'one\n');
    made.gate = async () => {
      made.gate = () => undefined;
      await made.expire();
      await append(a, 'log', 'two\n');
    };
    await append(b, 'log', 'three\n');
    assert.equal(await textOf(a, 'log'), 'one\ntwo\nthree\n');
  });

  it('calls of one worker share it at the same time, and it is given back with the last of them', async (t) => {
    const { worker, row } = await bench(t);
    const a = worker('a');
    const [one, two] = await Promise.all([
      a.followed.enter(scope(a), 5_000),
      a.followed.enter(scope(a), 5_000),
    ]);
    const taken = (await row())?.fence;
    await Promise.all(Array.from({ length: 10 }, (_, n) => a.files.write(scope(a), `file-${n}`, String(n))));
    await one.leave();
    const { held, fence } = (await row()) ?? {};
    assert.deepEqual([held, fence], [true, taken]);
    await two.leave();
    assert.equal((await row())?.held, false);
    const b = worker('b');
    assert.equal((await b.files.list(scope(b), '.', 20)).total, 10);
  });

  it('three workers that change one file at once add each change once', async (t) => {
    const { worker } = await bench(t);
    const copies = [worker('a'), worker('b'), worker('c')];
    await Promise.all(
      copies.map(async (copy, first) => {
        for (let n = first; n < 24; n += 3)
          assert.deepEqual(await append(copy, 'log', `${n}\n`), { done: false });
      }),
    );
    const lines = ((await textOf(copies[0] as Copy, 'log')) ?? '').trim().split('\n').map(Number);
    const expected = Array.from({ length: 24 }, (_, n) => n);
    assert.deepEqual(
      lines.sort((one, other) => one - other),
      expected,
    );
  });

  it('is held while a command runs in the background, and what that changed is kept when it ends', async (t) => {
    const { worker, row } = await bench(t);
    const [a, b] = [worker('a'), worker('b')];
    let isRunning = true;
    const folder = await a.files.hold(scope(a), '.', 'run');
    folder.heldWhile?.(async () => isRunning);
    await folder.close();
    await writeFile(join(a.folder, 'served'), 'in the background');
    // Longer than a lease lasts.
    await sleep(7_000);
    assert.equal((await row())?.held, true);
    await assert.rejects(b.followed.enter(scope(b), 50), { code: 'Timeout' });
    isRunning = false;
    await a.close();
    assert.equal(await textOf(b, 'served'), 'in the background');
    assert.deepEqual(a.errors, []);
  });

  it('a folder that two workers share is right too: nobody trusts what he knew before somebody else had it', async (t) => {
    const { worker, expire } = await bench(t);
    const [one, two] = [worker('same'), worker('same')];
    await one.files.write(scope(one), 'file', 'first');
    await two.files.write(scope(two), 'file', 'second');
    // It is killed in the middle.
    await two.followed.enter(scope(two), 1_000);
    await writeFile(join(two.folder, 'file'), 'half');
    await expire();
    assert.equal(await textOf(one, 'file'), 'second');
  });

  it('removes objects that no kept revision names, and none that one does', async (t) => {
    const made = await bench(t);
    const { worker, store, tenant, row } = made;
    const [a, b] = [worker('a'), worker('b')];
    await a.files.write(scope(a), 'folder/stays', 'stays');
    for (let n = 0; n < 55; n += 1) await a.files.write(scope(a), 'folder/changes', `text ${n}`);
    const count = async (): Promise<number> => {
      let all = 0;
      for await (const _ of store.list(`${tenant}/`)) all += 1;
      return all;
    };
    const before = await count();
    const held = await a.followed.enter(scope(a), 1_000);
    const options = { pool: database.pool, store, holder: 'sweep' };
    assert.equal(await cleanStore(options), 0, 'it is in use');
    await held.leave();
    const removed = await cleanStore(options);
    assert.ok(removed > 100, `${removed} objects`);
    assert.equal(await count(), before - removed);
    assert.equal(await cleanStore(options), 0);
    // These are roots, top folders, folders and texts of five revisions, and one text that all have.
    assert.equal(await count(), 5 * 4 + 1);
    assert.equal((await row())?.roots.length, 5);
    assert.equal(await textOf(b, 'folder/changes'), 'text 54');
    assert.equal(await textOf(b, 'folder/stays'), 'stays');
  });

  it('removed for good it has no object and no row, and no worker brings back what it still has', async (t) => {
    const made = await bench(t);
    const { worker, store, tenant, row } = made;
    const [a, b] = [worker('a'), worker('b')];
    await a.files.write(scope(a), 'secret', 'of a');
    await b.files.write(scope(b), 'secret', 'of b');
    const held = await b.followed.enter(scope(b), 1_000);
    const options = { pool: database.pool, store, holder: 'forgets' };
    let gone = 0;
    const before = (await row())?.fence;
    const removal = removeSnapshots(options, tenant, 'main', async () => void (gone += 1));
    await held.leave();
    await removal;
    assert.deepEqual([gone, await row()], [1, undefined]);
    for await (const object of store.list(`${tenant}/`)) assert.fail(object);
    await removeSnapshots(options, tenant, 'main', () => assert.fail('there is none'));
    await assert.rejects(textOf(a, 'secret'), /no such file/);
    await a.files.write(scope(a), 'new', 'of a');
    await assert.rejects(textOf(b, 'secret'), /no such file/);
    assert.equal(await textOf(b, 'new'), 'of a');
    const again = (await row())?.fence;
    assert.ok(Number(again) > Number(before) + 10, 'a holder of before can hold nothing of it by its count');
  });

  it('skills of a workspace are found by a worker that never had it, and folders of the settings are left alone', async (t) => {
    const { worker } = await bench(t);
    const [a, b] = [worker('a'), worker('b')];
    const text = '---\nname: greeting\ndescription: Says hello.\n---\nSay hello.\n';
    await a.files.write(scope(a), 'skills/greeting/SKILL.md', text);
    const skills = createFolderSkills(Date.now);
    assert.deepEqual(
      (await skills.list(b.files, b.folder, 'skills', true)).map(({ name }) => name),
      ['greeting'],
    );
    const settings = await temporaryFolder(t);
    await mkdir(join(settings, 'greeting'));
    await writeFile(join(settings, 'greeting/SKILL.md'), text);
    assert.equal((await skills.list(b.files, settings, '.')).length, 1);
    assert.deepEqual(await readdir(settings), ['greeting']);
  });

  it('workspaces of tenants and names are apart', async (t) => {
    const { worker, tenant } = await bench(t);
    const [a, b] = [worker('a'), worker('b')];
    await a.files.write(scope(a), 'file', 'of main');
    const other = { ...b, folder: join(b.folder, '..', 'other') };
    assert.equal((await other.files.list(scope(other), '.', 10)).total, 0);
    const { rows } = await database.pool.query(
      'select name from workspaces where tenant_id = $1 order by 1',
      [tenant],
    );
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['main', 'other'],
    );
    assert.equal(await readFile(join(a.folder, 'file'), 'utf8'), 'of main');
  });
});
