/** Large artifacts in an object store behave as in Postgres, and are removed when nothing needs them. */
import type { RowParts } from '#store/row-parts.ts';
import { ROWS } from '#test/support/rows.ts';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openArtifacts } from '../open-artifacts.ts';
import { type ArtifactPlaces, removeUnneededObjects } from '../store.ts';
import { removeUnneededFiles } from '#store/files/file-store.ts';
import { pngOf } from '#test/support/image-bytes.ts';
import { type S3Server, startS3Server } from '#test/support/s3-server.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const PIECE = 4 * 1024 * 1024;

describe('TL artifacts in an object store', () => {
  let server: S3Server;
  let stack: Stack;
  let places: ArtifactPlaces & { readonly rows: RowParts };
  before(async () => {
    server = await startS3Server();
    const { keys, url: endpoint } = server;
    const s3 = { ...keys, endpoint, region: 'us-east-1' };
    const store = 's3://bucket/files';
    const artifacts = { store, s3 };
    stack = await startStack({ artifacts, settings: JSON.stringify({ artifacts }) });
    places = { ...openArtifacts(stack.pool, { artifacts }, async (text) => text), rows: ROWS };
  });
  after(async () => {
    await stack?.stop();
    await server?.close();
  });

  const headers = (): Record<string, string> => ({ authorization: `Bearer ${stack.key}` });

  async function put(bytes: Buffer, query = '') {
    const response = await fetch(`${stack.url}/v1/artifacts${query}`, {
      method: 'POST',
      headers: headers(),
      body: new Blob([new Uint8Array(bytes)]),
    });
    return { status: response.status, body: (await response.json()) as any };
  }

  const read = async (id: string, range?: string): Promise<Buffer> => {
    const request = { headers: { ...headers(), ...(range && { range }) } };
    return Buffer.from(await (await fetch(`${stack.url}/v1/artifacts/${id}`, request)).arrayBuffer());
  };

  /** Keys of the objects of a file. */
  const kept = (digest: string): string[] => [...server.objects.keys()].filter((key) => key.includes(digest));

  const fileOf = async (digest: string) =>
    (
      await stack.pool.query(`select bytes is null as away, in_store, made from files where digest = $1`, [
        digest,
      ])
    ).rows[0];

  /** Makes it old, as after a day in which nothing used it. */
  const age = (digest: string) =>
    stack.pool.query(`update files set needed_at = now() - interval '2 days' where digest = $1`, [digest]);

  /** A text of this many bytes that no other test has. */
  const text = (words: string, bytes: number): Buffer => Buffer.alloc(bytes, `${words}\n`);

  it('a large file is in pieces under its tenant and digest, and comes back whole or in part', async () => {
    const bytes = text('whole', PIECE + 300_000);
    const { status, body } = await put(bytes, '?filename=whole.txt');
    assert.equal(status, 201);
    const { made, ...file } = await fileOf(body.sha256);
    const at = `files/${stack.tenant}/${body.sha256}/${made}`;
    assert.deepEqual(kept(body.sha256).toSorted(), [`${at}/0`, `${at}/1`]);
    assert.deepEqual(file, { away: true, in_store: true });
    assert.ok((await read(body.id)).equals(bytes));
    const across = await read(body.id, `bytes=${PIECE - 3}-${PIECE + 4}`);
    assert.ok(across.equals(bytes.subarray(PIECE - 3, PIECE + 5)));
    assert.equal((await put(bytes, '?filename=whole.txt')).body.id, body.id);
  });

  it('what is small, or an image that models are shown, stays in Postgres', async () => {
    for (const bytes of [text('small', 1_000), Buffer.concat([pngOf(3, 3), Buffer.alloc(300_000, 7)])]) {
      const { body } = await put(bytes);
      const { away, in_store } = await fileOf(body.sha256);
      assert.deepEqual([away, in_store, kept(body.sha256)], [false, false, []]);
    }
  });

  it('a tool reads it', async () => {
    const { body } = await put(text('otters swim', 300_000));
    const { turn_id } = await stack.worker.say(
      'reads',
      `read_document ${JSON.stringify({ prompt: 'What is it?', media_id: `artifact:${body.id}` })}`,
    );
    await stack.worker.ended(turn_id);
    const [call] = await stack.worker.calls(turn_id);
    assert.equal(call?.ok, true, String(call?.result));
    assert.match(call?.result ?? '', /otters swim/);
  });

  it('without the store nothing is put, and what was begun goes with the sweep', async () => {
    const bytes = text('broken', 2 * PIECE);
    server.onRequest = (method, key) => {
      if (method === 'PUT' && key.endsWith('/1')) server.failNext(1, 403);
    };
    const { status, body } = await put(bytes);
    assert.equal(status, 503, JSON.stringify(body));
    server.onRequest = undefined;
    const [remaining = ''] = [...server.objects.keys()].filter((key) =>
      server.objects.get(key)?.includes('broken'),
    );
    const digest = remaining.split('/')[2] ?? '';
    assert.match(digest, /^[0-9a-f]{64}$/);
    await removeUnneededObjects(places);
    assert.equal(kept(digest).length, 1, 'it may be being brought');
    await age(digest);
    await removeUnneededFiles(stack.pool, ROWS);
    await removeUnneededObjects(places);
    assert.deepEqual([kept(digest), await fileOf(digest)], [[], undefined]);
    const again = await put(bytes);
    assert.deepEqual([again.status, kept(digest).length], [201, 2]);
  });

  it('objects go when the last artifact of their bytes has gone, and no sooner', async () => {
    const bytes = text('expires', 300_000);
    const one = (await put(bytes, '?filename=one.txt')).body;
    const two = (await put(bytes, '?filename=two.txt')).body;
    await stack.pool.query('delete from artifacts where id = $1', [one.id]);
    await age(one.sha256);
    await removeUnneededObjects(places);
    assert.equal(kept(one.sha256).length, 1);
    await stack.pool.query('delete from artifacts where id = $1', [two.id]);
    await age(one.sha256);
    await removeUnneededObjects({ ...places, objects: undefined }).then(
      () => assert.fail('removed a row, and left its object'),
      (error: Error) => assert.match(error.message, /artifacts\.store/),
    );
    assert.equal(await removeUnneededObjects(places), 1);
    assert.deepEqual([kept(one.sha256), await fileOf(one.sha256)], [[], undefined]);
  });

  it('bytes that are put again while their objects are removed stay, and those that the store kept go later', async () => {
    const bytes = text('again', 300_000);
    const { body } = await put(bytes);
    await stack.pool.query('delete from artifacts where id = $1', [body.id]);
    await age(body.sha256);
    server.onRequest = async (method, key) => {
      if (method !== 'POST' || key !== '') return;
      server.onRequest = undefined;
      assert.equal((await put(bytes)).status, 201);
      server.failNext(1, 403);
    };
    await assert.rejects(removeUnneededObjects(places));
    assert.equal(kept(body.sha256).length, 2);
    assert.equal(await removeUnneededObjects(places), 1);
    assert.equal(kept(body.sha256).length, 1);
    assert.ok((await read(body.id)).equals(bytes));
  });

  it('bytes that are forgotten while they are put are put anew, and what was put before goes', async () => {
    const bytes = text('meanwhile', 300_000);
    server.onRequest = async (method, key) => {
      if (method !== 'PUT') return;
      server.onRequest = undefined;
      await stack.pool.query(`update files set needed_at = '-infinity' where digest = $1`, [
        key.split('/')[2],
      ]);
      assert.equal(await removeUnneededObjects(places, stack.tenant), 1);
    };
    const { status, body } = await put(bytes);
    assert.deepEqual([status, kept(body.sha256).length], [201, 2]);
    assert.equal(await removeUnneededObjects(places), 1);
    assert.equal(kept(body.sha256).length, 1);
    assert.ok((await read(body.id)).equals(bytes));
  });

  it('what is put of bytes that were forgotten meanwhile, by a process that dies then, goes with a later sweep', async () => {
    const bytes = text('dies', 300_000);
    const { body } = await put(bytes);
    const [key = ''] = kept(body.sha256);
    await stack.pool.query('delete from artifacts where id = $1', [body.id]);
    await age(body.sha256);
    assert.equal(await removeUnneededObjects(places), 1);
    server.objects.set(key, bytes);
    assert.equal(await removeUnneededObjects(places), 0, 'it may be being put still');
    await stack.pool.query(`update gone_objects set removed_at = removed_at - interval '2 hours'`);
    await removeUnneededObjects(places);
    assert.deepEqual(kept(body.sha256), []);
    const { rowCount } = await stack.pool.query('select from gone_objects where digest = $1', [body.sha256]);
    assert.equal(rowCount, 0);
  });

  it('forgetting a user removes what was his alone', async () => {
    const own = (await put(text('of ann', 300_000), '?user=ann')).body;
    const shared = (await put(text('of both', 300_000), '?user=ann')).body;
    const bobs = (await put(text('of both', 300_000), '?user=bob')).body;
    const answer = await stack.ask('DELETE', '/v1/users/ann');
    assert.equal(answer.status, 202, JSON.stringify(answer.body));
    await stack.worker.until('the end of forgetting', async () => {
      const { body } = await stack.ask('GET', `/v1/forgettings/${answer.body.id}`);
      return body.ended_at ?? undefined;
    });
    assert.deepEqual([kept(own.sha256), kept(shared.sha256).length], [[], 1]);
    assert.ok((await read(bobs.id)).equals(text('of both', 300_000)));
  });
});
