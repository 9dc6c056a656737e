import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DOCUMENT_LIMITS } from '#domain/files/document.ts';
import { documentVersions, listDocuments, readDocument, writeDocument } from '#store/files/document-store.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

describe('VF-1 documents as rows', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await database.pool.query(`insert into tenants (id, name) values ('acme', 'Acme')`);
    await database.pool.query(
      `insert into agents (tenant_id, key, revision, config) values ('acme', 'main', 1, '{}')`,
    );
  });
  after(() => database.drop());

  const of = (user: string | null) => ({ tenant: 'acme', agent: 'main', user });
  const put = (user: string | null, path: string, text: string | null, more: object = {}) =>
    writeDocument(database.pool, of(user), { path, author: user ?? 'owner', by: () => text, ...more });
  const textOf = async (user: string | null, path: string) =>
    (await readDocument(database.pool, of(user), path))?.text;

  it('a user sees the agent’s until there is one of his own, which no other user sees', async () => {
    await put(null, 'SOUL.md', 'calm');
    assert.equal(await textOf('ann', 'SOUL.md'), 'calm');
    await put('ann', 'SOUL.md', 'lively');
    assert.equal(await textOf('ann', 'SOUL.md'), 'lively');
    assert.equal(await textOf('ben', 'SOUL.md'), 'calm');
    assert.equal(await textOf(null, 'SOUL.md'), 'calm');
    await put('ann', 'SOUL.md', null);
    assert.equal(await textOf('ann', 'SOUL.md'), 'calm');
  });

  it('an emptied BOOTSTRAP.md is gone for that user, and the agent’s does not come back', async () => {
    await put(null, 'BOOTSTRAP.md', 'ask for the name');
    await put('ann', 'BOOTSTRAP.md', '');
    assert.equal(await textOf('ann', 'BOOTSTRAP.md'), undefined);
    assert.equal(await textOf('ben', 'BOOTSTRAP.md'), 'ask for the name');
    const paths = (await listDocuments(database.pool, of('ann'))).map(({ path }) => path);
    assert.ok(!paths.includes('BOOTSTRAP.md'));
  });

  it('DU-2 a call writes once, however often it is run', async () => {
    const append = {
      path: 'memory/day.md',
      author: 'ann',
      call: 'call_1',
      by: (seen = '') => `${seen}x`,
    };
    assert.deepEqual(await writeDocument(database.pool, of('ann'), append), { done: false, revision: 1 });
    await put('ann', 'memory/day.md', 'xy');
    assert.deepEqual(await writeDocument(database.pool, of('ann'), append), { done: true, revision: 1 });
    assert.equal(await textOf('ann', 'memory/day.md'), 'xy');
  });

  it('writers at the same time lose nothing, and one who expects another revision is refused', async () => {
    const append = (n: number) => ({
      path: 'MEMORY.md',
      author: `w${n}`,
      by: (seen = '') => `${seen}${n} `,
    });
    await Promise.all([1, 2, 3, 4, 5].map((n) => writeDocument(database.pool, of('cid'), append(n))));
    assert.deepEqual((await textOf('cid', 'MEMORY.md'))?.trim().split(' ').sort(), ['1', '2', '3', '4', '5']);
    await assert.rejects(put('cid', 'MEMORY.md', 'no', { expected: 4 }), /has revision 5, not 4/);
    await assert.rejects(put('cid', 'memory/new.md', 'no', { expected: 1 }), /has revision 0, not 1/);
  });

  it('keeps who wrote what, removals too, and no more versions than it says', async () => {
    for (let n = 0; n < DOCUMENT_LIMITS.versions + 5; n += 1) await put('dan', 'USER.md', `v${n}`);
    await put('dan', 'USER.md', null);
    const versions = await documentVersions(database.pool, of('dan'), 'USER.md', null);
    assert.equal(versions.length, DOCUMENT_LIMITS.versions);
    assert.equal(versions[0]?.bytes, null);
    assert.equal(versions[1]?.author, 'dan');
    assert.equal(
      (await put('dan', 'USER.md', 'again', { expected: 0 })).revision,
      DOCUMENT_LIMITS.versions + 7,
    );
  });

  it('refuses a text that is too long', async () => {
    await assert.rejects(put('ann', 'memory/big.md', 'x'.repeat(DOCUMENT_LIMITS.bytes + 1)), /are the most/);
    assert.equal(await textOf('ann', 'memory/big.md'), undefined);
  });
});
