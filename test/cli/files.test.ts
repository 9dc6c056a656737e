/** VF-1 at the command line, against the real API. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApi, type TestApi } from '#test/support/stack.ts';
import { runCli } from './support/run-cli.ts';

let api: TestApi;
before(async () => {
  api = await startApi();
});
after(() => api.stop());

describe('VF-1 tempoclaw files', () => {
  test('writes, shows, lists, compares, restores and deletes what is the agent’s and what is a user’s', async () => {
    const run = async (line: string, input?: string): Promise<string> => {
      const args = [...line.split(' '), '--api-key', api.key];
      const { code, stdout, stderr } = await runCli(args, {
        url: api.url,
        ...(input === undefined ? {} : { input }),
      });
      assert.equal(code, 0, stderr);
      return stdout;
    };
    await run('agents create scribe --model rehearsal/echo');
    assert.equal(await run('files set scribe SOUL.md', 'You are brief.\n'), 'SOUL.md has revision 1\n');
    await run('files set scribe SOUL.md --user ann', 'You are kind.\n');
    assert.equal(await run('files show scribe SOUL.md --user ann'), 'You are kind.\n');
    assert.equal(await run('files show scribe SOUL.md --user ben'), 'You are brief.\n');
    await run('files set scribe SOUL.md --user ann --expected-revision 1', 'You are very kind.\n');
    assert.match(
      await run('files compare scribe SOUL.md --user ann --from 1'),
      /-You are kind\.\n\+You are very kind\./,
    );
    assert.equal(await run('files restore scribe SOUL.md 1 --user ann'), 'SOUL.md has revision 3\n');
    assert.match(await run('files versions scribe SOUL.md --user ann'), /3 +key:test admin/);
    assert.match(await run('files list scribe --user ann'), /SOUL\.md +ann +3 +14/);
    await run('files set scribe memory/a.md --user ann', 'note');
    assert.equal(await run('files delete scribe SOUL.md --user ann'), 'SOUL.md is deleted\n');
    assert.equal(await run('files show scribe SOUL.md --user ann'), 'You are brief.\n');

    assert.match(await run('files undo scribe SOUL.md --user ann'), /^revision 4 .* it is as revision 3 was/);
    assert.equal(await run('files show scribe SOUL.md --user ann'), 'You are kind.\n');
    await run('files set scribe memory/a.md --user ann', 'worse');
    assert.match(await run('files undo scribe memory/a.md --user ann'), /^revision 2 .* as revision 1 was/);
    assert.equal(await run('files show scribe memory/a.md --user ann'), 'note\n');
    await run('files set scribe memory/b.md --user ann', 'new');
    const undone = JSON.parse(await run('files undo scribe memory/b.md --user ann --json'));
    assert.deepEqual(undone, { path: 'memory/b.md', undone: 1, author: 'key:test admin', restored: null });
    assert.doesNotMatch(await run('files list scribe --user ann'), /b\.md/);
  });
});
