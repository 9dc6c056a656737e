/** VF-4, R6: the corpus of hostile and harmless paths runs as data through the real tools on a real file system. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { link, lstat, mkdir, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { tool as edit } from '#activities/tools/fs/edit.ts';
import { tool as listFiles } from '#activities/tools/fs/list-files.ts';
import { tool as readFileTool } from '#activities/tools/fs/read-file.ts';
import { tool as search } from '#activities/tools/fs/search.ts';
import { tool as writeFileTool } from '#activities/tools/fs/write-file.ts';
import { createFiles } from '#activities/workspace/files.ts';
import { withDocuments } from '#activities/workspace/documents/with-documents.ts';
import type { DocumentAccess } from '#domain/files/document.ts';
import type { ToolResult } from '#domain/tool.ts';
import { createFileLock } from '#store/files/file-lock.ts';
import { documentsVersion, writeDocument } from '#store/files/document-store.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { type Bench, temporaryFolder, toolBench } from '#test/support/tool-call.ts';

interface Setup {
  readonly symlink?: readonly [string, string];
  readonly hardlink?: readonly [string, string];
  readonly file?: readonly [string, string];
  readonly dir?: string;
  readonly fifo?: string;
  readonly sparse?: readonly [string, number];
  readonly mknod_or_bind?: string;
}

interface Case {
  readonly id: string;
  readonly class: string;
  readonly op: string;
  readonly path: string;
  readonly expect: 'deny' | 'allow';
  readonly setup?: readonly Setup[];
  readonly note?: string;
}

const CORPUS = JSON.parse(
  await readFile(new URL('../../vectors/path-corpus.json', import.meta.url), 'utf8'),
) as { cases: readonly Case[] };

/** No tool deletes files or unpacks archives. */
const OPS = ['read', 'list', 'write', 'edit', 'search'];
const SECRETS = /TOPSECRET|PRIVATE|EVIL/;

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
  await database.pool.query(`insert into tenants (id, name) values ('default', 'Default')`);
  await database.pool.query(
    `insert into agents (tenant_id, key, revision, config) values ('default', 'main', 1, '{}')`,
  );
  for (const path of ['SOUL.md', 'memory/a.md'])
    await writeDocument(database.pool, SCOPE, { path, author: 'test', by: () => 'of the row' });
});
after(() => database.drop());

const SCOPE = { tenant: 'default', agent: 'main', user: null };

/** Makes files, of which some are documents. */
async function benchWith(t: TestContext, hasDocuments: boolean): Promise<Bench> {
  if (!hasDocuments) return toolBench(t);
  const { pool } = database;
  const files = withDocuments(
    createFiles({ journalDir: await temporaryFolder(t), now: Date.now, lock: createFileLock(pool) }),
    pool,
  );
  const bench = await toolBench(t, { deps: { files } });
  const documents: DocumentAccess = {
    ...SCOPE,
    version: await documentsVersion(pool, SCOPE),
    shows: 'user',
    author: 'test',
    outside: () => ({}),
    hide: (text) => text,
  };
  return { ...bench, run: (tool, args, overrides) => bench.run(tool, args, { ...overrides, documents }) };
}

const ALL = CORPUS.cases.filter(({ op }) => OPS.includes(op));

for (const hasDocuments of [false, true])
  describe(`VF-4 paths of the corpus${hasDocuments ? ', among documents' : ''}`, () => {
    for (const one of ALL) {
      test(`${one.id} ${one.class}: ${one.op} ${JSON.stringify(one.path)} is ${one.expect === 'deny' ? 'refused' : 'allowed'}`, async (t) => {
        const bench = await benchWith(t, hasDocuments);
        const base = bench.base;
        const workspace = join(base, 'ws/t1/s1');
        await layOut(base, workspace);
        if (!(await prepare(one, base, workspace))) return t.skip('needs the right to make devices');
        const before = await outside(base, workspace);
        const result = await perform(bench, one, place(one.path, base, workspace), workspace);
        const words = JSON.stringify(result);
        assert.doesNotMatch(words, SECRETS);
        assert.deepEqual(await outside(base, workspace), before, 'what is outside has not changed');
        if (one.expect === 'allow') assert.equal(result.ok, true, words);
        else assert.equal(result.ok, false, words);
        if (one.expect === 'allow' && one.op === 'read')
          assert.equal(result.ok && result.text, expected(one));
      });
    }
  });

/** `$BASE` and `$WS` are replaced by folders only at the start of a path; `$HOME.txt` is a name. */
function place(text: string, base: string, workspace: string): string {
  return text.replace(/^\$BASE/, base).replace(/^\$WS/, workspace);
}

function expected(one: Case): string {
  const name = one.path.replace(/^(\$WS|\.)\//, '');
  return one.setup?.find(({ file }) => file?.[0] === name)?.file?.[1] ?? '';
}

async function layOut(base: string, workspace: string): Promise<void> {
  for (const folder of ['outdir', 'ws/t1/s1-evil', 'ws/t2/s9'])
    await mkdir(join(base, folder), { recursive: true });
  await mkdir(workspace, { recursive: true });
  await writeFile(join(base, 'secret.txt'), 'TOPSECRET');
  await writeFile(join(base, 'ws/t1/s1-evil/f'), 'EVIL');
  await writeFile(join(base, 'ws/t2/s9/private.txt'), 'PRIVATE');
  await writeFile(join(base, 'ws/t2/s9/f.txt'), 'PRIVATE');
}

async function prepare(one: Case, base: string, workspace: string): Promise<boolean> {
  for (const step of one.setup ?? []) {
    const at = (name: string): string => join(workspace, name);
    if (step.symlink) await symlink(place(step.symlink[0], base, workspace), at(step.symlink[1]));
    if (step.hardlink) await link(place(step.hardlink[0], base, workspace), at(step.hardlink[1]));
    if (step.dir !== undefined) await mkdir(at(step.dir), { recursive: true });
    if (step.fifo !== undefined) execFileSync('mkfifo', [at(step.fifo)]);
    if (step.file) {
      await mkdir(dirname(at(step.file[0])), { recursive: true });
      await writeFile(at(step.file[0]), step.file[1]);
    }
    if (step.sparse) {
      await writeFile(at(step.sparse[0]), '');
      await truncate(at(step.sparse[0]), step.sparse[1]);
    }
    if (step.mknod_or_bind !== undefined) {
      try {
        execFileSync('mknod', [at(step.mknod_or_bind), 'c', '1', '3'], { stdio: 'ignore' });
      } catch {
        return false;
      }
    }
  }
  return true;
}

async function perform(bench: Bench, one: Case, path: string, workspace: string): Promise<ToolResult> {
  const overrides = { workspace };
  switch (one.op) {
    case 'read':
      return bench.run(readFileTool, { path }, overrides);
    case 'list':
      return bench.run(listFiles, { path }, overrides);
    case 'write':
      return bench.run(writeFileTool, { path, content: 'written' }, overrides);
    case 'edit':
      return bench.run(edit, { path, old_string: 'SECRET', new_string: 'x' }, overrides);
    default:
      return bench.run(search, { path, pattern: '.' }, overrides);
  }
}

/** Every name and content outside the workspace. */
async function outside(base: string, workspace: string): Promise<Record<string, string>> {
  const seen: Record<string, string> = {};
  const walk = async (folder: string): Promise<void> => {
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if (path === workspace || path === join(base, 'journal')) continue;
      const stat = await lstat(path);
      if (stat.isDirectory()) await walk(path);
      seen[path] = stat.isFile()
        ? createHash('sha256')
            .update(await readFile(path))
            .digest('hex')
        : 'folder';
    }
  };
  await walk(base);
  return seen;
}
