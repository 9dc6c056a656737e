/** What the loader says about the files of hooks/ (IN-12, HO). */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { provideExports } from '../../provide-exports.ts';
import { loadHooks } from '../host/load-hooks.ts';

provideExports();

const made: string[] = [];
after(() => made.forEach((folder) => rmSync(folder, { recursive: true })));

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'hooks-'));
  made.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const hookOf = (fields: string): string =>
  `import { hook } from 'tempoclaw';\nexport default hook({ ${fields} });`;

describe('IN-12 the files of hooks/', () => {
  it('are hooks by their names, in order, and what begins with _ or is a test is none', async () => {
    const folder = folderOf({
      'hooks/no_pushes.ts': hookOf(
        `event: 'pre_tool_use', tools: ['exec'], agents: ['shop'], timeout: 2, run: () => ({ decision: 'deny' })`,
      ),
      'hooks/greet.ts': hookOf(`event: 'session_start', run() {}`),
      'hooks/_shared.ts': 'export const x = 1;',
      'hooks/greet.test.ts': 'throw new Error("not this")',
    });
    const { hooks, problems } = await loadHooks(folder);
    assert.deepEqual(problems, []);
    assert.partialDeepStrictEqual(
      hooks.map(({ definition }) => definition),
      [
        { name: 'greet', event: 'session_start', secrets: [] },
        { name: 'no_pushes', event: 'pre_tool_use', tools: ['exec'], agents: ['shop'], timeout_seconds: 2 },
      ],
    );
  });

  it('need not be there', async () => {
    assert.deepEqual(await loadHooks(folderOf({})), { hooks: [], problems: [] });
  });

  const wrong: Readonly<Record<string, readonly [string, RegExp]>> = {
    'hooks/No-Pushes.ts': ['', /name must be/],
    'hooks/none.ts': ['export default 1;', /default export must be made with hook/],
    'hooks/no_run.ts': [hookOf(`event: 'session_start'`), /run must be a function/],
    'hooks/event.ts': [hookOf(`event: 'sometimes', run() {}`), /event/],
    'hooks/late.ts': [hookOf(`event: 'session_start', timeout: 60, run() {}`), /timeout_seconds/],
    'hooks/throws.ts': ['\nthrow new Error("no rules");', /no rules \(line 2\)/],
  };
  for (const [file, [text, words]] of Object.entries(wrong))
    it(`say what is wrong with ${file}`, async () => {
      const { hooks, problems } = await loadHooks(folderOf({ [file]: text }));
      assert.equal(hooks.length, 0);
      assert.equal(problems.length, 1);
      assert.ok(problems[0]?.startsWith(`${file}: `), problems[0]);
      assert.match(problems[0] ?? '', words);
    });
});
