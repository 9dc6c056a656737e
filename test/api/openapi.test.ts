import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FAILURES } from '#domain/errors.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';

const CONTRACT = [
  'GET /v1/sessions',
  'GET /v1/sessions/{key}',
  'GET /v1/sessions/{key}/messages',
  'POST /v1/sessions/{key}/messages',
  'GET /v1/sessions/{key}/events',
  'POST /v1/sessions/{key}/stop',
  'POST /v1/sessions/{key}/steer',
  'GET /v1/turns/{id}',
  'GET /v1/turns/{id}/tool-calls',
  'GET /v1/tool-calls/{id}/result',
  'GET /v1/agents',
  'POST /v1/agents',
  'GET /v1/agents/{key}',
  'PATCH /v1/agents/{key}',
  'DELETE /v1/agents/{key}',
  'GET /v1/approvals',
  'GET /v1/approvals/{id}',
  'POST /v1/approvals/{id}/decision',
  'GET /v1/tools',
  'POST /v1/tools/{name}/invoke',
  'GET /v1/policy',
  'PUT /v1/policy',
  'GET /v1/policy/history',
  'POST /v1/policy/restore',
  'GET /v1/exec-allowlist',
  'DELETE /v1/exec-allowlist/{id}',
  'GET /v1/api-keys',
  'POST /v1/api-keys',
  'DELETE /v1/api-keys/{id}',
  'GET /healthz',
  'GET /readyz',
  'GET /metrics',
];

interface Operation {
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description?: string;
        readonly content?: Readonly<Record<string, { readonly schema?: object }>>;
      }
    >
  >;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly examples?: object; readonly example?: unknown; readonly schema: object }>
    >;
  };
  readonly summary?: string;
  readonly operationId?: string;
}

describe('IN-1 the OpenAPI document', () => {
  let api: TestApi;
  let operations: Map<string, Operation>;
  before(async () => {
    api = await startApi();
    const { body } = await api.ask('GET', '/openapi.json', { key: null });
    assert.equal(body.openapi, '3.1.0');
    operations = new Map(
      Object.entries<Record<string, Operation>>(body.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(
          ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
        ),
      ),
    );
  });
  after(() => api.stop());

  it('is served for one path alone, and refuses a path that it does not have', async () => {
    const path = '/v1/agents/{key}';
    const one = await api.ask('GET', `/openapi.json?path=${encodeURIComponent(path)}`, { key: null });
    assert.deepEqual(Object.keys(one.body.paths), [path]);
    assert.deepEqual(one.body.paths[path].patch, operations.get(`PATCH ${path}`));
    for (const other of ['/v1/nothing', '__proto__', 'x'.repeat(301)]) {
      const { status } = await api.ask('GET', `/openapi.json?path=${other}`, { key: null });
      assert.equal(status, other.length > 300 ? 400 : 404);
    }
  });

  it('has every route of the contract', () => {
    assert.deepEqual(
      CONTRACT.filter((route) => !operations.has(route)),
      [],
    );
  });

  it('says of each route what it answers and how it refuses', () => {
    for (const [route, operation] of operations) {
      assert.ok(operation.summary, route);
      const statuses = Object.keys(operation.responses);
      assert.ok(
        statuses.some((status) => status.startsWith('2')),
        route,
      );
      if (!route.includes('/v1/')) continue;
      for (const status of ['400', '401', '403', '429', '503'])
        assert.ok(
          operation.responses[status]?.content?.['application/problem+json']?.schema,
          `${route} ${status}`,
        );
    }
  });

  it('offers an Idempotency-Key on every POST of the contract, and an example of its body', () => {
    for (const route of CONTRACT.filter((one) => one.startsWith('POST'))) {
      const operation = operations.get(route);
      assert.ok(
        operation?.parameters?.some(
          ({ name, in: where }) => name === 'Idempotency-Key' && where === 'header',
        ),
        route,
      );
      const body = operation?.requestBody?.content['application/json'];
      assert.ok(body?.examples ?? body?.example, route);
    }
  });

  it('names each operation, and no two alike', () => {
    const ids = [...operations].map(([route, { operationId }]) => operationId ?? assert.fail(route));
    assert.deepEqual(
      ids.filter((id, at) => !/^[a-z][A-Za-z]+$/.test(id) || ids.indexOf(id) !== at),
      [],
    );
  });

  it('says of each POST that takes an Idempotency-Key how another request under the same key is refused', () => {
    const taking = [...operations].filter(([, { parameters = [] }]) =>
      parameters.some(({ name }) => name === 'Idempotency-Key'),
    );
    assert.ok(taking.length > 30);
    for (const [route, { responses }] of taking)
      assert.match(responses['422']?.description ?? '', /`IdempotencyMismatch`/, route);
  });

  it('has an example of a policy that leaves commands possible', async () => {
    const body = operations.get('PUT /v1/policy')?.requestBody?.content['application/json'];
    const example = body?.example ?? (body?.schema as { examples?: unknown[] } | undefined)?.examples?.[0];
    assert.equal((await api.ask('PUT', '/v1/policy', { body: example as object })).status, 200);
    const call = { tool: 'exec', args: { command: 'ls' }, dryRun: true };
    const judged = await api.ask('POST', '/v1/tools/invoke', { body: call });
    assert.equal(judged.body.decision, 'allow');
    assert.equal((await api.ask('PUT', '/v1/policy', { body: {} })).status, 200);
  });

  it('answers a wrong method with those that are possible, where an address is a parameter’s value too', async () => {
    const wrong = await api.ask('PATCH', '/v1/budgets/accounts', { body: {} });
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.get('allow'), 'DELETE, GET, HEAD, PUT');
  });

  it('is shown on a page that needs nothing from outside', async () => {
    const page = await api.ask('GET', '/docs/', { key: null });
    assert.equal(page.status, 200);
    assert.doesNotMatch(page.body, /(src|href)="https?:/);
    const script = await api.ask('GET', '/docs/js/scalar.js', { key: null });
    assert.equal(script.status, 200);
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'.*connect-src 'self'/);
  });

  it('leads from the type of a problem to words about it', async () => {
    const refused = await api.ask('GET', '/v1/turns/none');
    const [path, code] = refused.body.type.split('#');
    const page = await api.ask('GET', path, { key: null });
    assert.equal(page.status, 200);
    assert.ok(page.body.includes(`id="${code}"`));
    for (const type of Object.keys(FAILURES)) assert.ok(page.body.includes(type));
  });

  it('IN-8 counts requests by route, never by id', async () => {
    await api.ask('GET', '/v1/turns/secret-turn-id');
    const { body, headers } = await api.ask('GET', '/metrics');
    assert.match(headers.get('content-type') ?? '', /^text\/plain/);
    assert.match(
      body,
      /tempoclaw_http_request_seconds_count\{route="\/v1\/turns\/:id",method="GET",status="404"\} 2/,
    );
    assert.doesNotMatch(body, /secret-turn-id/);
  });

  it('R8 gives its numbers, which cover all tenants, to nobody but the operator', async () => {
    const statusFor = async (key: string | null) => (await api.ask('GET', '/metrics', { key })).status;
    const { key: ofTenant } = await api.makeTenant();
    assert.deepEqual(await Promise.all([null, ofTenant].map(statusFor)), [401, 403]);
    for (const scope of ['read', 'run', 'approve'] as const)
      assert.equal(await statusFor(await api.makeKey([scope])), 403, scope);
    const scraper = await api.makeKey(['metrics']);
    assert.equal(await statusFor(scraper), 200);
    assert.equal((await api.ask('GET', '/v1/usage', { key: scraper })).status, 403);
    const body = { name: 'scraper', scopes: ['metrics'] };
    assert.equal((await api.ask('POST', '/v1/api-keys', { body })).status, 201);
    assert.equal((await api.ask('POST', '/v1/api-keys', { body, key: ofTenant })).status, 422);
  });

  it('takes a caller’s request id, and makes one when it is none', async () => {
    const mine = await api.ask('GET', '/v1/turns/x', { headers: { 'x-request-id': 'trace-1' } });
    assert.equal(mine.headers.get('x-request-id'), 'trace-1');
    assert.equal(mine.body.request_id, 'trace-1');
    const other = await api.ask('GET', '/v1/turns/x', { headers: { 'x-request-id': 'a b"c' } });
    assert.match(other.body.request_id, /^req_[0-9a-f]+$/);
  });

  it('each list takes the parameters of pages, also a short one that has filters of its own', async () => {
    const lists = [...operations]
      .filter(([, { responses }]) => responses['200']?.content?.['application/json'])
      .map(([route]) => route)
      .filter((route) => /^GET \/v1\/[^{]+$/.test(route));
    const refused: string[] = [];
    for (const list of lists.map((route) => route.replace('GET ', ''))) {
      const { status, body } = await api.ask('GET', `${list}?limit=200`);
      if (status === 400) refused.push(`${list}: ${String(body['detail'])}`);
    }
    assert.ok(lists.length > 20);
    assert.deepEqual(refused, []);
  });
});
