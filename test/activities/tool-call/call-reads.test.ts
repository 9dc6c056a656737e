/** DU-2, PO-5: what the row of a command says about the files that it has changed. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createCallReads } from '#activities/tool-call/call-reads.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

describe('DU-2 the files of a command', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  for (const [what, isAgain, files] of [
    ['are named, with secrets masked', false, ['a', 'hidden']],
    ['are known to nobody when an earlier attempt was lost, which may have changed others', true, ['']],
  ] as const)
    it(what, async (t) => {
      const workspace = await temporaryFolder(t);
      const reads = createCallReads(
        database.pool,
        { watchersOf: async () => [] },
        [],
      )({
        call: 'call',
        tool: 'exec',
        isAgain,
        scope: { tenant: 'x', agent: 'main', user: null, type: undefined },
        workspace,
        outside: {},
        mayRun: async () => true,
        hide: (text) => text.replace('secret', 'hidden'),
      });
      await reads.origins.runs();
      for (const name of ['secret', 'a']) await writeFile(join(workspace, name), '');
      const { changedFiles } = await reads.noted({ ok: true, text: '' }, { marks: false, acts: true });
      assert.deepEqual(changedFiles, files);
    });
});
