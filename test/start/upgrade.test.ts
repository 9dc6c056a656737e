/** DU-5: `tempoclaw up` upgrades the database of a state folder, with a backup to which it goes back. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { cloneRepository, type Clone, type Program } from './program.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 4);
const LATER = '-- Up Migration\ncreate table later (tenant_id text primary key);\n';

describe('DU-5 an upgrade of a state folder', { timeout: 600_000 }, () => {
  let clone: Clone;
  let program: Program;
  /** What a later version adds. */
  let added: string;
  before(async () => {
    clone = await cloneRepository();
    added = join(clone.folder, 'store/migrations/0002_later.sql');
  });
  after(() => clone?.remove());

  /** Ends a command by SIGKILL after so many milliseconds, if it has not ended. */
  const killed = (ms: number, ...args: readonly string[]) => {
    const command = `node bin/tempoclaw.js ${args.join(' ')} >/dev/null 2>&1 & sleep ${ms / 1_000}; kill -9 $!; wait`;
    return clone.command('sh', ['-c', command]);
  };
  const tempoclaw = (...args: readonly string[]) => clone.command('npx', ['tempoclaw', ...args]);
  const backups = () =>
    readdirSync(join(clone.folder, '.tempoclaw/backups')).filter((name) => /^\d/.test(name));
  const agents = async () =>
    ((await program.ask('GET', '/v1/agents')).body.data as { key: string }[]).map(({ key }) => key);
  const add = (key: string) => program.ask('POST', '/v1/agents', { key, model: 'rehearsal/echo' });

  it('begins with a backup, and keeps what was there', async () => {
    program = await clone.start();
    await add('before');
    await program.interrupt();
    await writeFile(added, LATER);
    program = await clone.start();
    assert.match(program.printed(), /upgrades a database of TempoClaw .*; backing it up first/);
    assert.match(program.printed(), /backed up to .*backups/);
    assert.equal(backups().length, 1);
    assert.ok((await agents()).includes('before'));
    await add('after');
    await program.interrupt();
  });

  it('needs none when nothing is new', async () => {
    program = await clone.start();
    assert.doesNotMatch(program.printed(), /backing it up/);
    await program.interrupt();
  });

  it('refuses the version of before, with words that say how to go back', async () => {
    await rm(added);
    const refused = await tempoclaw('up');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /which is older or has fewer features.*left as it is/s);
    assert.match(refused.stderr, /go back to before its upgrade: tempoclaw up --restore-backup/);
    assert.match((await tempoclaw('doctor')).stdout, /✘ Postgres .*--restore-backup/);
  });

  it('goes back to what was there before, with which the version of before works', async () => {
    const restored = await tempoclaw('up', '--restore-backup');
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(restored.stdout, /restored what was there at .*TempoClaw/);
    program = await clone.start();
    const keys = await agents();
    assert.deepEqual([keys.includes('before'), keys.includes('after')], [true, false]);
    const sent = await program.ask('POST', '/v1/sessions/a/messages', { agent: 'before', text: 'hello' });
    assert.equal(sent.status, 202, JSON.stringify(sent.body));
    await program.interrupt();
    const again = await tempoclaw('up', '--restore-backup');
    assert.equal(again.code, 1);
    assert.match(again.stderr, /has no backup of before an upgrade/);
    assert.equal(existsSync(join(clone.folder, '.tempoclaw/backups/restoring')), false);
  });

  it('is whole after kill -9 at any moment of an upgrade and of the way back', async (t) => {
    const chance = createChance(seedOfRun());
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    await writeFile(added, LATER);
    for (let round = 0; round < ROUNDS; round += 1) await killed(chance.between(300, 4_000), 'up');
    program = await clone.start();
    assert.ok((await agents()).includes('before'));
    await add('later');
    await program.interrupt();
    await rm(added);
    for (let round = 0; round < ROUNDS; round += 1)
      await killed(chance.between(200, 1_200), 'up', '--restore-backup');
    const { stdout, stderr } = await tempoclaw('up', '--restore-backup');
    // A kill that came after all of it leaves nothing to restore.
    assert.match(`${stdout}${stderr}`, /restored what was there|has no backup/);
    program = await clone.start();
    const keys = await agents();
    assert.deepEqual([keys.includes('before'), keys.includes('later')], [true, false]);
    await program.interrupt();
  });
});
