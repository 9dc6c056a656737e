/** VF-1: a version of a context file or of memory says in whose turn it was written, to those who reach that turn. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runCli } from '#test/cli/support/run-cli.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('VF-1 a version of a file says in which turn it was written', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  const say = async (session: string, text: string, user?: string): Promise<string> => {
    const { turn_id } = await stack.worker.say(session, text, user === undefined ? {} : { user });
    await stack.worker.ended(turn_id);
    return turn_id;
  };
  const versions = async (path: string, query: string, key = stack.key) =>
    (await stack.ask('GET', `/v1/agents/main/files/${path}/versions${query}`, { key })).body.data;

  it('whichever tool wrote it, with the session and its user', async () => {
    const writes = [
      ['USER.md', 'write_file {"path":"USER.md","content":"one"}'],
      ['USER.md', 'edit {"path":"USER.md","old_string":"one","new_string":"two"}'],
      ['MEMORY.md', 'memory_write {"content":"three"}'],
      ['memory/x.md', 'write_file {"path":"memory/x.md","content":"four"}'],
    ] as const;
    for (const [at, [path, call]] of writes.entries()) {
      const turn = await say(`of-ann-${at}`, call, 'ann');
      const [newest] = await versions(path, '?user=ann');
      assert.deepEqual(newest.written_in, { session: `of-ann-${at}`, turn, user: 'ann' }, call);
      assert.equal(newest.author, 'agent:main', call);
    }
    const body = { text: 'By hand.' };
    assert.equal((await stack.ask('PUT', '/v1/agents/main/files/USER.md?user=ann', { body })).status, 200);
    assert.equal((await versions('USER.md', '?user=ann'))[0].written_in, null);
  });

  it('not to a user, where it was another’s or nobody’s turn', async () => {
    const turn = await say('of-nobody', 'write_file {"path":"SOUL.md","content":"calm"}');
    const [own] = await versions('SOUL.md', '');
    assert.deepEqual(own.written_in, { session: 'of-nobody', turn, user: null });
    await stack.pool.query(`update document_versions set user_id = 'ben' where path = 'SOUL.md'`);
    const ben = await stack.makeKey(['read'], { user: 'ben' });
    assert.equal((await versions('SOUL.md', '', ben))[0].written_in, null);
  });

  it('at the command line', async () => {
    const { stdout } = await runCli(['files', 'versions', 'main', 'MEMORY.md', '--user', 'ann'], {
      url: stack.url,
      env: { TEMPOCLAW_API_KEY: stack.key },
    });
    assert.match(stdout, /agent:main +ann +of-ann-2 +turn_/);
  });
});
