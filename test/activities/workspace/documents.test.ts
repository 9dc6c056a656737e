/**
 * VF-1 to VF-4: context files and memory are rows under every path that names them, and the disk has copies of them.
 */
import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { tool as edit } from '#activities/tools/fs/edit.ts';
import { tool as glob } from '#activities/tools/fs/glob.ts';
import { tool as listFiles } from '#activities/tools/fs/list-files.ts';
import { tool as readFileTool } from '#activities/tools/fs/read-file.ts';
import { tool as search } from '#activities/tools/fs/search.ts';
import { tool as writeFileTool } from '#activities/tools/fs/write-file.ts';
import { tool as exec } from '#activities/tools/runtime/exec.ts';
import { createFiles } from '#activities/workspace/files.ts';
import { withDocuments } from '#activities/workspace/documents/with-documents.ts';
import { DOCUMENT_LIMITS, type DocumentAccess } from '#domain/files/document.ts';
import type { Tool } from '#policy/define-tool.ts';
import { createFileLock } from '#store/files/file-lock.ts';
import {
  documentsVersion,
  documentVersions,
  readDocument,
  writeDocument,
} from '#store/files/document-store.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { toolBench, toolCall } from '#test/support/tool-call.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
  await database.pool.query(`insert into tenants (id, name) values ('default', 'Default')`);
});
after(() => database.drop());

let agents = 0;

/** One workspace of a new agent. */
async function desk(t: TestContext) {
  const { pool } = database;
  const bench = await toolBench(t);
  agents += 1;
  const agent = `a${agents}`;
  await pool.query(`insert into agents (tenant_id, key, revision, config) values ('default', $1, 1, '{}')`, [
    agent,
  ]);
  const made = () =>
    withDocuments(
      createFiles({ journalDir: join(bench.base, 'journal'), now: Date.now, lock: createFileLock(pool) }),
      pool,
    );
  let files = made();
  const scope = (user: string | null) => ({ tenant: 'default', agent, user });
  return {
    workspace: bench.workspace,
    scope,
    /** Acts as another worker, which remembers nothing. */
    forget: () => {
      files = made();
    },
    put: (user: string | null, path: string, text: string) =>
      writeDocument(pool, scope(user), { path, author: 'test', by: () => text }),
    row: async (user: string | null, path: string) => (await readDocument(pool, scope(user), path))?.text,
    async run(
      tool: Tool,
      args: unknown,
      { user = 'ann', key = '', ...over }: Partial<DocumentAccess> & { key?: string; mount?: string } = {},
    ): Promise<string> {
      const documents: DocumentAccess = {
        ...scope(user),
        version: await documentsVersion(pool, scope(user)),
        shows: 'user',
        author: `agent:${agent}`,
        outside: () => ({}),
        hide: (text) => text.replaceAll('s3cret', '[REDACTED]'),
        ...over,
      };
      const read = tool.input.parse(args);
      const call = toolCall(bench.workspace, { documents, user, mount: over.mount });
      const result = await tool.run(
        { ...bench.deps, files } as never,
        read,
        key === '' ? call : { ...call, idempotencyKey: key },
      );
      return result.ok ? result.text : `${result.code}: ${result.message}`;
    },
  };
}

const READ_ONLY = process.geteuid?.() === 0 ? 'chmod 644 SOUL.md; ' : 'chmod 644 SOUL.md && ';

describe('VF-1 context files are rows', () => {
  test('no file takes the place of the folder of memory', async (t) => {
    const at = await desk(t);
    await at.put('ann', 'memory/a.md', 'kept');
    for (const path of ['memory', 'memory/', './memory', 'memory/x/'])
      assert.match(await at.run(writeFileTool, { path, content: 'x' }), /^InvalidPath: .*folder/, path);
    assert.match(await at.run(edit, { path: 'memory', old_string: 'a', new_string: 'b' }), /^InvalidPath/);
    assert.equal(await at.run(readFileTool, { path: 'memory/a.md' }), 'kept');
    assert.equal(await at.run(exec, { command: 'cat memory/a.md' }), 'kept');
  });

  test('each user reads, writes, edits and appends his own, and the agent’s where he has none', async (t) => {
    const own = await desk(t);
    await own.put(null, 'SOUL.md', 'calm\n');
    assert.equal(await own.run(readFileTool, { path: 'SOUL.md' }), 'calm\n');
    assert.equal(
      await own.run(edit, { path: 'SOUL.md', old_string: 'calm', new_string: 'lively' }),
      'File edited: SOUL.md (1 replacement(s))',
    );
    await own.run(writeFileTool, { path: 'SOUL.md', content: 'and kind\n', append: true });
    assert.equal(await own.row('ann', 'SOUL.md'), 'lively\nand kind\n');
    assert.equal(await own.run(readFileTool, { path: 'SOUL.md' }, { user: 'ben' }), 'calm\n');
    assert.equal(await own.row(null, 'SOUL.md'), 'calm\n');
    const [newest] = await documentVersions(database.pool, own.scope('ann'), 'SOUL.md', null);
    assert.match(newest?.author ?? '', /^agent:a\d+$/);
  });

  test('a predefined agent’s users write USER.md and memory, and see nothing of what they wrote before', async (t) => {
    const own = await desk(t);
    await own.put(null, 'SOUL.md', 'calm');
    await own.put('ann', 'SOUL.md', 'lively');
    const predefined = { type: 'predefined' } as const;
    assert.equal(await own.run(readFileTool, { path: 'SOUL.md' }, predefined), 'calm');
    for (const user of ['ann', null])
      assert.match(
        await own.run(writeFileTool, { path: 'SOUL.md', content: 'x' }, { ...predefined, user }),
        /^PermissionDenied/,
      );
    for (const path of ['USER.md', 'memory/a.md', 'MEMORY.md'])
      assert.match(await own.run(writeFileTool, { path, content: 'x' }, predefined), /^File created/);
    assert.equal(await own.row('ann', 'USER.md'), 'x');
  });

  test('an empty BOOTSTRAP.md is gone for the user, also from the disk, and the template does not come back', async (t) => {
    const own = await desk(t);
    await own.put(null, 'BOOTSTRAP.md', 'ask for the name');
    assert.equal(await own.run(exec, { command: 'cat BOOTSTRAP.md' }), 'ask for the name');
    await own.run(writeFileTool, { path: 'BOOTSTRAP.md', content: '' });
    assert.match(await own.run(readFileTool, { path: 'BOOTSTRAP.md' }), /^FileNotFound/);
    assert.equal(await own.run(listFiles, {}), '(the folder is empty)');
    assert.match(await own.run(exec, { command: 'cat BOOTSTRAP.md' }), /No such file/);
    assert.equal(await own.run(readFileTool, { path: 'BOOTSTRAP.md' }, { user: 'ben' }), 'ask for the name');
    await own.run(writeFileTool, { path: 'BOOTSTRAP.md', content: '' }, { user: null });
    assert.equal(await own.row('cid', 'BOOTSTRAP.md'), undefined);
  });

  test('generated files are written by nobody, and secrets are not kept', async (t) => {
    const own = await desk(t);
    for (const path of ['TEAM.md', 'DELEGATION.md'])
      assert.match(await own.run(writeFileTool, { path, content: 'x' }), /^PermissionDenied/);
    await mkdir(join(own.workspace, 'x'), { recursive: true });
    await symlink('../DELEGATION.md', join(own.workspace, 'x/work'));
    await symlink('..', join(own.workspace, 'x/up'));
    for (const path of [
      './DELEGATION.md',
      'x/../DELEGATION.md',
      'x/work',
      'x/up/DELEGATION.md',
      `${own.workspace}/TEAM.md`,
    ])
      for (const append of [true, false])
        assert.match(await own.run(writeFileTool, { path, content: 'x', append }), /^PermissionDenied/, path);
    await symlink('../MEMORY.md', join(own.workspace, 'x/memory'));
    await own.run(writeFileTool, { path: 'x/memory', content: 'kept' });
    await own.run(writeFileTool, { path: 'x/up/MEMORY.md', content: ' on', append: true });
    assert.equal(await own.row('ann', 'MEMORY.md'), 'kept on');
    await assert.rejects(stat(join(own.workspace, 'MEMORY.md')), { code: 'ENOENT' });
    await own.run(writeFileTool, { path: 'USER.md', content: 'the key is s3cret' });
    assert.equal(await own.row('ann', 'USER.md'), 'the key is [REDACTED]');
  });

  test('DU-2 an append that is run again appends once', async (t) => {
    const own = await desk(t);
    for (const key of ['k1', 'k1', 'k2'])
      await own.run(writeFileTool, { path: 'memory/day.md', content: 'x', append: true }, { key });
    assert.equal(await own.row('ann', 'memory/day.md'), 'xx');
  });

  test('writers at once lose nothing', async (t) => {
    const own = await desk(t);
    await Promise.all(
      ['a', 'b', 'c', 'd'].map((content) =>
        own.run(writeFileTool, { path: 'memory/log.md', content, append: true }),
      ),
    );
    assert.deepEqual([...((await own.row('ann', 'memory/log.md')) ?? '')].sort(), ['a', 'b', 'c', 'd']);
  });

  test('a million lines are paged, and more bytes than are kept are refused', async (t) => {
    const own = await desk(t);
    await own.run(writeFileTool, { path: 'MEMORY.md', content: '\n'.repeat(999_999) });
    const page = await own.run(readFileTool, { path: 'MEMORY.md', offset: 999_990 });
    assert.equal(page, '\n'.repeat(9));
    const long = 'x'.repeat(DOCUMENT_LIMITS.bytes + 1);
    assert.match(
      await own.run(writeFileTool, { path: 'MEMORY.md', content: long }),
      /^InvalidArgs: .* are the most/,
    );
    assert.match(await own.run(writeFileTool, { path: 'MEMORY.md', content: 'a\0b' }), /^InvalidArgs/);
  });
});

describe('VF-3 documents come before the disk, whatever names them', () => {
  test('other spellings, links and the box’s mount lead to the row', async (t) => {
    const own = await desk(t);
    await own.put('ann', 'SOUL.md', 'mine');
    await mkdir(join(own.workspace, 'x'), { recursive: true });
    await symlink('../SOUL.md', join(own.workspace, 'x/link'));
    for (const path of [
      'SOUL.md',
      './x/../SOUL.md',
      'x/link',
      `${own.workspace}/SOUL.md`,
      '/workspace/SOUL.md',
    ])
      assert.equal(await own.run(readFileTool, { path }, { mount: '/workspace' }), 'mine', path);
    await own.run(writeFileTool, { path: 'x/link', content: 'changed' });
    assert.equal(await own.row('ann', 'SOUL.md'), 'changed');
    for (const path of ['soul.md', 'x/SOUL.md', 'SOUL.md.txt'])
      assert.match(await own.run(readFileTool, { path }), /^FileNotFound/, path);
  });

  test('a link or a folder in a document’s place on the disk neither hides it nor lets it out', async (t) => {
    const own = await desk(t);
    const outside = join(own.workspace, '..', 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'a.md'), 'TOPSECRET');
    await mkdir(own.workspace, { recursive: true });
    await symlink(outside, join(own.workspace, 'memory'));
    await symlink(join(outside, 'a.md'), join(own.workspace, 'SOUL.md'));
    for (const path of ['SOUL.md', 'memory/a.md']) {
      assert.match(await own.run(readFileTool, { path }), /^InvalidPath/, path);
      assert.match(await own.run(writeFileTool, { path, content: 'row' }), /^File created/, path);
      assert.equal(await own.run(readFileTool, { path }), 'row', path);
    }
    await own.run(exec, { command: 'true' });
    assert.equal(await readFile(join(outside, 'a.md'), 'utf8'), 'TOPSECRET');
  });

  test('a file of the user’s under a document’s name is read, is what an edit begins with, and stays as it is', async (t) => {
    const own = await desk(t);
    await mkdir(own.workspace, { recursive: true });
    await writeFile(join(own.workspace, 'AGENTS.md'), 'of the repository\n');
    assert.equal(await own.run(readFileTool, { path: 'AGENTS.md' }), 'of the repository\n');
    await own.run(edit, { path: 'AGENTS.md', old_string: 'repository', new_string: 'user' });
    assert.equal(await own.run(readFileTool, { path: 'AGENTS.md' }), 'of the user\n');
    assert.equal(await own.run(exec, { command: 'cat AGENTS.md' }), 'of the repository');
  });

  test('memory has no file that git would obey where its copy stands', async (t) => {
    const own = await desk(t);
    for (const path of ['memory/.git/config', 'memory/HEAD', 'memory/a/.hidden.md'])
      assert.match(
        await own.run(writeFileTool, { path, content: 'x' }),
        /^(InvalidPath|PermissionDenied)/,
        path,
      );
  });

  test('lists show rows and files together, each once', async (t) => {
    const own = await desk(t);
    await own.put('ann', 'USER.md', 'four');
    await own.put(null, 'memory/2026/a.md', 'x');
    await own.run(writeFileTool, { path: 'notes.txt', content: 'n' });
    const all = 'USER.md (4 bytes)\nmemory/\nnotes.txt (1 bytes)';
    assert.equal(await own.run(listFiles, {}), all);
    await own.run(exec, { command: 'true' });
    assert.equal(await own.run(listFiles, {}), all);
    assert.equal(await own.run(listFiles, { path: 'memory' }), '2026/');
    assert.equal(await own.run(listFiles, { path: 'memory/2026' }), 'a.md (1 bytes)');
    assert.equal(await own.run(listFiles, {}, { user: 'ben' }), 'memory/\nnotes.txt (1 bytes)');
  });
});

describe('VF-1 commands and searches see copies', () => {
  test('of what the user sees: found, read, made anew when it changes, and gone with it', async (t) => {
    const own = await desk(t);
    await own.put('ann', 'SOUL.md', 'a needle\n');
    await own.put('ann', 'memory/deep/x.md', 'another needle\n');
    const found = await own.run(search, { pattern: 'needle' });
    assert.equal(found, 'SOUL.md:1:a needle\nmemory/deep/x.md:1:another needle');
    assert.equal(await own.run(glob, { pattern: '**/*.md' }), 'SOUL.md\nmemory/deep/x.md');
    assert.equal((await stat(join(own.workspace, 'SOUL.md'))).mode & 0o777, 0o444);
    await own.put('ann', 'SOUL.md', 'new\n');
    assert.equal(await own.run(exec, { command: 'cat SOUL.md' }), 'new');
    await writeDocument(database.pool, own.scope('ann'), { path: 'SOUL.md', author: 'test', by: () => null });
    assert.equal(await own.run(exec, { command: 'ls' }), 'memory');
  });

  test('a command that changes one changes nothing, and is told', async (t) => {
    const own = await desk(t);
    await own.put('ann', 'SOUL.md', 'kept');
    const message = await own.run(exec, { command: `${READ_ONLY}echo gone >SOUL.md; cat SOUL.md` });
    assert.match(message, /^gone\n[\s\S]*SOUL\.md cannot be changed by a command and was put back/);
    assert.equal(await readFile(join(own.workspace, 'SOUL.md'), 'utf8'), 'kept');
    assert.equal(await own.row('ann', 'SOUL.md'), 'kept');
    assert.match(
      await own.run(exec, { command: 'rm -f SOUL.md; ln -s /etc/hostname SOUL.md' }),
      /was put back/,
    );
    assert.equal(await own.run(exec, { command: 'cat SOUL.md' }), 'kept');
    assert.doesNotMatch(await own.run(exec, { command: 'cat SOUL.md' }), /put back/);
  });

  test('a worker that died between row and copy is made up for by the next', async (t) => {
    const own = await desk(t);
    await own.put('ann', 'SOUL.md', 'old');
    await own.put('ann', 'USER.md', 'u');
    await own.run(exec, { command: 'true' });
    // It is listed and was not written, or was written and changed since.
    await unlink(join(own.workspace, 'SOUL.md'));
    await chmod(join(own.workspace, 'USER.md'), 0o644);
    await writeFile(join(own.workspace, 'USER.md'), 'of a killed command');
    own.forget();
    assert.equal(await own.run(exec, { command: 'cat SOUL.md USER.md' }), 'oldu');
    // Without the list, copies cannot be told from the user's files, except identical ones.
    await rm(join(own.workspace, '.tempoclaw'), { recursive: true });
    await own.put('ann', 'SOUL.md', 'new');
    own.forget();
    assert.equal(await own.run(exec, { command: 'cat SOUL.md USER.md' }), 'oldu');
    assert.equal(await own.run(readFileTool, { path: 'SOUL.md' }), 'new');
  });

  test('where users share a workspace only the agent’s own stand in it, and each reads his', async (t) => {
    const own = await desk(t);
    await own.put(null, 'AGENTS.md', 'for all');
    await own.put('ann', 'AGENTS.md', 'for ann');
    const shared = { shows: 'agent' } as const;
    assert.equal(await own.run(exec, { command: 'cat AGENTS.md' }, shared), 'for all');
    assert.equal(await own.run(readFileTool, { path: 'AGENTS.md' }, shared), 'for ann');
    const team = await desk(t);
    await team.put('ann', 'AGENTS.md', 'for ann');
    assert.equal(
      await team.run(exec, { command: 'ls' }, { shows: 'none' }),
      '(command completed with no output)',
    );
    assert.equal(await team.run(readFileTool, { path: 'AGENTS.md' }, { shows: 'none' }), 'for ann');
  });

  test('an agent that has none finds nothing of it in its workspace', async (t) => {
    const own = await desk(t);
    assert.equal(await own.run(exec, { command: 'ls -A' }), '(command completed with no output)');
    assert.match(await own.run(search, { pattern: 'x', path: 'SOUL.md' }), /^FileNotFound/);
  });
});

describe('the AGENTS.md of a repository', () => {
  test('the nearest one is told once, when something below it is first looked at', async (t) => {
    const own = await desk(t);
    await mkdir(join(own.workspace, 'repo/src/deep'), { recursive: true });
    await writeFile(join(own.workspace, 'repo/AGENTS.md'), 'use tabs');
    await writeFile(join(own.workspace, 'repo/src/AGENTS.md'), 'use spaces');
    await writeFile(join(own.workspace, 'repo/src/deep/a.txt'), 'x');
    await writeFile(join(own.workspace, 'b.txt'), 'x');
    assert.equal(await own.run(readFileTool, { path: 'b.txt' }), 'x');
    assert.match(
      await own.run(readFileTool, { path: 'repo/src/deep/a.txt' }),
      /^x\n\[repo\/src\/AGENTS\.md says how/,
    );
    assert.equal(await own.run(readFileTool, { path: 'repo/src/deep/a.txt' }), 'x');
    assert.match(await own.run(listFiles, { path: 'repo' }), /\[repo\/AGENTS\.md says how/);
    assert.equal(await own.run(readFileTool, { path: 'repo/AGENTS.md' }), 'use tabs');
  });
});
