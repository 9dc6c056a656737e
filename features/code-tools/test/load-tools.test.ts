/** The files of a folder become tools, and each that is wrong says where and why (IN-12). */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { provideExports } from '../../provide-exports.ts';
import { loadTools } from '../host/load-tools.ts';

provideExports();
const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'code-tools-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

function toolOf(more: string): string {
  return `import { tool, z } from 'tempoclaw';
export default tool({ description: 'Refunds', input: z.object({ order: z.string().describe('Its id') }), ${more} });`;
}

describe('IN-12 tools of a folder', () => {
  it('are the default exports of its files, with defaults', async () => {
    const { tools, problems } = await loadTools(
      folderOf({
        'tools/refund.ts': toolOf(
          `replay: 'once', approval: true, run: ({ order }: { order: string }) => order`,
        ),
        'tools/refund.test.ts': 'throw new Error("a test")',
        'tools/_shared.ts': 'throw new Error("shared")',
        'tools/notes.md': 'text',
      }),
    );
    assert.deepEqual(problems, []);
    assert.equal(tools.length, 1);
    const { hash, ...definition } = tools[0]?.definition ?? assert.fail();
    assert.match(hash, /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    assert.deepEqual(definition, {
      name: 'refund',
      description: 'Refunds',
      parameters: {
        type: 'object',
        properties: { order: { type: 'string', description: 'Its id' } },
        required: ['order'],
      },
      replay: 'once',
      probes: false,
      approval: true,
      outside: false,
      secrets: [],
      timeout_seconds: 60,
    });
  });

  it('have a hash of their source and of what they import', async () => {
    const files = {
      'tools/refund.ts': `import { rate } from '../lib/rate.ts';\n${toolOf(`replay: 'read', run: () => rate`)}`,
      'lib/rate.ts': 'export const rate = 1;',
    };
    const hashOf = async (made: typeof files) => (await loadTools(folderOf(made))).tools[0]?.definition.hash;
    const first = await hashOf(files);
    assert.equal(await hashOf(files), first);
    assert.notEqual(await hashOf({ ...files, 'lib/rate.ts': 'export const rate = 2;' }), first);
  });

  const wrong: Readonly<Record<string, readonly [string, RegExp]>> = {
    'tools/Refund.ts': ['', /name must be/],
    'tools/none.ts': ['export const x = 1;', /default export must be made with tool/],
    'tools/throws.ts': ['\n\nthrow new Error("no database");', /no database \(line 3\)/],
    'tools/syntax.ts': ['const = 1;', /./],
    'tools/missing.ts': [`import { x } from './nowhere.ts'; export default x;`, /nowhere\.ts/],
    'tools/no_run.ts': [toolOf(`replay: 'read'`), /run must be a function/],
    'tools/no_replay.ts': [toolOf(`run: () => 1`), /replay/],
    'tools/probe.ts': [
      toolOf(`replay: 'read', run: () => 1, probe: () => 1`),
      /only a tool that may run once/,
    ],
    'tools/late.ts': [toolOf(`replay: 'read', timeout: 1e9, run: () => 1`), /timeout_seconds/],
    'tools/secret.ts': [toolOf(`replay: 'read', secrets: ['a b'], run: () => 1`), /secrets/],
    'tools/bare.ts': [
      toolOf(`replay: 'read', run: () => 1`).replace(".describe('Its id')", ''),
      /order has no description/,
    ],
  };
  for (const [file, [text, words]] of Object.entries(wrong))
    it(`say what is wrong with ${file}`, async () => {
      const { tools, problems } = await loadTools(folderOf({ [file]: text }));
      assert.equal(tools.length, 0);
      assert.equal(problems.length, 1);
      assert.ok(problems[0]?.startsWith(`${file}: `), problems[0]);
      assert.match(problems[0] ?? '', words);
    });
});
