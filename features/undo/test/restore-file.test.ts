/** DU-9: files that calls have written are as before, byte for byte, and only an undo restores them. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

const write = (path: string, content: string, append = false): string =>
  `write_file ${JSON.stringify({ path, content, append })}`;

const edit = (path: string, old_string: string, new_string: string, replace_all = false): string =>
  `edit ${JSON.stringify({ path, old_string, new_string, replace_all })}`;

describe('DU-9 undo of written files', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  async function say(session: string, steps: readonly string[]): Promise<string> {
    const { body, status } = await stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
      body: { text: steps.join('\nthen\n'), agent: 'main' },
    });
    assert.equal(status, 200, JSON.stringify(body));
    return body.turn_id;
  }
  const undo = async (turn: string): Promise<any> => {
    const { body, status } = await stack.ask('POST', `/v1/turns/${turn}/undo?wait=60`, { body: {} });
    assert.equal(status, 200, JSON.stringify(body));
    return body.calls;
  };
  const plan = async (turn: string): Promise<any> =>
    (await stack.ask('GET', `/v1/turns/${turn}/undo`)).body.calls;
  /** Of the agent’s workspace, in which all sessions here are. */
  const folder = async (): Promise<string> => {
    const { body } = await stack.ask('POST', '/v1/sessions/where/messages?wait=60', {
      body: { text: 'workspace_dir {}', agent: 'main' },
    });
    return /\/\S+/.exec(body.text)?.[0] ?? assert.fail(body.text);
  };

  it('removes a file that was created, and puts back one that was replaced or added to', async () => {
    await say('files', [write('replaced.txt', 'before'), write('added.txt', 'one\n')]);
    const turn = await say('files', [
      write('created/new.txt', 'new'),
      write('replaced.txt', 'after'),
      write('added.txt', 'two\n', true),
      write('replaced.txt', 'later'),
    ]);
    const calls = await undo(turn);
    assert.deepEqual(
      calls.map(({ action }: any) => action),
      Array.from({ length: 4 }, () => 'reversed'),
    );
    const root = await folder();
    assert.equal(await readFile(join(root, 'replaced.txt'), 'utf8'), 'before');
    assert.equal(await readFile(join(root, 'added.txt'), 'utf8'), 'one\n');
    await assert.rejects(readFile(join(root, 'created/new.txt')), { code: 'ENOENT' });
  });

  it('keeps at most 100 MB of a session', async () => {
    await stack.pool.query(
      `insert into before_images (tenant_id, call_id, session_key, path, sealed, key_id, read, after)
       values ($1, 'call_large', 'much', 'large', repeat('x', 100000000), 'k', '{}', '')`,
      [stack.tenant],
    );
    const turn = await say('much', [write('much.txt', 'one')]);
    await stack.pool.query(`delete from before_images where call_id = 'call_large'`);
    const [call] = await plan(turn);
    assert.equal(call.action, 'irreversible');
    assert.match(call.reason, /is not kept: it was too large or too much/);
  });

  it('puts back bytes that are no text, and keeps them sealed until then', async () => {
    const root = await folder();
    const bytes = Buffer.concat([Buffer.from('marmot-marmot'), Buffer.from([0, 255, 254, 10, 13, 0])]);
    await writeFile(join(root, 'bytes.bin'), bytes);
    const turn = await say('bytes', [write('bytes.bin', 'text')]);
    const { rows } = await stack.pool.query('select * from before_images where session_key = $1', ['bytes']);
    assert.equal(rows.length, 1);
    for (const form of ['utf8', 'base64'] as const)
      assert.ok(!JSON.stringify(rows).includes(Buffer.from('marmot-marmot').toString(form).slice(0, 12)));
    await undo(turn);
    assert.ok((await readFile(join(root, 'bytes.bin'))).equals(bytes));
  });

  it('puts back what an edit has replaced in many places, or has removed', async () => {
    await say('edits', [write('many.txt', 'x y x'), write('less.txt', 'one two')]);
    const turn = await say('edits', [
      edit('many.txt', 'x', 'y', true),
      edit('less.txt', ' two', ''),
      edit('less.txt', 'nowhere', 'here'),
    ]);
    const calls = await undo(turn);
    assert.deepEqual(
      calls.map(({ action }: any) => action),
      ['nothing', 'reversed', 'reversed'],
    );
    const root = await folder();
    assert.equal(await readFile(join(root, 'many.txt'), 'utf8'), 'x y x');
    assert.equal(await readFile(join(root, 'less.txt'), 'utf8'), 'one two');
  });

  it('VF-2 removes a document that was created, whose versions stay', async () => {
    const turn = await say('documents', [write('memory/undone.md', 'one'), write('USER.md', 'two')]);
    const calls = await undo(turn);
    assert.deepEqual(
      calls.map(({ action }: any) => action),
      ['reversed', 'reversed'],
    );
    const [read] = await stack.worker.calls(
      await say('documents', ['read_file {"path":"memory/undone.md"}']),
    );
    assert.equal(read?.code, 'FileNotFound');
    const { body } = await stack.ask('GET', '/v1/agents/main/files/memory%2Fundone.md/versions');
    assert.equal(body.data.length, 2, JSON.stringify(body));
  });

  it('leaves a file that somebody has changed since, and says so', async () => {
    const turn = await say('since', [write('since.txt', 'mine')]);
    const root = await folder();
    await writeFile(join(root, 'since.txt'), 'theirs');
    const [call] = await undo(turn);
    assert.equal(call.action, 'reverse');
    assert.match(call.reason, /could not reverse it/);
    assert.equal(await readFile(join(root, 'since.txt'), 'utf8'), 'theirs');
  });

  it('says that a file was too large to be kept', async () => {
    const root = await folder();
    await writeFile(join(root, 'large.txt'), 'x'.repeat(1_000_001));
    const turn = await say('large', [write('large.txt', 'small')]);
    const [call] = await plan(turn);
    assert.deepEqual([call.action, call.by], ['irreversible', null]);
    assert.match(call.reason, /too large/);
  });

  it('is the only way to restore: the tool is offered to no model, and a call of it by itself is refused', async () => {
    const turn = await say('alone', [write('alone.txt', 'one')]);
    const [call] = await plan(turn);
    const { body } = await stack.ask('POST', '/v1/sessions/alone/messages?wait=60', {
      body: {
        text: `restore_file ${JSON.stringify({ path: 'alone.txt', call: call.call_id })}`,
        agent: 'main',
      },
    });
    const [made] = await stack.worker.calls(body.turn_id);
    assert.deepEqual([made?.ok, made?.code], [false, 'PermissionDenied']);
    assert.equal(await readFile(join(await folder(), 'alone.txt'), 'utf8'), 'one');
  });

  it('is over with the session: what was kept of its files is forgotten', async () => {
    await say('forgotten', [write('forgotten.txt', 'one'), write('forgotten.txt', 'two')]);
    const answer = await stack.ask('DELETE', '/v1/sessions/forgotten');
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    await stack.worker.until('the removal', async () => {
      const { rows } = await stack.pool.query('select 1 from before_images where session_key = $1', [
        'forgotten',
      ]);
      return rows.length === 0 ? true : undefined;
    });
  });
});
