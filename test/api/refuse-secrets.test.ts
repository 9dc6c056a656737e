/** SC-3: a secret in a key, an id or a definition is refused before it reaches anything of ours or of Temporal's. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { PLANTED, refusesSecret, startWithSecret } from '#test/support/planted-secrets.ts';
import type { TestApi } from '#test/support/stack.ts';

describe('SC-3 secrets in names and definitions', () => {
  let api: TestApi;
  const { shaped, stored } = PLANTED;
  before(async () => {
    api = await startWithSecret();
  });
  after(() => api.stop());

  const refuses = (method: string, path: string, body: unknown, pointer: string) =>
    refusesSecret(api, method, path, body, pointer);

  for (const [kind, value] of Object.entries({ shaped, stored })) {
    it(`refuses one as a session, a user, an agent, a team: ${kind}`, async () => {
      const text = { text: 'hello' };
      await refuses('POST', `/v1/sessions/${value}/messages`, text, 'params/key');
      await refuses('POST', `/v1/sessions/a:${value}/messages`, text, 'params/key');
      await refuses('POST', '/v1/sessions/a/messages', { ...text, user: value }, 'body/user');
      await refuses(
        'POST',
        '/v1/tools/list_files/invoke',
        { args: { path: '.' }, session_key: value },
        'body/session_key',
      );
      await refuses('POST', '/v1/agents', { key: value, model: 'rehearsal/echo' }, 'body/key');
      await refuses('POST', '/v1/teams', { key: value, lead: 'main', members: [] }, 'body/key');
    });

    it(`refuses one in a definition and says where: ${kind}`, async () => {
      const agent = { key: 'leaky', model: 'rehearsal/echo' };
      const instructions = `Log in with ${value} first`;
      await refuses('POST', '/v1/agents', { ...agent, instructions }, 'body/instructions');
      await refuses('PATCH', '/v1/agents/main', { name: value }, 'body/name');
      const rules = [{ tool: 'exec', args: { command: `*${value}*` }, decision: 'deny' }];
      await refuses('PATCH', '/v1/agents/main', { tools: { rules } }, 'body/tools/rules/0/args/command');
      await refuses('PUT', '/v1/policy', { tools: { rules } }, 'body/tools/rules/0/args/command');
      await refuses('POST', '/v1/api-keys', { name: value, scopes: ['read'] }, 'body/name');
    });
  }

  it('has it in no row, and takes digests and the names of stored ones', async () => {
    const { rows } = await api.pool.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    for (const { name } of rows)
      for (const value of [shaped, stored]) {
        const found = await api.pool.query(`select 1 from "${name}" t where t::text like $1`, [`%${value}%`]);
        assert.equal(found.rowCount, 0, name);
      }
    const instructions = 'Log in with secret://STORED; the password is in the vault';
    const made = await api.ask('POST', '/v1/agents', {
      body: { key: 'careful', model: 'rehearsal/echo', instructions },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const digest = randomBytes(32).toString('hex');
    const answer = await api.ask('POST', `/v1/sessions/of:${digest}/messages`, { body: { text: 'hi' } });
    assert.equal(answer.status, 202, JSON.stringify(answer.body));
  });
});
