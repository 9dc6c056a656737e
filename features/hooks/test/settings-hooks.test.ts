/** Hooks of the settings are the operator's, in every tenant. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { insertTenant } from '#store/api-key-store.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { startSite, type WebSite } from '#test/support/web-site.ts';

describe('REFERENCE §10 hooks of the settings', () => {
  let stack: Stack;
  let site: WebSite;
  let close: () => void = () => undefined;
  const keys: unknown[] = [];
  before(async () => {
    site = await startSite({ after: (end) => (close = end) }, ({ headers }, reply) => {
      keys.push(headers['x-key']);
      reply.end('{"decision":"allow"}');
    });
    const hook = {
      event: 'pre_tool_use',
      type: 'http',
      url: `${site.url}/`,
      headers: { 'X-Key': 'secret://desk' },
    };
    stack = await startStack({
      settings: JSON.stringify({ egress: { allowPrivate: [site.place] }, hooks: [hook] }),
      egress: { allowPrivate: [site.place] },
    });
  });
  after(async () => {
    await stack?.stop();
    close();
  });

  it('send the secret of the operator’s tenant, also where a tenant has one of the same name', async () => {
    await insertTenant(stack.pool, 'default', 'Default');
    const operator = await stack.makeKey(['admin'], { tenant: 'default' });
    for (const [key, value] of [
      [operator, 'of-the-operator'],
      [stack.key, 'of-the-tenant'],
    ])
      assert.ok((await stack.ask('PUT', '/v1/secrets/desk', { key, body: { value } })).status < 300);
    const { turn_id } = await stack.worker.say('desk', 'peek {"note":"x"}');
    await stack.worker.ended(turn_id);
    assert.deepEqual(keys, ['of-the-operator']);
    assert.equal((await stack.worker.calls(turn_id))[0]?.ok, true);
  });
});
