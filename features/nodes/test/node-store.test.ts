/** Nodes as rows: the id under which a node on a task queue is invoked, and that such a node exists. */
import { ROWS } from '#test/support/rows.ts';
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { insertTenant } from '#store/api-key-store.ts';
import { countSealedRows, resealRows } from '#store/key-rotation.ts';
import { insertInvocation, sendByQueue } from '../store/node-invocation-store.ts';
import { connectNode, findNode, hasQueueNodes, inviteNode, joinNode } from '../store/node-store.ts';
import { createSealer } from '#store/seal.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createTestDatabase } from '#test/support/test-database.ts';

it('TL nodes the key of a node’s token is sealed under the master key, and goes over to a new one', async (t) => {
  const { pool, drop } = await createTestDatabase();
  t.after(drop);
  await insertTenant(pool, 'acme', 'Acme');
  const [old, next] = [randomBytes(32), randomBytes(32)];
  const sealer = createSealer([old]);
  const code = { id: 'ABCDEF', hash: randomBytes(32) };
  const invite = { id: randomUUID(), name: 'box', allowed: null, codeId: code.id, codeHash: code.hash };
  await inviteNode(forTenant(pool, 'acme'), invite, 'ann');
  assert.equal((await countSealedRows(pool, ROWS)).size, 0);
  const token = { hash: randomBytes(32), key: randomBytes(32) };
  assert.equal(await joinNode(pool, sealer, code, token), 'box');
  const { rows } = await pool.query<{ row: string; sealed: string }>(
    'select n::text as row, sealed from nodes n',
  );
  for (const form of ['hex', 'base64'] as const) assert.ok(!rows[0]?.row.includes(token.key.toString(form)));
  assert.ok(!Buffer.from(rows[0]?.sealed ?? '', 'base64').includes(token.key.toString('base64')));

  const about = { platform: 'test', version: '1', journal: randomUUID(), capabilities: [] };
  const { id } = (await findNode(forTenant(pool, 'acme'), 'box')) ?? assert.fail();
  await connectNode(forTenant(pool, 'acme'), id, randomUUID(), about);
  assert.equal(await hasQueueNodes(pool), false);
  await connectNode(forTenant(pool, 'acme'), id, randomUUID(), { ...about, task_queue: 'q' });
  assert.equal(await hasQueueNodes(pool), true);

  const request = { id: 'call_1', node: id, session: 's', capability: 'x', params: {}, seconds: 600 };
  await insertInvocation(pool, sealer, 'acme', request);
  assert.deepEqual((await sendByQueue(pool, sealer, 'acme', 'call_1'))?.key, token.key);
  const both = createSealer([next, old]);
  const reseal = (sealed: string, place: string): string => both.seal(both.open(sealed, place), place);
  assert.equal(await resealRows(pool, ROWS, both.keyId, reseal), 1);
  assert.deepEqual([...(await countSealedRows(pool, ROWS))], [[both.keyId, 1]]);
  assert.deepEqual((await sendByQueue(pool, both, 'acme', 'call_1'))?.key, token.key);
});
