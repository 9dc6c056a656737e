/** DU-3: What the promotion of a standby loses, and what it does not where commits wait for the standby. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { durabilityCheck } from '#features/local/postgres/durability-check.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { query, type Replicated, startReplicated } from '#test/support/standby.ts';

const WRITERS = 4;

/** Writes rows until the server is gone; returns those that it acknowledged. */
async function writeUntilGone(url: string, writer: number): Promise<readonly string[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  const acknowledged: string[] = [];
  try {
    for (let n = 0; ; n += 1) {
      const id = `${writer}-${n}`;
      await client.query('insert into records (id) values ($1)', [id]);
      acknowledged.push(id);
    }
  } catch {
    // The server was killed.
    return acknowledged;
  }
}

for (const isSynchronous of [false, true])
  describe(`DU-3 a standby that commits ${isSynchronous ? 'wait for' : 'do not wait for'}`, {
    timeout: 180_000,
  }, () => {
    let servers: Replicated;
    const chance = createChance(seedOfRun());
    before(async () => {
      servers = await startReplicated();
      await query(servers.url, 'create table records (id text primary key)');
      if (isSynchronous) await servers.waitFor('ANY 1 (*)');
    });
    after(() => servers?.stop());

    it(isSynchronous ? 'doctor finds nothing missing' : 'doctor warns, and says what to set', async () => {
      const found = await durabilityCheck(servers.url).look();
      if (isSynchronous) return assert.equal(found, 'commits wait for the disk, and for a standby');
      assert.ok(typeof found === 'object');
      assert.match(found[0]?.detail ?? '', /1 standby may lag behind/);
      assert.match(found[0]?.remedy ?? '', /synchronous_standby_names = 'ANY 1 \(\*\)'/);
    });

    it(`a promotion after a kill loses ${isSynchronous ? 'nothing' : 'what the standby had not got'}`, async (t) => {
      t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
      const writers = Array.from({ length: WRITERS }, (_, n) => writeUntilGone(servers.url, n));
      await new Promise((resolve) => setTimeout(resolve, chance.between(100, 600)));
      await servers.cutOff();
      await new Promise((resolve) => setTimeout(resolve, chance.between(100, 600)));
      await servers.failOver();
      const acknowledged = (await Promise.all(writers)).flat();
      const rows = await query<{ id: string }>(servers.standbyUrl, 'select id from records');
      const there = new Set(rows.map(({ id }) => id));
      const lost = acknowledged.filter((id) => !there.has(id));
      t.diagnostic(`${lost.length} of ${acknowledged.length} acknowledged records were lost`);
      assert.ok(acknowledged.length > 0);
      if (isSynchronous) assert.deepEqual(lost, []);
      else assert.ok(lost.length > 0);
    });
  });
