/** SC-3: what features store as it is written has no secret, other than where it is sealed. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PLANTED, refusesSecret, startWithSecret } from '#test/support/planted-secrets.ts';
import type { TestApi } from '#test/support/stack.ts';

type Case = readonly [method: string, path: string, body: object, pointer: string];

function refusedCases(value: string): readonly Case[] {
  const tool = { name: 'echoes', command: 'echo' };
  const schedule = { agent: 'main', message: 'hi', schedule: { kind: 'every', every_seconds: 86_400 } };
  const program = { binary_name: 'prog', env: [] };
  const server = { name: 'server', url: 'https://example.com/mcp' };
  const webhook = { url: 'https://example.com/hook', events: ['turn.completed'] };
  return [
    ['POST', '/v1/tools/custom', { ...tool, command: `echo ${value}` }, 'body/command'],
    ['POST', '/v1/tools/custom', { ...tool, description: value }, 'body/description'],
    ['POST', '/v1/freezes', { reason: value, tools: ['exec'] }, 'body/reason'],
    ['POST', '/v1/freezes', { reason: 'why', tools: [`x*${value}`] }, 'body/tools/0'],
    ['POST', '/v1/schedules', { ...schedule, name: value }, 'body/name'],
    ['PUT', '/v1/secure-clis/prog', { ...program, tips: `Use ${value}` }, 'body/tips'],
    ['PUT', '/v1/secure-clis/prog', { ...program, deny_args: [value] }, 'body/deny_args/0'],
    ['POST', '/v1/mcp/servers', { ...server, url: `${server.url}?key=${value}` }, 'body/url'],
    ['POST', '/v1/mcp/servers', { name: 'server', command: 'node', args: ['x.js', value] }, 'body/args/1'],
    ['POST', '/v1/webhooks', { ...webhook, url: `${webhook.url}?key=${value}` }, 'body/url'],
    ['POST', '/v1/webhooks', { ...webhook, description: value }, 'body/description'],
    ['POST', '/v1/tenants', { id: 'acme', name: value }, 'body/name'],
    ['POST', '/v1/sessions/a/messages', { text: 'hi', allowed_tools: [value] }, 'body/allowed_tools/0'],
  ];
}

describe('SC-3 secrets in what features define', () => {
  let api: TestApi;
  before(async () => {
    api = await startWithSecret();
  });
  after(() => api.stop());

  for (const [kind, value] of Object.entries(PLANTED))
    it(`are refused, with the field: ${kind}`, async () => {
      for (const request of refusedCases(value)) await refusesSecret(api, ...request);
    });

  it('are taken where they are sealed or named, and are in no row', async () => {
    await api.ask('PUT', '/v1/secrets/STORED', { body: { value: 'a value that is stored' } });
    for (const [kind, value] of Object.entries(PLANTED))
      for (const [method, path, body] of [
        ['POST', '/v1/tools/custom', { name: `t_${kind}`, command: 'echo', env: { KEY: value } }],
        ['PUT', `/v1/secure-clis/p_${kind}`, { binary_name: `p_${kind}`, env: [{ name: 'KEY', value }] }],
        [
          'POST',
          '/v1/mcp/servers',
          { name: `s_${kind}`, url: 'https://example.com/mcp?key=secret://STORED', headers: { key: value } },
        ],
        ['POST', '/v1/webhooks', { url: 'https://example.com/hook?key=secret://STORED', events: ['*'] }],
      ] as const) {
        const made = await api.ask(method, path, { body });
        assert.ok(made.status < 300, `${path} ${JSON.stringify(made.body)}`);
      }
    const { rows } = await api.pool.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    for (const { name } of rows)
      for (const value of Object.values(PLANTED)) {
        const found = await api.pool.query(`select 1 from "${name}" t where t::text like $1`, [`%${value}%`]);
        assert.equal(found.rowCount, 0, name);
      }
  });
});
