/** What a request names may be removed while it is served (R11). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toProblem } from '#api/server/errors.ts';
import { startStack } from '#test/support/stack.ts';

it('R11 a row that is removed between its look-up and the write that refers to it is a 409', async () => {
  const stack = await startStack();
  try {
    const error = await stack.pool
      .query(`insert into sessions (tenant_id, key, agent_key) values ('gone', 's', 'main')`)
      .then(
        () => assert.fail('there is no such tenant'),
        (reason: unknown) => reason,
      );
    const { status, body, isBug } = toProblem(error, { id: 'req_1', url: '/v1/x' });
    assert.deepEqual([status, body.code, isBug], [409, 'Conflict', false]);
    assert.match(body.detail, /was removed meanwhile/);
  } finally {
    await stack.stop();
  }
});
