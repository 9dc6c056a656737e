import assert from 'node:assert/strict';
import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createEgress } from '#activities/egress/create-egress.ts';
import { createFolderStore, type ObjectStore } from '../objects/object-store.ts';
import { createS3Store, type S3Settings } from '../objects/s3-store.ts';
import { startS3Server } from '#test/support/s3-server.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

async function bucket(t: TestContext, overrides: Partial<S3Settings> = {}) {
  const server = await startS3Server();
  t.after(() => server.close());
  const egress = createEgress({ resolve: async () => [], record: async () => undefined });
  const rules = { internalHosts: [new URL(server.url).host] };
  const door = egress.open({ labels: { tenant: '', purpose: 'workspaces' }, rules });
  t.after(() => door.close());
  const settings = {
    endpoint: server.url,
    region: 'us-east-1',
    bucket: 'bucket',
    prefix: 'a/b',
    ...server.keys,
    ...overrides,
  };
  return { server, store: createS3Store(async () => settings, door.fetch) };
}

async function collected(store: ObjectStore, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const key of store.list(prefix)) found.push(key);
  return found.sort();
}

const makers = {
  folder: async (t: TestContext) => createFolderStore(await temporaryFolder(t)),
  bucket: async (t: TestContext) => (await bucket(t)).store,
};

for (const [name, make] of Object.entries(makers))
  describe(`VF-6 a store in a ${name}`, () => {
    it('gives the bytes that were put, however often, and lists and removes them by prefix', async (t) => {
      const store = await make(t);
      const bytes = Buffer.from([0, 255, 10, 13, 128]);
      for (const key of ['t/one/aa/1', 't/one/bb/2', 't/one/cc/3', 't/one/dd/4', 't/oneself/aa/1'])
        await store.put(key, bytes);
      await store.put('t/one/aa/1', bytes);
      assert.deepEqual(await store.get('t/one/aa/1'), bytes);
      const all = ['t/one/aa/1', 't/one/bb/2', 't/one/cc/3', 't/one/dd/4'];
      assert.deepEqual(await collected(store, 't/one/'), all);
      assert.deepEqual(await collected(store, 't/nothing/'), []);
      await store.remove(['t/one/aa/1', 't/one/cc/3', 't/one/gone/5']);
      assert.deepEqual(await collected(store, 't/one/'), ['t/one/bb/2', 't/one/dd/4']);
      await assert.rejects(store.get('t/one/aa/1'), { type: 'Internal', message: /no object t\/one\/aa\/1/ });
    });
  });

describe('VF-6 a store in a folder', () => {
  it('is readable by its owner only, and says what the system answered when it cannot write', async (t) => {
    const folder = await temporaryFolder(t);
    const store = createFolderStore(folder);
    await store.put('t/w/aa/1', Buffer.from('x'));
    assert.deepEqual(await readdir(join(folder, 't/w/aa')), ['1']);
    const refused = createFolderStore(join(folder, 't/w/aa/1'));
    await assert.rejects(refused.put('t/w/bb/2', Buffer.from('x')), {
      type: 'Unavailable',
      message: /answered ENOTDIR/,
    });
    await chmod(folder, 0o700);
  });
});

describe('VF-6 a store in a bucket', () => {
  it('signs every request, and keeps its keys below the prefix of the settings', async (t) => {
    const { server, store } = await bucket(t);
    await store.put('t/w/aa/1', Buffer.from('x'));
    assert.deepEqual([...server.objects.keys()], ['a/b/t/w/aa/1']);
    assert.deepEqual(server.asked, ['PUT a/b/t/w/aa/1']);
  });

  it('asks again while the service says that it is busy, and in the end says what it answered', async (t) => {
    const { server, store } = await bucket(t);
    server.failNext(2, 503);
    await store.put('t/w/aa/1', Buffer.from('x'));
    server.failNext(1, 500);
    assert.equal((await store.get('t/w/aa/1')).toString(), 'x');
    server.failNext(4, 500);
    await assert.rejects(store.get('t/w/aa/1'), {
      type: 'Unavailable',
      message: /127\.0\.0\.1:\d+ answered 500 InternalError/,
    });
  });

  it('does not ask again with keys that are refused, and does not tell them', async (t) => {
    const { server, store } = await bucket(t, { secretAccessKey: 'another-secret-of-somebody' });
    let requests = 0;
    server.onRequest = () => void (requests += 1);
    await assert.rejects(store.put('t/w/aa/1', Buffer.from('x')), (error: Error) => {
      assert.match(error.message, /answered 403 SignatureDoesNotMatch/);
      assert.doesNotMatch(error.message, /another-secret/);
      return true;
    });
    assert.deepEqual([requests, server.objects.size], [0, 0]);
  });

  it('says that nobody answers where there is no service', async (t) => {
    const { server, store } = await bucket(t);
    await server.close();
    await assert.rejects(store.put('t/w/aa/1', Buffer.from('x')), {
      type: 'Unavailable',
      message: /the object store at 127\.0\.0\.1:\d+ does not answer/,
    });
  });
});
