/** SH-2: allow always, from the approval to the next call and back: by row, over HTTP. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('SH-2 what was allowed always', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  const COMMAND = 'id -u';
  const exec = (command: string, key?: string) =>
    stack.ask('POST', '/v1/tools/exec/invoke', {
      body: { args: { command } },
      ...(key === undefined ? {} : { key }),
    });
  const list = (query = '', key?: string) =>
    stack.ask('GET', `/v1/exec-allowlist${query}`, key === undefined ? {} : { key });

  test('is the file of the program with its arguments, runs unasked, and is asked about again when it is taken back', async () => {
    const answer = await exec(COMMAND);
    assert.equal(answer.status, 202, JSON.stringify(answer.body));
    const always = await stack.ask('POST', `/v1/approvals/${answer.body.approval_id}/decision`, {
      body: { decision: 'approve_always' },
    });
    assert.equal(always.status, 200, JSON.stringify(always.body));
    assert.equal((await exec(COMMAND)).status, 200);
    const { body } = await list();
    assert.equal(body.data.length, 1);
    const [entry] = body.data;
    assert.match(entry.allows, /^\/\S+\/id -u$/);
    assert.deepEqual([entry.agent, entry.tool, entry.user], ['main', 'exec', null]);
    assert.equal((await exec('id -u -n')).status, 202);

    assert.equal((await stack.ask('DELETE', `/v1/exec-allowlist/${entry.id}`)).status, 204);
    assert.deepEqual((await list()).body.data, []);
    assert.equal((await exec(COMMAND)).status, 202);
    assert.equal((await stack.ask('DELETE', `/v1/exec-allowlist/${entry.id}`)).status, 204);
    assert.equal((await stack.ask('DELETE', '/v1/exec-allowlist/none')).status, 404);
  });

  test('is listed page by page, newest first', async () => {
    for (const command of ['id -G', 'id -r']) {
      const { body } = await exec(command);
      await stack.ask('POST', `/v1/approvals/${body.approval_id}/decision`, {
        body: { decision: 'approve_always' },
      });
    }
    const first = (await list('?limit=1')).body;
    const second = await list(`?limit=1&after=${first.next_cursor}`);
    assert.equal(second.status, 200, JSON.stringify(second.body));
    const pages = [first, second.body].map(({ data, has_more }) => [data[0].allows.slice(-5), has_more]);
    assert.deepEqual(pages, [
      ['id -r', true],
      ['id -G', false],
    ]);
    for (const { id } of [...first.data, ...second.body.data])
      assert.equal((await stack.ask('DELETE', `/v1/exec-allowlist/${id}`)).status, 204);
  });

  test('is of one user and one tenant: others neither see it nor take it back nor run by it', async () => {
    const anns = await stack.makeKey(['read', 'run', 'approve'], { user: 'ann' });
    const bobs = await stack.makeKey(['read', 'run', 'approve'], { user: 'bob' });
    const answer = await exec('id -g', anns);
    await stack.ask('POST', `/v1/approvals/${answer.body.approval_id}/decision`, {
      body: { decision: 'approve_always' },
    });
    assert.equal((await exec('id -g', anns)).status, 200);
    assert.equal((await exec('id -g', bobs)).status, 202);
    const [entry] = (await list('?user=ann')).body.data;
    assert.equal(entry.user, 'ann');
    assert.deepEqual((await list('', bobs)).body.data, []);
    const other = await stack.makeTenant();
    for (const key of [bobs, other.key])
      assert.equal((await stack.ask('DELETE', `/v1/exec-allowlist/${entry.id}`, { key })).status, 404);
    assert.equal((await list('', anns)).body.data.length, 1);
    const reader = await stack.makeKey(['read']);
    assert.equal((await stack.ask('DELETE', `/v1/exec-allowlist/${entry.id}`, { key: reader })).status, 403);
    assert.equal((await stack.ask('DELETE', `/v1/exec-allowlist/${entry.id}`, { key: anns })).status, 204);
  });
});
