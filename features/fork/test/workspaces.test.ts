/** DU-6: whatever a fork and its subagents write is in copies that belong to it, also of shared and followed workspaces. */
import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';
import { observeStatements } from '#test/support/statements.ts';
import { createForker, type Forker, write } from './support.ts';

const AGENTS = [
  { key: 'free', tools: {} },
  { key: 'shared', tools: {}, workspace: { scope: 'shared' as const, name: 'common' } },
  { key: 'team', tools: {}, workspace: { scope: 'team' as const, name: 'crew' } },
  { key: 'own', tools: {}, workspace: { scope: 'session' as const } },
];

const spawn = (task: string): string => `spawn ${JSON.stringify({ action: 'run', task })}`;

describe('DU-6 workspaces of forks', () => {
  let stack: Stack;
  let forker: Forker;
  before(async () => {
    stack = await startStack({ agents: AGENTS });
    forker = createForker(stack);
  });
  after(() => stack?.stop());

  for (const { key: agent } of AGENTS)
    it(`copy that of the agent ${agent}, and leave it as it is`, async () => {
      const session = `of-${agent}`;
      await stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
        body: { text: [write('a.txt', 'a'), write('b.txt', 'b'), 'Done.'].join('\nthen\n'), agent },
      });
      const fork = await forker.fork(session, { step: 2 });
      const { session_key: key } = fork;
      await forker.send(key, [write('a.txt', 'changed'), spawn(write('c.txt', 'of a subagent'))]);
      const [file, original] = [
        (path: string) => forker.file(key, path, agent),
        (path: string) => forker.file(session, path, agent),
      ];
      assert.deepEqual([await file('a.txt'), await file('b.txt')], ['changed', 'b']);
      assert.equal(await file('c.txt'), 'of a subagent');
      assert.deepEqual([await original('a.txt'), await original('c.txt')], ['a', undefined]);
    });

  for (const [when, statement] of [
    ['while the files are copied', 'insert into outside_files'],
    ['after the files have come', 'select from forks where'],
  ] as const)
    it(`leave nothing to a session that takes the key of the fork ${when}`, async (t) => {
      const [from, key] = [`kept-${when.length}`, `taken-${when.length}`];
      const send = (session: string, text: string) =>
        stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, { body: { text, agent: 'own' } });
      await send(from, [write('a.txt', 'a'), 'Done.'].join('\nthen\n'));
      let isTaken = false;
      observeStatements(t, stack.worker.pool, async ({ text }) => {
        if (isTaken || !text.includes(statement)) return;
        isTaken = true;
        assert.equal((await send(key, 'Hello.')).status, 200);
      });
      const { status, body } = await stack.ask('POST', `/v1/sessions/${from}/forks`, { body: { key } });
      assert.equal(status, 409, JSON.stringify(body));
      assert.match(body.detail, /There is a session taken-\d+ already/);
      assert.equal(await forker.file(key, 'a.txt', 'own'), undefined);
      assert.equal(await forker.file(from, 'a.txt', 'own'), 'a');
    });

  it('have links into the original lead into the copy', async () => {
    await forker.send('links', [write('deep/a.txt', 'a'), 'Done.']);
    const { text } = await forker.send('links', ['workspace_dir {}']);
    const root = /\/\S+/.exec(text)?.[0] ?? assert.fail(text);
    await symlink(join(root, 'deep'), join(root, 'all'));
    const { session_key: key } = await forker.fork('links', {});
    await forker.send(key, [write('all/a.txt', 'fork'), 'Done.']);
    assert.equal(await forker.file('links', 'deep/a.txt'), 'a');
    assert.equal(await forker.file(key, 'deep/a.txt'), 'fork');
  });

  it('are read by undo of the fork’s own calls only', async () => {
    await forker.send('undone', [write('u.txt', 'one'), write('u.txt', 'two'), 'Done.']);
    const fork = await forker.fork('undone', { step: 2 });
    const { body } = await stack.ask('POST', `/v1/turns/${fork.turn_id}/undo?wait=60`, { body: {} });
    assert.deepEqual(
      body.calls.map(({ action }: any) => action),
      ['reversed', 'nothing'],
    );
    assert.equal(await forker.file(fork.session_key, 'u.txt'), 'one');
    assert.equal(await forker.file('undone', 'u.txt'), 'two');
  });
});

describe('DU-6 forks of workspaces that follow the work', () => {
  it('have the files of the newest revision as they were at the step', async () => {
    const stack = await startStack({
      agents: [{ key: 'free', tools: {} }],
      env: { TEMPOCLAW_WORKSPACES_FOLLOW: 'snapshots' },
    });
    try {
      const forker = createForker(stack);
      await forker.send('followed', [write('a.txt', 'one'), write('a.txt', 'two'), 'Done.']);
      const fork = await forker.fork('followed', { step: 2, answer: { text: 'Stop.' } });
      const read = async (session: string): Promise<string> =>
        (await forker.send(session, ['read_file {"path":"a.txt"}', 'Read.'])).turn_id;
      const results = async (turn: string) => (await stack.worker.calls(turn)).map(({ result }) => result);
      assert.match(String(await results(await read(fork.session_key))), /one/);
      assert.match(String(await results(await read('followed'))), /two/);
      const { rows } = await stack.pool.query('select name, revision from workspaces order by name');
      assert.equal(rows.length, 2, JSON.stringify(rows));
    } finally {
      await stack.stop();
    }
  });
});
