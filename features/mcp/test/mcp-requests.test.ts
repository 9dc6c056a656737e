/** MC-3: users request access to MCP servers, and an admin grants it, once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startApi, type TestApi } from '#test/support/stack.ts';

describe('/v1/mcp/requests', () => {
  let api: TestApi;
  let eve: string;
  let service: string;
  before(async () => {
    api = await startApi();
    const body = { name: 'github', url: 'https://mcp.example.com/', require_grant: true };
    assert.equal((await api.ask('POST', '/v1/mcp/servers', { body })).status, 201);
    assert.equal(
      (await api.ask('POST', '/v1/agents', { body: { key: 'researcher', model: 'rehearsal/follow' } }))
        .status,
      201,
    );
    eve = await api.makeKey(['read', 'run'], { user: 'eve' });
    service = await api.makeKey(['read', 'run']);
  });
  after(() => api.stop());

  const post = (key: string, body: object) => api.ask('POST', '/v1/mcp/requests', { key, body });
  const review = (id: string, body: object, key = api.key) =>
    api.ask('POST', `/v1/mcp/requests/${id}/review`, { key, body });
  const grants = async (): Promise<{ kind: string; subject: string; tool_allow: string[] }[]> =>
    (await api.ask('GET', '/v1/mcp/servers/github/grants')).body.data;

  it('MC-3 a user asks for himself, an admin approves, and the grant is there with what was asked for', async () => {
    const made = await post(eve, {
      server: 'github',
      scope: 'user',
      tool_allow: ['get_*'],
      reason: 'Tickets',
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { id, status, subject, requested_by } = made.body;
    assert.deepEqual([status, subject, requested_by], ['pending', 'eve', 'eve']);
    assert.deepEqual(await grants(), [], 'asking gives nothing');
    assert.equal((await review(id, { decision: 'approve' }, eve)).status, 403);

    const approved = await review(id, { decision: 'approve' });
    assert.deepEqual([approved.status, approved.body.status], [200, 'approved']);
    assert.deepEqual(
      (await grants()).map(({ kind, subject: of, tool_allow }) => [kind, of, tool_allow]),
      [['user', 'eve', ['get_*']]],
    );
    const again = await review(id, { decision: 'reject', reason: 'No' });
    assert.deepEqual([again.status, again.body.code], [409, 'Conflict']);
    assert.match(again.body.detail, /It was approved by key:test admin at \d{4}-/);
    assert.equal((await grants()).length, 1);
  });

  it('MC-3 a rejection has a reason, gives nothing, and the same may be asked for again', async () => {
    const request = { server: 'github', scope: 'agent', subject: 'researcher', reason: 'It reads issues' };
    const { id } = (await post(service, request)).body;
    assert.equal((await post(service, request)).status, 409, 'it waits already');
    assert.equal((await review(id, { decision: 'reject' })).status, 400);
    const rejected = await review(id, { decision: 'reject', reason: 'Ask for less' });
    assert.deepEqual([rejected.body.status, rejected.body.review_reason], ['rejected', 'Ask for less']);
    assert.equal(
      (await grants()).some(({ subject }) => subject === 'researcher'),
      false,
    );
    assert.equal((await post(service, request)).status, 201);
  });

  it('MC-3 of two admins who review at once one decides, and what is there is what that one said', async () => {
    for (let round = 0; round < 5; round += 1) {
      const user = `user-${round}`;
      const request = { server: 'github', scope: 'user', subject: user, reason: 'x' };
      const { id } = (await post(service, request)).body;
      const answers = await Promise.all([
        review(id, { decision: 'approve' }),
        review(id, { decision: 'reject', reason: 'No' }),
        review(id, { decision: 'approve' }),
      ]);
      const won = answers.filter(({ status }) => status === 200);
      assert.deepEqual([won.length, answers.filter(({ status }) => status === 409).length], [1, 2]);
      const isGranted = (await grants()).some(({ subject }) => subject === user);
      assert.equal(isGranted, won[0]?.body.status === 'approved');
    }
  });

  it('a grant that cannot be written leaves the request undecided', async () => {
    const { id } = (await post(service, { server: 'github', scope: 'user', subject: 'late', reason: 'x' }))
      .body;
    await api.pool.query(
      `insert into mcp_grants (tenant_id, server_id, kind, subject, tool_allow, tool_deny, enabled, updated_by)
       select tenant_id, id, 'user', 'u' || n, '{}', '{}', true, 'test' from mcp_servers, generate_series(1, 500) n`,
    );
    assert.equal((await review(id, { decision: 'approve' })).status, 409);
    assert.equal((await api.ask('GET', `/v1/mcp/requests/${id}`)).body.status, 'pending');
    await api.pool.query(`delete from mcp_grants where updated_by = 'test'`);
    assert.equal((await review(id, { decision: 'approve' })).status, 200);
  });

  it('a user sees what he has asked for alone, and asks for nobody else', async () => {
    const all = (await api.ask('GET', '/v1/mcp/requests')).body.data;
    const own = (await api.ask('GET', '/v1/mcp/requests', { key: eve })).body.data;
    assert.deepEqual(
      [all.length > 1, own.map(({ subject }: { subject: string }) => subject)],
      [true, ['eve']],
    );
    const other = all.find(({ subject }: { subject: string }) => subject !== 'eve');
    assert.equal((await api.ask('GET', `/v1/mcp/requests/${other.id}`, { key: eve })).status, 404);
    const request = { server: 'github', scope: 'user', reason: 'x' };
    assert.equal((await post(eve, { ...request, subject: 'adam' })).status, 403);
    const pending = await api.ask('GET', '/v1/mcp/requests?status=pending&server=github');
    assert.deepEqual(
      new Set(pending.body.data.map(({ status }: { status: string }) => status)),
      new Set(['pending']),
    );
  });

  it('what does not exist is refused in words, and another tenant finds nothing', async () => {
    const request = { server: 'github', scope: 'user', reason: 'x' };
    for (const body of [
      { ...request, server: 'nowhere', subject: 'adam' },
      { ...request, scope: 'agent', subject: 'nobody' },
      request,
    ])
      assert.equal((await post(service, body)).status, 422, JSON.stringify(body));
    const { key } = await api.makeTenant();
    const [first] = (await api.ask('GET', '/v1/mcp/requests')).body.data;
    assert.equal((await review(first.id, { decision: 'approve' }, key)).status, 404);
    assert.deepEqual((await api.ask('GET', '/v1/mcp/requests', { key })).body.data, []);
  });

  it('MC-3 config_overrides are of an agent’s grant', async () => {
    const put = (kind: string, body: object) =>
      api.ask('PUT', `/v1/mcp/servers/github/grants/${kind}/researcher`, { body });
    const overrides = { config_overrides: { timeout_sec: 5 } };
    assert.deepEqual((await put('agent', overrides)).body.config_overrides, { timeout_sec: 5 });
    assert.equal((await put('user', overrides)).status, 422);
    assert.equal((await put('agent', { config_overrides: { url: 'https://x.example/' } })).status, 400);
  });
});
