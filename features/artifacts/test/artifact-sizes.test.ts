/** DU-3: how much a tenant keeps is counted as it comes and goes, and not added up at each upload. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { ARTIFACTS_BYTES } from '../contract.ts';
import { putArtifact } from '../store.ts';

const USERS = [null, 'ann', 'bob'] as const;

describe('DU-3 the sizes of artifacts', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await database.pool.query(`insert into tenants values ('t', 't'), ('other', 'other')`);
    await database.pool.query(
      `insert into files (tenant_id, digest, bytes) select t.id, 'd' || n, '' from tenants t, generate_series(0, 3) n`,
    );
  });
  after(() => database.drop());

  const counted = async () =>
    (await database.pool.query('select tenant_id, user_id, bytes::int from artifact_sizes order by 1, 2'))
      .rows;
  const sums = async () =>
    (
      await database.pool.query(
        `select tenant_id, coalesce(user_id, '') as user_id, sum(size)::int as bytes from artifacts group by 1, 2 order by 1, 2`,
      )
    ).rows;

  it('are the sums of what is there, however artifacts come and go', async () => {
    const row = fc.record({
      tenant: fc.constantFrom('t', 'other'),
      id: fc.nat({ max: 9 }),
      user: fc.constantFrom(...USERS),
      digest: fc.nat({ max: 3 }),
      size: fc.integer({ min: 1, max: 1_000 }),
    });
    const change = fc.oneof(
      fc.record({ add: fc.array(row, { minLength: 1, maxLength: 5 }) }),
      fc.record({ remove: fc.nat({ max: 9 }) }),
      fc.record({ user: fc.constantFrom(...USERS) }),
      // The rows of artifacts go with those of their bytes.
      fc.record({ digest: fc.nat({ max: 3 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        for (const one of changes) {
          if ('add' in one)
            await database.pool.query(
              `insert into artifacts (tenant_id, id, user_id, type, digest, size)
               select distinct on (r.tenant, r.id) r.tenant, r.id::text, r.user, 'text/plain', 'd' || r.digest, r.size
               from jsonb_to_recordset($1) r (tenant text, id int, "user" text, digest int, size int)
               on conflict (tenant_id, id) do update set brought_at = now()`,
              [JSON.stringify(one.add)],
            );
          else if ('remove' in one)
            await database.pool.query('delete from artifacts where id = $1', [String(one.remove)]);
          else if ('user' in one)
            await database.pool.query('delete from artifacts where user_id is not distinct from $1', [
              one.user,
            ]);
          else {
            await database.pool.query('delete from files where digest = $1', [`d${one.digest}`]);
            await database.pool.query(
              `insert into files (tenant_id, digest, bytes) select id, $1, '' from tenants`,
              [`d${one.digest}`],
            );
          }
          assert.deepEqual(await counted(), await sums());
        }
      }),
      { numRuns: 40 },
    );
  });

  it('an upload for which there is no room is refused, and one that is there already is not', async () => {
    await database.pool.query('delete from artifacts');
    const put = (text: string) =>
      putArtifact({ pool: database.pool } as never, 't', {
        user: 'ann',
        bytes: Buffer.from(text),
        type: 'text/plain',
        hasSecret: () => false,
      } as never);
    await put('kept');
    await database.pool.query(`update artifact_sizes set bytes = $1 where user_id = 'ann'`, [
      ARTIFACTS_BYTES,
    ]);
    await assert.rejects(put('too much'), /All artifacts together/);
    await put('kept');
  });
});
