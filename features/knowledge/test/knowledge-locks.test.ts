/** Tests that a correction of the knowledge graph and the reading of a document never wait for each other. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { eventually } from '#test/support/processes.ts';
import { observeStatements } from '#test/support/statements.ts';
import { saveChunks } from '#features/memory/store/memory-index-store.ts';
import { keepParts, type ReadPart, saveFacts } from '../store/knowledge-index-store.ts';
import { findEntity, listEntities, mergeEntities, splitEntity } from '../store/knowledge-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

const SCOPE = { tenant: 'x', agent: 'reads', user: null };
const PATH = 'memory/all.md';

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A part in which Ann and Anna know each other. */
function partOf(text: string): ReadPart {
  const entities = ['Ann', 'Anna'].map((name) => ({ type: 'person', names: [name], line: 0 }));
  const relation = { type: 'knows', line: 0, toLine: 0, isSingle: false };
  const relations = [{ ...relation, from: 0, to: 1, validFrom: undefined, validTo: undefined }];
  return { digest: digestOf(text), from: 1, texts: [text], entities, relations };
}

describe('TL DU-2 locks of the knowledge graph', { timeout: 60_000 }, () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    const { pool } = database;
    await pool.query(`insert into tenants values ('x', 'x')`);
    await pool.query(`insert into agents (tenant_id, key, revision, config) values ('x', 'reads', 1, '{}')`);
  });
  after(() => database.drop());

  const document = () => ({ path: PATH, digest: digestOf('text'), revision: 1, chunks: [] });

  /** Two entities of which the first was merged into the second, which a later part names. */
  async function mergedPeople(): Promise<{ readonly ann: string; readonly anna: string }> {
    const { pool } = database;
    await pool.query('delete from documents');
    await pool.query('delete from knowledge_entities');
    await pool.query(
      `insert into documents (tenant_id, agent_key, path, revision, text, digest) values ('x', 'reads', $1, 1, 'text', $2)`,
      [PATH, digestOf('text')],
    );
    await saveFacts(pool, SCOPE, document(), partOf('one'), []);
    const found = await listEntities(forTenant(pool, 'x'), { viewer: null }, { limit: 9, after: 0 });
    const [ann, anna] = ['Ann', 'Anna'].map((name) => found.find((one) => one.name === name)?.id ?? '');
    assert.ok(ann && anna);
    return { ann, anna };
  }

  async function oneWaits(): Promise<void> {
    const isWaiting = async (): Promise<boolean> => {
      const { rows } = await database.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    };
    assert.ok(await eventually(isWaiting, 10_000));
  }

  it('a merge is taken back while a part of a document is saved', async (t) => {
    const { pool } = database;
    const { ann, anna } = await mergedPeople();
    assert.equal(await mergeEntities(pool, SCOPE, anna, ann, 'me'), true);
    await saveFacts(pool, SCOPE, document(), partOf('two'), []);
    let split: Promise<boolean> | undefined;
    observeStatements(t, pool, async ({ text }) => {
      if (split || !/from documents where .* for update/s.test(text)) return;
      split = splitEntity(pool, SCOPE, ann, anna, 'me');
      split.catch(() => undefined);
      await oneWaits();
    });
    await saveFacts(pool, SCOPE, document(), partOf('three'), []);
    assert.equal(await split, true);
    assert.equal((await findEntity(forTenant(pool, 'x'), anna, null))?.name, 'Anna');
  });

  it('two are merged while a document is cut into parts anew', async (t) => {
    const { pool } = database;
    const { ann, anna } = await mergedPeople();
    let merge: Promise<boolean> | undefined;
    observeStatements(t, pool, async ({ text }) => {
      if (merge || !/delete from knowledge_parts/.test(text)) return;
      merge = mergeEntities(pool, SCOPE, anna, ann, 'me');
      merge.catch(() => undefined);
      await oneWaits();
    });
    const reader = { indexed: keepParts } as never;
    await saveChunks(pool, SCOPE, document(), [], [reader]);
    assert.equal(await merge, false, 'nothing names them any more');
  });
});
