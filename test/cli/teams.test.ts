/** IN-6, TE: `tempoclaw teams` and `tempoclaw tasks` against the whole stack. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';
import { runCli } from './support/run-cli.ts';

describe('IN-6 tempoclaw teams and tasks', () => {
  let stack: Stack;
  let folder: string;
  before(async () => {
    stack = await startStack({ agents: [{ key: 'writer' }, { key: 'reviewer' }] });
    folder = mkdtempSync(join(tmpdir(), 'tempoclaw-cli-'));
  });
  after(async () => {
    await stack.stop();
    rmSync(folder, { recursive: true });
  });

  const cli = (...args: string[]) =>
    runCli(args, { url: stack.url, cwd: folder, env: { TEMPOCLAW_API_KEY: stack.key } });

  it('a team is made, shown, changed and deleted', async () => {
    const made = await cli('teams', 'create', 'crew', '--lead', 'main', '--members', 'writer, reviewer');
    assert.equal(made.stdout, 'team crew is made: main leads reviewer, writer\n');
    const again = await cli('teams', 'create', 'crew', '--lead', 'main');
    assert.match(again.stderr, /There is a team "crew" already/);
    const unknown = await cli('teams', 'create', 'other', '--lead', 'nobody');
    assert.match(unknown.stderr, /There is no agent "nobody"/);
    const nothing = await cli('teams', 'update', 'crew');
    assert.deepEqual([nothing.code, nothing.stdout], [2, '']);
    assert.match(nothing.stderr, /Nothing to change is named\.\n.*See: npx tempoclaw teams update --help/);
    await cli('teams', 'update', 'crew', '--settings', '{"lease_seconds":60}', '--description', 'Writes.');
    const shown = JSON.parse((await cli('teams', 'show', 'crew', '--json')).stdout);
    assert.deepEqual([shown.members, shown.settings], [['reviewer', 'writer'], { lease_seconds: 60 }]);
    assert.match((await cli('teams', 'list')).stdout, /^TEAM +LEAD +MEMBERS\ncrew +main +reviewer, writer/);
    await cli('teams', 'create', 'gone', '--lead', 'main');
    assert.equal((await cli('teams', 'delete', 'gone')).stdout, 'team gone is deleted\n');
    assert.notEqual((await cli('teams', 'show', 'gone')).code, 0);
  });

  it('a task goes its way by commands, and the board is a table', async () => {
    const made = await cli('tasks', 'create', 'crew', 'Write it', '--priority', '3', '--require-approval');
    assert.equal(made.stdout, '#1 is made (in_review)\n');
    await cli('tasks', 'create', 'crew', 'Read it', '--blocked-by', '1');
    const board = (await cli('tasks', 'list', 'crew')).stdout;
    assert.match(board, /^TASK +STATUS +WHO +% +SUBJECT +WAITS FOR +CHANGED\n/);
    assert.match(board, /#2 +blocked +0 +Read it +#1 /);
    assert.equal((await cli('tasks', 'approve', 'crew', '1')).stdout, '#1 is pending\n');
    const claimed = await cli('tasks', 'claim', 'crew', '1', '--member', 'writer');
    assert.match(claimed.stdout, /^#1 is in_progress, with writer\ntoken \S+ until /);
    const token = /token (\S+)/.exec(claimed.stdout)?.[1] ?? '';
    const late = await cli('tasks', 'claim', 'crew', '1', '--member', 'reviewer');
    assert.notEqual(late.code, 0);
    assert.match(late.stderr, /writer holds it/);
    const tokenless = await cli('tasks', 'complete', 'crew', '1', '--member', 'writer');
    assert.match(tokenless.stderr, /the holder sends the token that its claim gave\n[^\n]*HTTP 403[^\n]*\n$/);
    const mine = ['crew', '1', '--member', 'writer', '--token', token];
    assert.equal((await cli('tasks', 'progress', ...mine, '--percent', '40')).code, 0);
    assert.match(
      (await cli('tasks', 'list', 'crew', '--status', 'in_progress')).stdout,
      /writer +40 +Write it/,
    );
    const done = await cli('tasks', 'complete', ...mine, '--text', 'Here it is.');
    assert.equal(done.stdout, '#1 is completed, with writer\n');
    assert.match((await cli('tasks', 'show', 'crew', '1')).stdout, /result:\n +Here it is\./);
    await stack.worker.until('the second to be free', async () =>
      /#2 +pending/.test((await cli('tasks', 'list', 'crew')).stdout) ? true : undefined,
    );
    assert.match(
      (await cli('teams', 'events', 'crew', '--task', '1')).stdout,
      /#1 +complete +key:test admin/,
    );
    assert.match((await cli('tasks', 'list', 'crew', '--search', 'read')).stdout, /#2/);
    assert.equal((await cli('tasks', 'cancel', 'crew', '2')).stdout, '#2 is cancelled\n');
  });
});
