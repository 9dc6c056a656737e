import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type FakeApi, startFakeApi } from './support/fake-api.ts';
import { runCli } from './support/run-cli.ts';

let api: FakeApi;
beforeEach(async () => {
  api = await startFakeApi();
  api.on((request) => ({
    status: request.method === 'POST' ? 201 : 200,
    body: { kind: 'agent', subject: 'main', enabled: true, ...(request.body as object) },
  }));
});
afterEach(() => api.close());

const sent = () => api.requests.map(({ method, path, body }) => ({ method, path, body }));

describe('MC-1 tempoclaw mcp', () => {
  test('adds a program with its arguments, and an address with a secret', async () => {
    const run = (...words: string[]) => runCli(['mcp', ...words], { url: api.url });
    assert.equal((await run('add', 'memory', '--', 'npx', '-y', '@x/memory')).code, 0);
    assert.equal((await run('set', 'github', '--header', 'Authorization=Bearer secret://gh')).code, 0);
    assert.deepEqual(sent(), [
      {
        method: 'POST',
        path: '/v1/mcp/servers',
        body: { name: 'memory', command: 'npx', args: ['-y', '@x/memory'] },
      },
      {
        method: 'PATCH',
        path: '/v1/mcp/servers/github',
        body: { headers: { Authorization: 'Bearer secret://gh' } },
      },
    ]);
  });

  test('SC-2 takes no value from arguments, where the list of processes shows it', async () => {
    const { code, stderr } = await runCli(
      ['mcp', 'add', 'x', '--url', 'https://x.example/', '--header', 'A=b'],
      {
        url: api.url,
      },
    );
    assert.deepEqual([code, api.requests.length], [2, 0]);
    assert.match(stderr, /NAME=secret:\/\/SECRET/);
  });

  test('MC-3 grants what an agent may use', async () => {
    const words = ['mcp', 'grant', 'github', 'agent', 'main', '--allow', 'get_*', '--deny', 'get_secret'];
    const { code, stdout } = await runCli(words, { url: api.url });
    assert.equal(code, 0);
    assert.match(stdout, /agent main has a grant on github/);
    assert.deepEqual(sent(), [
      {
        method: 'PUT',
        path: '/v1/mcp/servers/github/grants/agent/main',
        body: { tool_allow: ['get_*'], tool_deny: ['get_secret'] },
      },
    ]);
  });

  test('gives one’s own credentials from a file, and says where to log in', async () => {
    api.on(() => ({ status: 200, body: { authorization_url: 'https://as.example/go', expires_at: 'soon' } }));
    const folder = await mkdtemp(join(tmpdir(), 'mcp-own-'));
    try {
      const file = join(folder, 'own.json');
      await writeFile(file, '{"headers": {"Authorization": "Bearer x"}}');
      assert.equal((await runCli(['mcp', 'credentials', 'github', file], { url: api.url })).code, 0);
    } finally {
      await rm(folder, { recursive: true });
    }
    const { stdout } = await runCli(['mcp', 'login', 'github'], { url: api.url });
    assert.match(stdout, /^https:\/\/as\.example\/go$/m);
    assert.deepEqual(sent(), [
      {
        method: 'PUT',
        path: '/v1/mcp/servers/github/user-credentials',
        body: { headers: { Authorization: 'Bearer x' } },
      },
      { method: 'POST', path: '/v1/mcp/servers/github/oauth/start', body: {} },
    ]);
  });

  test('MC-3 asks for access, and reviews', async () => {
    const run = (...words: string[]) => runCli(['mcp', 'requests', ...words], { url: api.url });
    assert.equal(
      (await run('create', 'github', '--agent', 'main', '--tools', 'a*', '--reason', 'x')).code,
      0,
    );
    assert.equal((await run('review', 'mreq_1', 'reject', '--reason', 'no')).code, 0);
    assert.deepEqual(sent(), [
      {
        method: 'POST',
        path: '/v1/mcp/requests',
        body: { server: 'github', scope: 'agent', subject: 'main', tool_allow: ['a*'], reason: 'x' },
      },
      {
        method: 'POST',
        path: '/v1/mcp/requests/mreq_1/review',
        body: { decision: 'reject', reason: 'no' },
      },
    ]);
  });

  test('imports the file that other programs keep their servers in', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mcp-import-'));
    try {
      const file = join(folder, 'servers.json');
      const mcpServers = {
        files: {
          command: 'npx',
          args: ['-y', '@x/files', '/data'],
          env: { A: '1' },
          disabled: true,
          autoApprove: [],
        },
        web: { type: 'http', url: 'https://x.example/' },
      };
      await writeFile(file, JSON.stringify({ mcpServers }));
      assert.equal((await runCli(['mcp', 'import', file], { url: api.url })).code, 0);
      assert.deepEqual(
        sent().map(({ body }) => body),
        [
          {
            name: 'files',
            command: 'npx',
            args: ['-y', '@x/files', '/data'],
            env: { A: '1' },
            enabled: false,
          },
          { name: 'web', transport: 'streamable-http', url: 'https://x.example/' },
        ],
      );
      await writeFile(file, '{"servers": {}}');
      assert.equal((await runCli(['mcp', 'import', file], { url: api.url })).code, 2);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
