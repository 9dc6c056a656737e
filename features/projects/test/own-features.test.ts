/** Features from a folder of the installation: loaded, or left out with what is wrong (IN-12). */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type pg from 'pg';
import { migrate, missingMigrations, schemaProblem } from '#store/postgres/migrate.ts';
import { createTestDatabase } from '#test/support/test-database.ts';
import { childEnvironment } from '#config';
import type { Feature } from '#domain/feature.ts';
import { loadOwnFeatures } from '../../own-features.ts';
import { checkFeatures } from '../check-features.ts';

const BUILT: readonly Feature[] = [
  { name: 'hooks', summary: 'Hooks.' },
  {
    name: 'nodes',
    summary: 'Nodes.',
    commands: [
      { group: 'Talk:', name: 'nodes', summary: 'nodes', load: () => Promise.resolve({ register: () => 0 }) },
    ],
  },
];
const manifest = (fields: string): string =>
  `import { defineFeature } from 'tempoclaw/feature';\nexport default defineFeature({ ${fields} });\n`;

let parent: string;
let folder: string;
before(() => {
  parent = mkdtempSync(join(tmpdir(), 'own-features-'));
});
after(() => rmSync(parent, { recursive: true }));
let count = 0;
beforeEach(() => {
  count += 1;
  folder = join(parent, `${count}/features`);
  mkdirSync(folder, { recursive: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function problemOf(name: string, text: string): string {
  write(`${name}/feature.ts`, text);
  const { features, problems } = loadOwnFeatures(folder, BUILT);
  assert.deepEqual(features, []);
  const [problem = '', ...more] = problems;
  assert.deepEqual(more, []);
  assert.ok(problem.startsWith(join(folder, name)), problem);
  return problem.slice(join(folder, name).length + 2);
}

describe('IN-12 a feature of one’s own', () => {
  it('is loaded with its folder and a digest of its files', () => {
    write('notes/feature.ts', manifest(`name: 'notes', summary: 'Notes.', needs: ['hooks']`));
    write('notes/notes.ts', 'export const a = 1;');
    write('more/feature.ts', manifest(`name: 'more', summary: 'More.', needs: ['notes']`));
    write('_shared/words.ts', '');
    const { features, problems } = loadOwnFeatures(folder, BUILT);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      features.map(({ name }) => name),
      ['more', 'notes'],
    );
    const digests = (): (string | undefined)[] =>
      loadOwnFeatures(folder, BUILT).features.map(({ own }) => own?.digest);
    const [more, notes] = digests();
    write('notes/test/notes.test.ts', 'tests are no part of it');
    assert.deepEqual(digests(), [more, notes]);
    write('notes/notes.ts', 'export const a = 2;');
    assert.equal(digests()[0], more);
    assert.notEqual(digests()[1], notes);
  });

  const WRONG: Readonly<Record<string, readonly [text: string, words: RegExp]>> = {
    'has no default export': ['export const notes = 1;', /no default export/],
    'has no name': [manifest(`summary: 'Notes.'`), /its name must be that of its folder, notes/],
    'has another name': [manifest(`name: 'other', summary: 'Notes.'`), /its name must be that of its folder/],
    'has no summary': [manifest(`name: 'notes'`), /needs a summary/],
    'has a field that is none': [
      manifest(`name: 'notes', summary: 'Notes.', tool: []`),
      /has tool, which a feature has not: name, summary/,
    ],
    'says where it comes from': [
      manifest(`name: 'notes', summary: 'Notes.', own: { folder: '/', digest: '' }`),
      /has own, which a feature has not/,
    ],
    'has modules in place of functions': [
      manifest(`name: 'notes', summary: 'Notes.', tools: [{}]`),
      /tools must be a list of functions/,
    ],
    'names no folder of migrations by a URL': [
      manifest(`name: 'notes', summary: 'Notes.', migrations: './migrations/'`),
      /migrations must be new URL/,
    ],
    'has a folder of migrations that is missing': [
      manifest(`name: 'notes', summary: 'Notes.', migrations: new URL('./migrations/', import.meta.url)`),
      /its folder of migrations is missing/,
    ],
    'needs a feature that is not there': [
      manifest(`name: 'notes', summary: 'Notes.', needs: ['memory']`),
      /notes needs memory, of which not all are there/,
    ],
    'awaits something at once': [
      `await Promise.resolve();\n${manifest(`name: 'notes', summary: 'Notes.'`)}`,
      /has an await outside of functions/,
    ],
    throws: [`throw new Error('out of paper');`, /cannot be loaded: out of paper/],
    'is no TypeScript': ['export default {', /cannot be loaded: /],
    'has a command of another': [
      manifest(
        `name: 'notes', summary: 'Notes.', commands: [{ group: 'Talk:', name: 'nodes', summary: 'n', load: async () => ({}) }]`,
      ),
      /the command nodes is there already/,
    ],
    'has a command of the core': [
      manifest(
        `name: 'notes', summary: 'Notes.', commands: [{ group: 'Talk:', name: 'sessions', summary: 'n', load: async () => ({}) }]`,
      ),
      /the command sessions is there already/,
    ],
  };
  for (const [what, [text, words]] of Object.entries(WRONG))
    it(`is left out when it ${what}`, () => {
      assert.match(problemOf('notes', text), words);
    });

  it('is left out under the name of a feature of the build, or with one that is none', () => {
    assert.match(problemOf('hooks', manifest(`name: 'hooks', summary: 'H.'`)), /a feature of TempoClaw/);
    rmSync(join(folder, 'hooks'), { recursive: true });
    assert.match(
      problemOf('My Notes', manifest(`name: 'My Notes', summary: 'H.'`)),
      /must be named with a-z/,
    );
  });

  it('is left out without a manifest, while others are loaded', () => {
    write('empty/notes.ts', '');
    write('notes/feature.ts', manifest(`name: 'notes', summary: 'Notes.'`));
    const { features, problems } = loadOwnFeatures(folder, BUILT);
    assert.deepEqual(
      features.map(({ name }) => name),
      ['notes'],
    );
    assert.match(problems.join(), /empty: it has no feature\.ts/);
  });

  it('is not asked for in a folder that is missing, or is a file', () => {
    assert.match(loadOwnFeatures(join(folder, 'none'), []).problems.join(), /there is no folder .*none/);
    write('file', '');
    assert.match(loadOwnFeatures(join(folder, 'file'), []).problems.join(), /there is no folder/);
    assert.deepEqual(loadOwnFeatures(undefined, []), { features: [], problems: [] });
  });

  it('is checked with its parts and its tools', async () => {
    const found = async (fields: string): Promise<string> => {
      const name = `parts${Math.random().toString(36).slice(2)}`;
      write(`${name}/feature.ts`, manifest(`name: '${name}', summary: 'Parts.', ${fields}`));
      const { features, problems } = loadOwnFeatures(folder, []);
      assert.deepEqual(problems, []);
      const wrong = await checkFeatures(features);
      rmSync(join(folder, name), { recursive: true });
      return wrong.join();
    };
    assert.match(await found(`rows: async () => ({})`), /the module of rows exports no rowPart/);
    assert.match(await found(`worker: () => import('./none.ts')`), /Cannot find module/);
    assert.match(await found(`routes: [async () => ({})]`), /exports no addRoutes/);
    assert.match(await found(`tools: [async () => ({})]`), /exports no tool/);
    const tool = `{ name: 'exec', description: 'd', group: 'other', replay: 'once', input: {} }`;
    assert.match(await found(`tools: [async () => ({ tool: ${tool} })]`), /both named exec/);
    assert.equal(await found(`routes: []`), '');
  });
});

describe('IN-12 commands of a feature of one’s own', () => {
  const help = (env: Readonly<Record<string, string>>): string =>
    execFileSync(process.execPath, [join(import.meta.dirname, '../../../bin/tempoclaw.js'), '--help'], {
      cwd: parent,
      encoding: 'utf8',
      env: { ...childEnvironment({}), ...env },
    });

  it('are there for who names the folder, and files that somebody else made are not run', () => {
    const command = `{ group: 'Talk:', name: 'jot', summary: 'jots', load: async () => ({ register() {} }) }`;
    const ran = join(parent, 'ran');
    write(
      'notes/feature.ts',
      `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(ran)}, '');\n` +
        manifest(`name: 'notes', summary: 'Notes.', commands: [${command}]`),
    );
    // As a folder that was cloned may have it. No `up` holds it.
    mkdirSync(join(parent, '.tempoclaw'));
    const run = { api: 'http://127.0.0.1:1', features: folder };
    writeFileSync(join(parent, '.tempoclaw/run.json'), JSON.stringify(run));
    assert.doesNotMatch(help({}), /jots/);
    assert.ok(!existsSync(ran));
    assert.match(help({ TEMPOCLAW_FEATURES: folder }), /jot +jots/);
    assert.ok(existsSync(ran));
  });
});

describe('IN-12 migrations of a feature of one’s own', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let pool: pg.Pool;
  before(async () => {
    database = await createTestDatabase();
    ({ pool } = database);
  });
  after(() => database.drop());

  const SQL = '-- Up Migration\ncreate table notes (tenant_id text not null, id text not null);\n';
  function features(file: string, sql: string): readonly Feature[] {
    write(
      'notes/feature.ts',
      manifest(`name: 'notes', summary: 'Notes.', migrations: new URL('./migrations/', import.meta.url)`),
    );
    write(`notes/migrations/${file}`, sql);
    const { features: own, problems } = loadOwnFeatures(folder, []);
    if (problems.length > 0) throw new Error(problems.join());
    return own;
  }

  it('have the name of the feature, so that they are never taken for those of another', () => {
    assert.throws(
      () => features('0001_init.sql', SQL),
      /migrations\/0001_init\.sql must be named such as 0001_notes\.sql/,
    );
  });

  it('run once, and a database with them is usable without the feature', async () => {
    const own = features('0001_notes.sql', SQL);
    const { url } = database;
    assert.deepEqual(await missingMigrations(url, own), ['0001_notes']);
    const ran = await Promise.all([migrate(url, own), migrate(url, own)]);
    assert.deepEqual(ran.flat(), ['0001_notes']);
    assert.deepEqual(await missingMigrations(url, own), []);
    await pool.query('select tenant_id, id from notes');
    assert.equal(await schemaProblem(url, []), undefined);
    assert.deepEqual(await migrate(url, []), []);
  });

  it('are refused when they have changed since they ran, and new ones run', async () => {
    const { url } = database;
    const changed = features('0001_notes.sql', `${SQL}-- changed`);
    await assert.rejects(migrate(url, changed), /0001_notes\.sql has changed since it ran on this database/);
    write('notes/migrations/0001_notes.sql', SQL);
    const more = features('0002_notes_more.sql', '-- Up Migration\nalter table notes add text text;\n');
    assert.deepEqual(await migrate(url, more), ['0002_notes_more']);
  });
});
