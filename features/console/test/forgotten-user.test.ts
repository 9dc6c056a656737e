/** A user whose browser is logged in is forgotten, and the browser is logged out. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';
import { loggedIn } from './browser-client.ts';

describe('a forgotten user of the console', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ console: { enabled: true } });
  });
  after(() => stack.stop());

  it('has no session and no link any more', async () => {
    const key = await stack.makeKey(['read'], { user: 'ann' });
    const browser = await loggedIn(stack, key);
    assert.equal((await stack.ask('POST', '/v1/console/links', { key })).status, 201);
    const { status, body } = await stack.ask('DELETE', '/v1/users/ann');
    assert.equal(status, 202, JSON.stringify(body));
    await stack.worker.until('the user to be forgotten', async () => {
      const forgetting = await stack.ask('GET', `/v1/forgettings/${body.id}`);
      return forgetting.body.status === 'done' ? true : undefined;
    });
    assert.equal((await browser.ask('GET', '/v1/me')).status, 401);
    const { rows } = await stack.pool.query(
      'select from console_sessions union all select from console_links union all select from api_keys where user_id is not null',
    );
    assert.equal(rows.length, 0);
  });
});
