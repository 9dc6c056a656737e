/** SC-2: what refers to a secret that is not set is refused when it is written, and said of where it is gone since. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startApi, type TestApi } from '#test/support/stack.ts';

const URL = 'https://example.com/in';
const hook = {
  event: 'pre_tool_use',
  type: 'http',
  url: URL,
  headers: { Authorization: 'Bearer secret://it' },
};

/** Method, path, body, and the field that refers to the secret. */
const REQUESTS = [
  [
    'POST',
    '/v1/agents',
    { key: 'a1', model: 'rehearsal/follow', hooks: [hook] },
    'hooks/0/headers/Authorization',
  ],
  ['PATCH', '/v1/agents/main', { hooks: [hook] }, 'hooks/0/headers/Authorization'],
  ['PUT', '/v1/policy', { hooks: [hook] }, 'hooks/0/headers/Authorization'],
  ['POST', '/v1/webhooks', { url: `${URL}?key=secret://it`, events: ['*'] }, 'url'],
  [
    'PUT',
    '/v1/remote-agents/r1',
    { url: URL, description: 'd', credential: 'Bearer secret://it' },
    'credential',
  ],
  [
    'PUT',
    '/v1/secure-clis/p1',
    { binary_name: 'p1', env: [{ name: 'K', value: 'secret://it' }] },
    'env/0/value',
  ],
  ['POST', '/v1/mcp/servers', { name: 's1', url: URL, headers: { K: 'secret://it' } }, 'headers/K'],
  ['POST', '/v1/tools/custom', { name: 't1', command: 'echo', env: { K: 'secret://it' } }, 'env/K'],
] as const;

describe('SC-2 references to secrets', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api?.stop());

  for (const [method, path, body, field] of REQUESTS)
    it(`${method} ${path} refuses one that is not set, with the field`, async () => {
      const refused = await api.ask(method, path, { body });
      assert.equal(refused.status, 422, JSON.stringify(refused.body));
      assert.deepEqual(refused.body.errors, [
        {
          pointer: `body/${field}`,
          message: 'the secret "it" is not set; set it first: npx tempoclaw secrets set it',
        },
      ]);
    });

  it('are taken once the secret is set, and agents and the policy warn of a hook when it is gone', async () => {
    await api.ask('PUT', '/v1/secrets/it', { body: { value: 'a value of some length' } });
    for (const [method, path, body] of REQUESTS) {
      const made = await api.ask(method, path, { body });
      assert.ok(made.status < 300, `${path} ${JSON.stringify(made.body)}`);
    }
    const warnings = async (path: string): Promise<readonly string[]> =>
      (await api.ask('GET', path)).body.warnings;
    assert.deepEqual(await warnings('/v1/agents/main'), []);
    await api.ask('DELETE', '/v1/secrets/it');
    for (const path of ['/v1/agents/main', '/v1/policy'])
      assert.match(
        (await warnings(path)).join(),
        /^hooks\/0\/headers\/Authorization: it denies all that it is to judge: the secret "it" is not set/,
      );
    // Another field can be changed all the same.
    assert.equal((await api.ask('PATCH', '/v1/agents/main', { body: { name: 'Mia' } })).status, 200);
  });

  it('agents warn of a hook whose model has lost its provider', async () => {
    const judge = { event: 'pre_tool_use', type: 'prompt', prompt: 'Safe?', model: 'gone/judge' };
    await api.pool.query(
      `update agents set config = config || jsonb_build_object('hooks', $1::jsonb) where key = 'main'`,
      [JSON.stringify([judge])],
    );
    const { warnings } = (await api.ask('GET', '/v1/agents/main')).body;
    assert.match(warnings.join(), /^hooks\/0\/model: .*The provider of "gone\/judge" is not configured/);
  });
});
