/** VF-1, VF-5 over HTTP: files of agents and users with their versions, and bytes in and out of workspaces. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeRoot } from '#activities/workspace/workspace-folder.ts';
import { type Answer, startApi, type TestApi } from '#test/support/stack.ts';

let api: TestApi;
let root: string;
let ann: string;
let ben: string;
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'tempoclaw-files-'));
  await makeRoot(root);
  api = await startApi({ workspaceRoot: root });
  ann = await api.makeKey(['read', 'run'], { user: 'ann' });
  ben = await api.makeKey(['read', 'run'], { user: 'ben' });
  for (const [key, type] of [
    ['open', 'open'],
    ['fixed', 'predefined'],
  ])
    await api.ask('POST', '/v1/agents', { body: { key, type, model: 'rehearsal/echo' } });
});
after(async () => {
  await api.stop();
  await rm(root, { recursive: true });
});

const at = (agent: string, rest = '') => `/v1/agents/${agent}/files${rest}`;
const put = (path: string, text: string, more: { key?: string; expected_revision?: number } = {}) => {
  const { key, ...body } = more;
  return api.ask('PUT', path, { body: { text, ...body }, ...(key ? { key } : {}) });
};
const get = (path: string, key?: string) => api.ask('GET', path, key ? { key } : {});

describe('VF-1 /v1/agents/{key}/files', () => {
  test('a user has his own before the agent’s, which admins write', async () => {
    assert.equal((await put(at('open', '/SOUL.md'), 'calm')).status, 200);
    const seen = await get(at('open', '/SOUL.md'), ann);
    assert.deepEqual([seen.body.text, seen.body.user], ['calm', null]);
    assert.equal((await put(at('open', '/SOUL.md'), 'lively', { key: ann })).body.user, 'ann');
    assert.equal((await get(at('open', '/SOUL.md'), ann)).body.text, 'lively');
    assert.equal((await get(at('open', '/SOUL.md'), ben)).body.text, 'calm');
    assert.equal((await get(at('open', '/SOUL.md?user=ann'))).body.text, 'lively');
    const list = await get(at('open'), ann);
    assert.deepEqual(
      list.body.data.map((one: { path: string; user: string }) => [one.path, one.user]),
      [['SOUL.md', 'ann']],
    );
    const own = await get('/v1/users/ann/files', ann);
    assert.deepEqual([own.body.data.length, own.body.data[0].agent], [1, 'open']);
  });

  test('VF-2 a file of memory is addressed by its path, with its slashes escaped or not', async () => {
    const path = at('open', '/memory/trips/north.md');
    assert.equal((await put(path, 'moss', { key: ann })).body.path, 'memory/trips/north.md');
    assert.equal((await get(at('open', '/memory%2Ftrips%2Fnorth.md'), ann)).body.text, 'moss');
    assert.equal((await get(at('open', '/memory/trips%2Fnorth.md?user=ann'))).body.text, 'moss');
    assert.equal((await get(`${path}/versions`, ann)).body.data.length, 1);
    const back = await api.ask('POST', `${path}/restore`, { body: { revision: 1 }, key: ann });
    assert.equal(back.body.revision, 2);
    assert.equal((await api.ask('DELETE', path, { key: ann })).status, 204);
  });

  test('R8 another user’s, the agent’s own and another tenant’s are out of reach', async () => {
    for (const [method, path] of [
      ['GET', at('open', '/SOUL.md?user=ann')],
      ['GET', at('open', '/SOUL.md/versions?user=ann')],
      ['GET', at('open', '/SOUL.md/compare?user=ann&from=1')],
      ['GET', at('open', '?user=ann')],
      ['GET', '/v1/users/ann/files'],
      ['DELETE', at('open', '/SOUL.md?user=ann')],
    ] as const)
      assert.equal((await api.ask(method, path, { key: ben })).status, 403, path);
    const service = await api.makeKey(['read', 'run']);
    assert.equal((await put(at('open', '/SOUL.md'), 'x', { key: service })).status, 403);
    assert.equal((await put(at('open', '/USER.md?user=cid'), 'x', { key: service })).status, 200);
    const reader = await api.makeKey(['read'], { user: 'ann' });
    assert.equal((await put(at('open', '/USER.md'), 'x', { key: reader })).status, 403);
    const other = await api.makeTenant();
    assert.equal((await get(at('open', '/SOUL.md'), other.key)).status, 404);
  });

  test('a predefined agent’s users write USER.md and memory only', async () => {
    await put(at('fixed', '/SOUL.md'), 'firm');
    assert.equal((await put(at('fixed', '/SOUL.md'), 'x', { key: ann })).status, 403);
    assert.equal((await put(at('fixed', '/SOUL.md?user=ann'), 'x')).status, 403);
    assert.equal((await put(at('fixed', '/USER.md'), 'I am Ann', { key: ann })).status, 200);
    assert.equal(
      (await put(at('fixed', `/${encodeURIComponent('memory/a.md')}`), 'm', { key: ann })).status,
      200,
    );
  });

  test('names that are no document’s are refused', async () => {
    for (const name of [
      'notes.md',
      'TEAM.md',
      'memory/../SOUL.md',
      'memory//a.md',
      'memory/.git/config',
      'soul.md',
    ])
      assert.equal((await put(at('open', `/${encodeURIComponent(name)}`), 'x')).status, 400, name);
    assert.equal((await put(at('nobody', '/SOUL.md'), 'x')).status, 404);
    assert.equal((await get(at('open', '/TOOLS.md'))).status, 404);
  });

  test('versions say who wrote what, are compared, and are written again', async () => {
    const path = at('open', '/AGENTS.md');
    await put(path, 'one\ntwo\n', { key: ann });
    await put(path, 'one\nthree\n', { key: ann });
    assert.equal((await put(path, 'late', { key: ann, expected_revision: 1 })).status, 409);
    const versions = await get(`${path}/versions`, ann);
    assert.deepEqual(
      versions.body.data.map((one: { revision: number; author: string; bytes: number }) => [
        one.revision,
        one.author,
        one.bytes,
      ]),
      [
        [2, 'ann', 10],
        [1, 'ann', 8],
      ],
    );
    const { diff } = (await get(`${path}/compare?from=1`, ann)).body;
    assert.match(diff, /-two\n\+three/);
    assert.equal((await get(`${path}/compare?from=2&to=2`, ann)).body.diff, '');
    assert.equal((await get(`${path}/compare?from=7`, ann)).status, 404);
    const body = { revision: 1 };
    const restored = await api.ask('POST', `${path}/restore`, { key: ann, body });
    assert.deepEqual([restored.body.text, restored.body.revision], ['one\ntwo\n', 3]);
    assert.equal((await api.ask('DELETE', path, { key: ann })).status, 204);
    assert.equal((await api.ask('DELETE', path, { key: ann })).status, 404);
    assert.equal((await api.ask('POST', `${path}/restore`, { key: ann, body: { revision: 4 } })).status, 422);
  });

  test('texts that have nothing in common do not hold up the API', async () => {
    const path = at('open', '/MEMORY.md');
    const lines = (word: string) => Array.from({ length: 60_000 }, (_, n) => `${word}${n % 977}`).join('\n');
    await put(path, lines('a'), { key: ann });
    await put(path, lines('b'), { key: ann });
    assert.ok([200, 422].includes((await get(`${path}/compare?from=1`, ann)).status));
  });

  test('an emptied BOOTSTRAP.md is gone, and its template does not come back', async () => {
    await put(at('open', '/BOOTSTRAP.md'), 'ask');
    assert.equal((await put(at('open', '/BOOTSTRAP.md'), '', { key: ann })).body.text, '');
    assert.equal((await get(at('open', '/BOOTSTRAP.md'), ann)).status, 404);
    assert.equal((await get(at('open', '/BOOTSTRAP.md'), ben)).body.text, 'ask');
  });

  test('SC-2 secrets are not kept', async () => {
    const secret = 'canary-of-files-77341';
    await api.ask('PUT', '/v1/secrets/filed', { body: { value: secret } });
    await put(at('open', '/TOOLS.md'), `use ${secret}`);
    assert.equal((await get(at('open', '/TOOLS.md'))).body.text, 'use [REDACTED]');
    const { rows } = await api.pool.query('select text from document_versions');
    assert.ok(!JSON.stringify(rows).includes(secret));
  });
});

describe('VF-5 /v1/agents/{key}/workspace', () => {
  const raw = async (
    method: string,
    path: string,
    key: string,
    body?: Uint8Array<ArrayBuffer> | string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> => {
    const response = await fetch(`${api.url}/v1/agents/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'image/png' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: Buffer.from(await response.arrayBuffer()),
    };
  };

  test('is written over only as the caller has seen it, where he says so', async () => {
    for (const path of ['open/workspace/seen.txt', 'open/workspace/memory/seen.md']) {
      const put = (text: string, headers: Readonly<Record<string, string>>) =>
        raw('PUT', path, ann, text, headers);
      assert.equal((await put('one', { 'if-match': '*' })).status, 412);
      assert.equal((await put('one', { 'if-none-match': '*' })).status, 201);
      assert.equal((await put('two', { 'if-none-match': '*' })).status, 412);
      const seen = String((await raw('GET', path, ann)).headers.get('etag'));
      const two = await put('two', { 'if-match': `"other", ${seen}` });
      assert.equal(two.status, 200);
      const late = await put('three', { 'if-match': seen });
      assert.deepEqual([late.status, JSON.parse(String(late.body)).code], [412, 'PreconditionFailed']);
      const now = await raw('GET', path, ann);
      assert.deepEqual([String(now.body), now.headers.get('etag')], ['two', two.headers.get('etag')]);
    }
  });

  test('moves bytes as they are, each user’s in a folder of his own', async () => {
    const bytes = new Uint8Array([0, 255, 1, 128]);
    assert.equal((await raw('PUT', 'open/workspace/in/a.bin', ann, bytes)).status, 201);
    assert.equal((await raw('PUT', 'open/workspace/in/a.bin', ann, bytes)).status, 200);
    const got = await raw('GET', 'open/workspace/in/a.bin', ann);
    assert.deepEqual([...got.body], [...bytes]);
    assert.equal(got.headers.get('content-type'), 'application/octet-stream');
    assert.equal(got.headers.get('content-disposition'), 'attachment');
    assert.equal((await raw('GET', 'open/workspace/in/a.bin', ben)).status, 404);
    assert.equal((await raw('GET', 'open/workspace/in/a.bin?user=ann', ben)).status, 403);
    assert.equal((await raw('GET', 'open/workspace/in/a.bin?user=ann', api.key)).status, 200);
    assert.deepEqual([...(await readFile(join(root, 'default/open.user-ann/in/a.bin')))], [...bytes]);
    assert.equal((await raw('PUT', 'open/workspace/empty', ann, '')).status, 201);
  });

  test('VF-4 leads nowhere else', async () => {
    await writeFile(join(root, 'outside.txt'), 'TOPSECRET');
    await mkdir(join(root, 'default/open.user-ann'), { recursive: true });
    await symlink(join(root, 'outside.txt'), join(root, 'default/open.user-ann/link'));
    for (const path of [
      '..%2F..%2Foutside.txt',
      '..%2Fopen.user-ben%2Fx',
      'link',
      '%2Fetc%2Fpasswd',
      '.tempoclaw%2Fx',
      'in',
    ]) {
      for (const method of ['GET', 'PUT']) {
        const { status, body } = await raw(
          method,
          `open/workspace/${path}`,
          ann,
          method === 'PUT' ? 'x' : undefined,
        );
        assert.ok(status >= 400 && status < 500, `${method} ${path}: ${status}`);
        assert.ok(!body.includes('TOPSECRET'));
      }
    }
    assert.equal(await readFile(join(root, 'outside.txt'), 'utf8'), 'TOPSECRET');
  });

  test('a context file is its row', async () => {
    assert.equal((await raw('PUT', 'open/workspace/IDENTITY.md', ann, 'Ann’s')).status, 201);
    assert.equal((await get(at('open', '/IDENTITY.md'), ann)).body.text, 'Ann’s');
    assert.equal(String((await raw('GET', 'open/workspace/IDENTITY.md', ann)).body), 'Ann’s');
    assert.equal((await raw('PUT', 'fixed/workspace/SOUL.md', ann, 'x')).status, 403);
  });

  test('is bounded, and what was there stays', async () => {
    const large = new Uint8Array(50_000_001);
    assert.equal((await raw('PUT', 'open/workspace/in/a.bin', ann, large)).status, 413);
    assert.equal((await raw('GET', 'open/workspace/in/a.bin', ann)).body.length, 4);
  });

  test('what users share is not one user’s key’s', async () => {
    await api.ask('POST', '/v1/agents', {
      body: { key: 'pool', model: 'rehearsal/echo', workspace: { scope: 'shared' } },
    });
    assert.equal((await raw('PUT', 'pool/workspace/a.txt', ann, 'x')).status, 403);
    assert.equal((await raw('PUT', 'pool/workspace/a.txt', api.key, 'x')).status, 201);
  });

  test('a change from shared to each user’s own keeps what was there: his begins as a copy', async () => {
    const changed = await api.ask('PATCH', '/v1/agents/pool', { body: { workspace: { scope: 'user' } } });
    assert.deepEqual(changed.body.workspace, { scope: 'user', from: 'pool' });
    assert.equal(String((await raw('GET', 'pool/workspace/a.txt', ann)).body), 'x');
    await raw('PUT', 'pool/workspace/a.txt', ann, 'ann’s');
    assert.equal(String((await raw('GET', 'pool/workspace/a.txt', ben)).body), 'x');
    await api.ask('PATCH', '/v1/agents/pool', { body: { workspace: 'pool' } });
    assert.equal(String((await raw('GET', 'pool/workspace/a.txt', api.key)).body), 'x');
  });

  test('an API that does not see the workers’ folders says so', async () => {
    const far = await startApi({ workspaceRoot: join(root, 'nowhere') });
    try {
      await far.ask('POST', '/v1/agents', { body: { key: 'open', model: 'rehearsal/echo' } });
      const answer = await far.ask('GET', '/v1/agents/open/workspace/a.txt');
      assert.deepEqual([answer.status, answer.body.code], [503, 'Unavailable']);
    } finally {
      await far.stop();
    }
  });
});
