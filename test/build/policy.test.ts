/** PO-1, PO-3, PO-4 over HTTP: the tenant's layer applies in turns and invoked calls, and explain says so. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('PO-1 the policy of a tenant', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  const rulesOf = ({ change, ...rules }: { change: string }) => {
    assert.match(change, /^\d+$/);
    return rules;
  };
  const invoke = (tool: string, args: object = {}) =>
    stack.ask('POST', `/v1/tools/${tool}/invoke`, { body: { args } });

  test('holds for the next call of every agent, in an invoked call as in a turn, until it is taken back', async () => {
    assert.equal((await invoke('datetime')).body.ok, true);
    const policy = { tools: { deny: ['datetime'] }, exec: { categories: { env_dump: false } } };
    const set = await stack.ask('PUT', '/v1/policy', { body: policy });
    assert.deepEqual(rulesOf(set.body), { ...policy, warnings: [] });
    const denied = await invoke('datetime');
    assert.equal(denied.body.code, 'PermissionDenied');
    assert.match(denied.body.text, /denied by the tenant's deny list \(datetime\)/);
    const why = await stack.ask('POST', '/v1/explain/tool', { body: { tool: 'datetime' } });
    assert.partialDeepStrictEqual(why.body, { decision: 'deny', step: 'tenant_deny', rule: 'datetime' });
    assert.match(why.body.remedy, /PUT \/v1\/policy/);
    const shell = await stack.ask('POST', '/v1/explain/shell', {
      body: { command: 'printenv', agent: { exec: { ask: 'off' } } },
    });
    assert.equal(shell.body.decision, 'allow');
    await stack.ask('PUT', '/v1/policy', { body: {} });
    assert.equal((await invoke('datetime')).body.ok, true);
  });

  test('switches a tool off for every agent, which no list gives back, at GoClaw’s address', async () => {
    const policy = { tools: { also_allow: ['group:goclaw'] }, exec: { categories: { env_dump: false } } };
    await stack.ask('PUT', '/v1/policy', { body: policy });
    const at = '/v1/tools/builtin/datetime/tenant-config';
    assert.deepEqual((await stack.ask('GET', at)).body, { name: 'datetime', enabled: true });
    const off = await stack.ask('PUT', at, { body: { enabled: false, settings: {} } });
    assert.deepEqual([off.status, off.body], [200, { name: 'datetime', enabled: false }]);
    assert.match(
      (await invoke('datetime')).body.text,
      /denied by the tenant's list of disabled tools \(datetime\)/,
    );
    const why = await stack.ask('POST', '/v1/explain/tool', { body: { tool: 'datetime' } });
    assert.deepEqual([why.body.step, why.body.rule], ['tenant_disabled', 'datetime']);
    assert.match(why.body.remedy, /tools\.disabled of the tenant/);
    const other = await stack.makeTenant();
    assert.equal((await stack.ask('GET', at, { key: other.key })).body.enabled, true);
    assert.equal((await stack.ask('DELETE', at)).status, 204);
    assert.equal((await invoke('datetime')).body.ok, true);
    assert.deepEqual(rulesOf((await stack.ask('GET', '/v1/policy')).body), { ...policy, warnings: [] });
    const [change] = (await stack.ask('GET', '/v1/policy/history')).body.data;
    assert.deepEqual(change.from.tools.disabled, ['datetime']);
    await stack.ask('PUT', '/v1/policy', { body: {} });
  });

  test('settings of a tool, tools that are not our own and other keys are refused', async () => {
    const at = (name: string) => `/v1/tools/builtin/${name}/tenant-config`;
    const body = { enabled: false };
    const set = await stack.ask('PUT', at('web_search'), { body: { ...body, settings: { engine: 'x' } } });
    assert.deepEqual([set.status, /PUT \/v1\/policy/.test(JSON.stringify(set.body))], [400, true]);
    assert.equal((await stack.ask('PUT', at('none'), { body })).status, 404);
    const key = await stack.makeKey(['run', 'read']);
    assert.equal((await stack.ask('PUT', at('exec'), { body, key })).status, 403);
    assert.equal((await stack.ask('PUT', at('bash'), { body })).body.name, 'exec');
    await stack.ask('PUT', '/v1/policy', { body: {} });
  });

  test('is refused with a profile, a group or a category that is not there, and warns of what is given back', async () => {
    for (const body of [
      { tools: { profile: 'codding' } },
      { tools: { allow: ['group:nope'] } },
      { exec: { categories: { denied_path: false } } },
      { exec: { timeout_seconds: 5 } },
      { rules: [] },
    ])
      assert.equal((await stack.ask('PUT', '/v1/policy', { body })).status, 400, JSON.stringify(body));
    const both = { tools: { deny: ['exec'], also_allow: ['exec'] } };
    const { body } = await stack.ask('PUT', '/v1/policy', { body: both });
    assert.match(body.warnings[0], /also_allow/);
    const unknown = await stack.ask('PUT', '/v1/policy', { body: { tools: { deny: ['exce'] } } });
    assert.match(unknown.body.warnings[0], /^tools\.deny\.0: "exce" matches no tool.*did you mean exec/);
    const goclaws = await stack.ask('PUT', '/v1/policy', { body: { tools: { alsoAllow: ['exec'] } } });
    assert.deepEqual([goclaws.status, goclaws.body.tools], [200, { also_allow: ['exec'] }]);
    await stack.ask('PUT', '/v1/policy', { body: {} });
  });

  test('keeps who changed it, from what to what, and can be put back', async () => {
    const { key } = await stack.makeTenant();
    const ask = async (method: string, path: string, body?: unknown) =>
      stack.ask(method, path, { key, ...(body === undefined ? {} : { body }) });
    const [first, second] = [{ tools: { deny: ['wait'] } }, { tools: { deny: ['exec'] } }];
    for (const policy of [first, first, second]) await ask('PUT', '/v1/policy', policy);
    const { body } = await ask('GET', '/v1/policy/history');
    assert.deepEqual(
      body.data.map((one: any) => [one.from, one.to]),
      [
        [first, second],
        [{}, first],
      ],
      'what changes nothing is no change',
    );
    assert.ok(body.data.every((one: any) => one.changed_by.startsWith('key:') && one.changed_at));
    const page = await ask('GET', '/v1/policy/history?limit=1');
    const rest = await ask('GET', `/v1/policy/history?limit=1&after=${page.body.next_cursor}`);
    assert.deepEqual(
      [page, rest].map((one) => one.body.data[0].id),
      body.data.map((one: any) => one.id),
    );

    const [{ id }] = body.data;
    assert.deepEqual(rulesOf((await ask('POST', '/v1/policy/restore', { change: id })).body), {
      ...first,
      warnings: [],
    });
    assert.deepEqual((await ask('GET', '/v1/policy')).body.tools, first.tools);
    assert.equal((await ask('GET', '/v1/policy/history')).body.data.length, 3);
    const elsewhere = await stack.ask('POST', '/v1/policy/restore', { body: { change: id } });
    assert.equal(elsewhere.status, 404);
    assert.equal((await ask('POST', '/v1/policy/restore', { change: '0' })).status, 400);
    const runner = await stack.makeKey(['read', 'run', 'approve']);
    for (const [method, path] of [
      ['GET', '/v1/policy/history'],
      ['POST', '/v1/policy/restore'],
    ] as const)
      assert.equal(
        (
          await stack.ask(method, path, {
            key: runner,
            body: method === 'POST' ? { change: '1' } : undefined,
          })
        ).status,
        403,
      );
  });

  test('is replaced only as it was seen, when the caller says so, also by many at once', async () => {
    const { key } = await stack.makeTenant();
    const set = (tool: string, change: string) =>
      stack.ask('PUT', `/v1/policy?change=${change}`, { key, body: { tools: { deny: [tool] } } });
    const { change } = (await stack.ask('GET', '/v1/policy', { key })).body;
    const answers = await Promise.all(['wait', 'exec', 'edit', 'datetime'].map((tool) => set(tool, change)));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409]);
    const taken = answers.find(({ status }) => status === 200);
    const now = (await stack.ask('GET', '/v1/policy', { key })).body;
    assert.deepEqual(now, taken?.body);
    assert.match((await set('exec', change)).body.detail, /Somebody has changed the policy/);
    assert.equal((await set('exec', now.change)).status, 200);
  });

  test('is put back only where its rules still mean something', async () => {
    const { tenant, key } = await stack.makeTenant();
    await stack.ask('PUT', '/v1/policy', { key, body: { tools: { deny: ['wait'] } } });
    await stack.pool.query(
      `update policy_changes set before = '{"tools":{"profile":"gone"}}' where tenant_id = $1`,
      [tenant],
    );
    const [{ id }] = (await stack.ask('GET', '/v1/policy/history', { key })).body.data;
    const { status, body } = await stack.ask('POST', '/v1/policy/restore', { key, body: { change: id } });
    assert.equal(status, 422);
    assert.match(body.detail, /gone/);
  });

  test('is one tenant’s own, and only an admin sets it', async () => {
    const other = await stack.makeTenant();
    await stack.ask('PUT', '/v1/policy', { body: { tools: { deny: ['wait'] } }, key: other.key });
    assert.deepEqual(rulesOf((await stack.ask('GET', '/v1/policy')).body), { warnings: [] });
    assert.deepEqual((await stack.ask('GET', '/v1/policy', { key: other.key })).body.tools, {
      deny: ['wait'],
    });
    const runner = await stack.makeKey(['read', 'run', 'approve']);
    assert.equal((await stack.ask('PUT', '/v1/policy', { body: {}, key: runner })).status, 403);
  });
});
