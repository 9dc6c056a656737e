import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApi, type TestApi } from '#test/support/stack.ts';
import { observeStatements } from '#test/support/statements.ts';

const TOKEN = 'canary-of-secure-clis-777';

let api: TestApi;
before(async () => {
  api = await startApi();
});
after(() => api.stop());

const put = (name: string, body: unknown) => api.ask('PUT', `/v1/secure-clis/${name}`, { body });

describe('SH-4 /v1/secure-clis', () => {
  test('a preset fills in the rules; credentials come out of no route and no row', async () => {
    const made = await put('gh', {
      preset: 'gh',
      agents: ['main'],
      env: [{ name: 'GH_TOKEN', value: TOKEN }],
    });
    assert.equal(made.status, 200);
    assert.deepEqual(made.body.env, [{ name: 'GH_TOKEN', kind: 'sensitive' }]);
    assert.ok(made.body.deny_args.length >= 5);
    assert.equal(made.body.timeout_seconds, 30);
    assert.equal(made.body.host, false);
    const shown = [await api.ask('GET', '/v1/secure-clis'), await api.ask('GET', '/v1/secure-clis/gh')];
    const { rows } = await api.pool.query('select * from secure_cli_binaries');
    assert.ok(!JSON.stringify([shown.map((one) => one.body), rows]).includes(TOKEN));
    const { scrubberOf } = api.deps.secrets.vault;
    for (let tries = 0; (await scrubberOf(api.tenant)).text(TOKEN) !== '[REDACTED]'; tries++) {
      assert.ok(tries < 500, 'the value is hidden');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });

  test('what is absent stays as it was', async () => {
    assert.equal((await put('gh', { host: true })).body.host, true);
    const changed = await put('gh', { agents: ['*'], tips: 'be brief' });
    assert.equal(changed.body.host, true);
    assert.deepEqual(changed.body.agents, ['*']);
    assert.deepEqual(changed.body.env, [{ name: 'GH_TOKEN', kind: 'sensitive' }]);
    assert.ok(changed.body.deny_args.length >= 5);
  });

  test('the example of GoClaw is taken as it stands', async () => {
    const input = {
      binary_name: 'gh2',
      encrypted_env: { GH_TOKEN: TOKEN },
      deny_args: ['auth\\s+', 'ssh-key'],
      deny_verbose: ['--verbose', '-v'],
      timeout_seconds: 30,
      tips: 'GitHub CLI. Available: gh api, gh repo, gh issue, etc.',
    };
    const made = await put('gh2', input);
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const { binary_name: name, encrypted_env: _, ...rules } = input;
    const { deny_args, deny_verbose, timeout_seconds, tips } = made.body;
    assert.deepEqual({ deny_args, deny_verbose, timeout_seconds, tips }, rules);
    assert.equal(made.body.name, name);
    assert.deepEqual(made.body.env, [{ name: 'GH_TOKEN', kind: 'sensitive' }]);
    assert.equal(made.body.binary_name, undefined);
    const other = await put('gh3', input);
    assert.equal(other.status, 422);
    assert.match(other.body.detail, /binary_name is gh2, and the address is of gh3/);
  });

  test('refuses what cannot hold', async () => {
    const refusals: readonly [unknown, number, RegExp][] = [
      [{ preset: 'gh' }, 422, /needs GH_TOKEN/],
      [{ preset: 'nothing' }, 422, /there are gh, gcloud, aws, kubectl, terraform/],
      [{ deny_args: ['(a'] }, 422, /body\/deny_args\/0/],
      [{ deny_args: ['(?=a)'] }, 422, /deny_args/],
      [{ env: [{ name: 'LD_PRELOAD', value: '/tmp/x.so' }] }, 400, /would change what is run/],
      [{ env: [{ name: 'PATH', value: '/tmp:/usr' }] }, 400, /would change what is run/],
      [{ env: [{ name: 'A', value: 'short' }] }, 400, /at least 6/],
      [
        {
          env: [
            { name: 'A', value: TOKEN },
            { name: 'A', value: TOKEN },
          ],
        },
        422,
        /twice/,
      ],
      [{ path: 'bin/gh' }, 400, /absolute/],
      [{ unknown: 1 }, 400, /unknown/i],
      [{ encrypted_env: { A: TOKEN }, env: [] }, 400, /encrypted_env/],
      [{ encrypted_env: { PATH: '/tmp:/usr' } }, 400, /would change what is run/],
    ];
    for (const [body, status, words] of refusals) {
      const answer = await put('other', body);
      assert.equal(answer.status, status, JSON.stringify(body));
      assert.match(JSON.stringify(answer.body), words);
      assert.ok(!JSON.stringify(answer.body).includes(TOKEN));
    }
    assert.equal((await put('a%2Fb', {})).status, 400);
  });

  test('a change of tips keeps the credentials, agents and end that another change brought meanwhile', async (t) => {
    const [name, env] = ['raced', [{ name: 'A_TOKEN', value: TOKEN }]];
    await put(name, { env });
    let others: (() => Promise<unknown>)[] = [];
    observeStatements(t, api.pool, async ({ text, values }) => {
      if (/select .* from secure_cli_binaries where .* and name =/s.test(text) && values.includes(name))
        await others.shift()?.();
    });
    others = [() => put(name, { agents: ['main'], env: [{ name: 'B_TOKEN', value: `${TOKEN}-new` }] })];
    const { status, body } = await put(name, { tips: 'be brief' });
    assert.equal(status, 200);
    assert.deepEqual([body.tips, body.agents], ['be brief', ['main']]);
    assert.deepEqual(body.env, [{ name: 'B_TOKEN', kind: 'sensitive' }]);

    others = [() => api.ask('DELETE', `/v1/secure-clis/${name}`)];
    assert.deepEqual((await put(name, { tips: 'be brief' })).body.env, []);

    others = Array.from({ length: 5 }, () => () => {
      const rest = others;
      others = [];
      return put(name, { host: true }).then(() => (others = rest));
    });
    const lost = await put(name, { tips: 'be long' });
    assert.equal(lost.status, 409);
    assert.match(lost.body.detail, /being changed by others/);
  });

  test('belongs to its tenant and its admins; rotation reaches it; deleting ends it', async () => {
    const key = await api.makeKey(['read', 'run', 'approve']);
    assert.equal((await api.ask('GET', '/v1/secure-clis', { key })).status, 403);
    const other = await api.makeTenant();
    assert.equal((await api.ask('GET', '/v1/secure-clis/gh', { key: other.key })).status, 404);
    assert.equal((await api.ask('DELETE', '/v1/secure-clis/gh', { key: other.key })).status, 404);
    assert.deepEqual((await api.ask('GET', '/v1/secure-clis', { key: other.key })).body.data, []);
    assert.equal((await api.ask('DELETE', '/v1/secure-clis/gh')).status, 204);
    assert.equal((await api.ask('GET', '/v1/secure-clis/gh')).status, 404);
  });
});
