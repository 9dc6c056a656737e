/** A build without incoming webhooks: channels of other types work, and nothing names the type. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { commandsOf } from '#cli/commands.ts';
import { createProgram } from '#cli/program.ts';
import { FEATURES } from '#features';
import { type Stack, startStack } from '#test/support/stack.ts';

const REST = FEATURES.filter(({ name }) => name !== 'webhooks-in');

it('IN-4 without incoming webhooks their type is refused and not described, and their channels wait', async (t) => {
  // Both can read what either seals.
  const settings = `encryption: { key: "${randomBytes(32).toString('base64')}" }`;
  const stack = await startStack({ settings });
  let without: Stack | undefined;
  t.after(async () => {
    await without?.stop();
    await stack.stop();
  });
  const body = {
    key: 'calls',
    type: 'webhook',
    settings: { secret: 'of-the-calls-0123456789', signature: 'github' },
  };
  assert.equal((await stack.ask('POST', '/v1/channels', { body })).status, 201);
  const { tenant, databaseUrl } = stack.worker;
  without = await startStack({ settings, features: REST, beside: { tenant, databaseUrl } });

  const refused = await without.ask('POST', '/v1/channels', { body: { ...body, key: 'more' } });
  assert.equal(refused.status, 400);
  assert.match(refused.body.detail, /body\/type: .*"telegram"\|"slack"\|"discord"\|"web"$/);
  const web = { key: 'site', type: 'web' };
  assert.equal((await without.ask('POST', '/v1/channels', { body: web })).status, 201);
  const { body: list } = await without.ask('GET', '/v1/channels');
  assert.deepEqual(
    list.data.map(({ key }: { key: string }) => key),
    ['site'],
  );
  assert.equal((await without.ask('GET', '/v1/channels/calls')).status, 404);
  assert.equal((await without.ask('POST', '/v1/channels/calls/inbound', { body: {} })).status, 401);

  const typeOf = async ({ ask }: Stack) => {
    const { body: document } = await ask('GET', '/openapi.json');
    return JSON.stringify(document.paths['/v1/channels']).includes('"webhook"');
  };
  assert.deepEqual([await typeOf(stack), await typeOf(without)], [true, false]);
  assert.equal((await without.ask('DELETE', '/v1/channels/calls')).status, 204);
  assert.equal((await stack.ask('GET', '/v1/channels/calls')).status, 404);
  await assert.rejects(
    createProgram(commandsOf(REST)).parseAsync(['', '', 'channels', 'add', 'x', '--type', 'webhook']),
    /'webhook' is invalid\. Allowed choices are telegram, slack, discord, web\./,
  );
});
