/**
 * Skills at the command line: a folder is read and sent, and what cannot be part of a skill is reported before anything
 * is sent.
 */
import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { temporaryFolder } from '#test/support/tool-call.ts';
import { type FakeApi, startFakeApi } from './support/fake-api.ts';
import { runCli } from './support/run-cli.ts';

let api: FakeApi;
beforeEach(async () => {
  api = await startFakeApi();
  api.on(() => ({
    status: 200,
    body: { version: 3, is_new: true, visibility: 'public', kind: 'user', subject: 'ann' },
  }));
});
afterEach(() => api.close());

const run = (...words: string[]) => runCli(['skills', ...words], { url: api.url });

describe('TL tempoclaw skills', () => {
  test('publishes the files of a folder but hidden ones, under its name', async (t) => {
    const folder = join(await temporaryFolder(t), 'tea');
    await mkdir(join(folder, 'leaves'), { recursive: true });
    for (const [path, text] of [
      ['SKILL.md', 'x'],
      ['leaves/a.txt', 'green'],
      ['.env', 'KEY=1'],
    ] as const)
      await writeFile(join(folder, path), text);
    const { code, stdout } = await run('publish', folder, '--visibility', 'public');
    assert.equal(code, 0);
    assert.match(stdout, /^tea is published as version 3, public/);
    assert.deepEqual(
      api.requests.map(({ method, path, body }) => ({ method, path, body })),
      [
        {
          method: 'PUT',
          path: '/v1/skills/tea',
          body: {
            visibility: 'public',
            files: [
              { path: 'SKILL.md', content: 'eA==' },
              { path: 'leaves/a.txt', content: 'Z3JlZW4=' },
            ],
          },
        },
      ],
    );
  });

  test('sends nothing of a folder with links, or of none', async (t) => {
    const folder = await temporaryFolder(t);
    await symlink('/etc/passwd', join(folder, 'passwd'));
    const linked = await run('publish', folder);
    assert.match(linked.stderr, /passwd is a link/);
    const none = await run('publish', join(folder, 'nothing'));
    assert.match(none.stderr, /no folder that can be read/);
    assert.deepEqual([linked.code === 0, none.code === 0, api.requests.length], [false, false, 0]);
  });

  test('grants and takes back', async () => {
    assert.match((await run('grant', 'tea', 'user', 'ann')).stdout, /user ann may use tea/);
    assert.equal((await run('revoke', 'tea', 'user', 'ann')).code, 0);
    assert.deepEqual(
      api.requests.map(({ method, path }) => [method, path]),
      [
        ['PUT', '/v1/skills/tea/grants/user/ann'],
        ['DELETE', '/v1/skills/tea/grants/user/ann'],
      ],
    );
  });
});
