/** memory_search with pgvector, and without it, on the same rows. */
import { FEATURES } from '#features';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { saveChunks, saveVectors } from '#features/memory/store/memory-index-store.ts';
import { findByVector } from '#features/memory/store/memory-search.ts';
import { migrate } from '#store/postgres/migrate.ts';
import { createPool, type Pool } from '#store/postgres/pool.ts';
import { indexVectors, LARGE } from '#features/memory/store/vector-index.ts';
import { canHaveVectors, startVectorDatabase, type VectorDatabase } from '#test/support/vector-database.ts';

const DIMENSIONS = 32;
const DOCUMENT = 2_000;
const MODEL = 'test/model';
const INDEX = `memory_vectors_near_${DIMENSIONS}`;

/** Vectors of length 1, near to others of their group; the first is what a model returns for an empty text. */
function vectorOf(seed: number): readonly number[] {
  const values = Array.from(
    { length: DIMENSIONS },
    (_, at) => Math.sin((seed % 89) * (at + 1.3)) + 0.3 * Math.sin(seed * 1.7 + seed * at * 0.9),
  );
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}

const skip = !canHaveVectors && 'there are no programs of pgvector for this platform on npm and PyPI';

describe('memory_search by an index of pgvector', { skip }, () => {
  let server: VectorDatabase;
  let pool: Pool;
  before(async () => {
    server = await startVectorDatabase();
    await migrate(server.url, FEATURES);
    pool = createPool({ url: server.url, size: 1, applicationName: 'test', onIdleError: () => undefined });
    await pool.query(`insert into tenants values ('t', 't'), ('other', 'other')`);
    await pool.query(
      `insert into agents (tenant_id, key, revision, config) select id, 'main', 1, '{}' from tenants`,
    );
    await fill('t', 'large', LARGE);
    await fill('t', 'small', DOCUMENT);
    await fill('other', 'large', DOCUMENT);
    // Autovacuum does this some time after so many writes.
    await pool.query('analyze memory_chunks, memory_vectors');
  });
  after(async () => {
    await pool.end();
    await server.stop();
  });

  async function fill(tenant: string, user: string, count: number): Promise<void> {
    const scope = { tenant, agent: 'main', user };
    for (let from = 0; from < count; from += DOCUMENT) {
      const path = `memory/${from}.md`;
      const digest = Buffer.from(path);
      await pool.query(
        `insert into documents (tenant_id, agent_key, user_id, path, revision, text, digest) values ($1, 'main', $2, $3, 1, 'x', $4)`,
        [tenant, user, path, digest],
      );
      const seeds = Array.from({ length: DOCUMENT }, (_, at) => from + at);
      const pieces = seeds.map((_, at) => ({ from: at + 1, to: at + 1, heading: '', text: 'x' }));
      await saveChunks(pool, scope, { path, digest }, pieces, []);
      await saveVectors(pool, scope, { path, digest }, MODEL, seeds.map(vectorOf));
    }
  }

  const near = async (tenant: string, user: string, seed: number, hidden: readonly string[] = []) => {
    const found = await findByVector(pool, { tenant, agent: 'main', user, hidden }, MODEL, vectorOf(seed));
    return found.map(({ item, why }) => `${item.user_id} ${item.path} ${item.n} ${why}`);
  };
  const eachNear = async (seeds: readonly number[]): Promise<readonly (readonly string[])[]> => {
    const found: (readonly string[])[] = [];
    for (const seed of seeds) found.push(await near('t', 'large', seed));
    return found;
  };
  const scans = async (): Promise<number> => {
    // Others see the counts of this connection when it is closed at the latest; here they are flushed.
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await pool.query(
      `select coalesce(sum(idx_scan), 0)::int as n from pg_stat_user_indexes where indexrelname = $1`,
      [INDEX],
    );
    return rows[0].n;
  };

  it('finds what is found without it, with the same likeness, in a large memory, and leaves out what is hidden', async () => {
    const seeds = Array.from({ length: 20 }, (_, at) => 1 + at * 977);
    const without = await eachNear(seeds);
    const hidden = ['large/memory/0.md'];
    assert.deepEqual(await indexVectors(server.url), [INDEX]);
    assert.deepEqual(await indexVectors(server.url), []);
    const having = await eachNear(seeds);
    // Both are approximate, and building an index is random: nearly every piece is found by its own vector.
    const owns = seeds.map(
      (seed) => `large memory/${seed - (seed % DOCUMENT)}.md ${seed % DOCUMENT} meaning 1.00`,
    );
    for (const found of [without, having]) {
      const missed = owns.filter((own, at) => !found[at]?.includes(own));
      assert.ok(missed.length <= 2, missed.join(', '));
    }
    // Each piece that both find has the same similarity.
    const same = having.flatMap((found, at) =>
      found.slice(0, 10).filter((one) => without[at]?.includes(one)),
    );
    assert.ok(same.length >= 0.8 * 10 * seeds.length, `${same.length} of ${10 * seeds.length}`);
    assert.ok((await near('t', 'large', 5)).some((one) => one.includes('memory/0.md')));
    assert.ok(!(await near('t', 'large', 5, hidden)).some((one) => one.includes('memory/0.md')));
    assert.ok((await scans()) > 0, 'the index was not asked');
  });

  it('asks no index for a small memory, which is then exact, and finds nothing of others', async () => {
    const before = await scans();
    for (const [tenant, user] of [
      ['t', 'small'],
      ['other', 'large'],
    ] as const) {
      const found = await near(tenant, user, 77);
      assert.equal(found[0], `${user} memory/0.md 77 meaning 1.00`);
      assert.ok(found.every((one) => one.startsWith(`${user} `)));
    }
    assert.deepEqual(await near('other', 'small', 77), []);
    assert.deepEqual(await near('t', 'large', 0), []);
    assert.equal(await scans(), before);
  });

  it('an index that was left half made is made anew, and one that is gone is done without', async () => {
    await pool.query(`update pg_index set indisvalid = false where indexrelid = '${INDEX}'::regclass`);
    const [first] = await near('t', 'large', 123);
    assert.equal(first, 'large memory/0.md 123 meaning 1.00');
    assert.deepEqual(await indexVectors(server.url), [INDEX]);
    await pool.query(`drop index ${INDEX}`);
    assert.equal((await near('t', 'large', 123))[0], first);
  });
});
