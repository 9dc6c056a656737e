/**
 * IN-1, IN-9, R8: each operation of the OpenAPI document, with real objects of a tenant, by everybody who may not do
 * it. The expected result is derived from the document: its scope, and whether the operation looks up an object.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Api } from '#api/deps.ts';
import { createServer } from '#api/server/server.ts';
import { setTimeout } from 'node:timers/promises';
import { insertTenant } from '#store/api-key-store.ts';
import { OPERATOR_TENANT } from '#domain/tenant.ts';
import { SCOPES, type Scope } from '#domain/schema/api-key.ts';
import { type Operation, operationsOf } from '#test/support/operations.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { ANN_WORD, makeTenantObjects, TENANT_WORD } from '#test/support/tenant-objects.ts';
import { createTenantRequests, type TenantRequests } from '#test/support/tenant-requests.ts';

interface Given {
  readonly status: number;
  readonly text: string;
}

describe('IN-1 R8 no operation gives or changes what its caller may not reach', () => {
  let stack: Stack;
  let api: Api;
  let url: string;
  let operations: readonly Operation[];
  let requests: TenantRequests;
  let ann: string;
  before(async () => {
    stack = await startStack({
      codec: { token: 'none', codec: { encode: async (all) => all, decode: async (all) => all } },
    });
    // A proxy gives each wrong key an address of its own, so that none must wait.
    const settings = { ...stack.deps.settings, trustedProxies: ['127.0.0.1'] };
    api = await createServer({ ...stack.deps, settings });
    url = await api.listen({ host: '127.0.0.1', port: 0 });
    ann = await stack.makeKey(['read', 'run', 'approve'], { user: 'ann' });
    requests = createTenantRequests(await makeTenantObjects(stack, ann));
    // A second later the evidence takes up what has ended: no request has changed these rows.
    await stack.worker.until('the evidence of the objects', async () => {
      const { rows: pending } = await stack.pool.query('select from evidence_pending limit 1');
      return pending.length === 0 || undefined;
    });
    operations = operationsOf((await stack.ask('GET', '/openapi.json', { key: null })).body);
  });
  after(async () => {
    await api.close();
    await stack.stop();
  });

  let probes = 0;
  async function ask(one: Operation, key: string | null): Promise<Given> {
    probes += 1;
    const address = requests.addressOf(one.id, one.path);
    assert.ok(address, `no object is known for ${one.method} ${one.path}`);
    const body = requests.bodyOf(one.id) ?? one.example ?? {};
    const isRead = one.method === 'GET' || one.method === 'DELETE';
    const isJson = typeof body !== 'string';
    const response = await fetch(url + address, {
      method: one.method,
      headers: {
        'x-forwarded-for': `10.${(probes >> 16) & 255}.${(probes >> 8) & 255}.${probes & 255}`,
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(isRead ? {} : { 'content-type': isJson ? 'application/json' : 'text/plain' }),
      },
      ...(isRead ? {} : { body: isJson ? JSON.stringify(body) : body }),
    });
    return { status: response.status, text: await textOf(response) };
  }
  /** Operations that look up no object come last, because what they make belongs to their caller. */
  const each = async (run: (one: Operation) => Promise<void>): Promise<void> => {
    for (const looks of [true, false]) {
      const some = operations.filter((one) => one.looks === looks);
      for (let at = 0; at < some.length; at += 8) await Promise.all(some.slice(at, at + 8).map(run));
    }
  };
  const rows = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
    const { rows: tables } = await stack.pool.query<{ name: string }>(
      `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'tenant_id'`,
    );
    const found = new Map<string, readonly string[]>();
    for (const { name } of tables) {
      const all = await stack.pool.query<{ text: string }>(
        `select t::text as text from "${name}" t where tenant_id = $1 order by 1`,
        [stack.tenant],
      );
      found.set(
        name,
        all.rows.map(({ text }) => text),
      );
    }
    return found;
  };

  it('there is a real object for each operation', () => {
    const without = operations.filter(({ id, path }) => requests.addressOf(id, path) === undefined);
    assert.deepEqual(
      without.map(({ method, path }) => `${method} ${path}`),
      [],
    );
  });

  it('without a key, with a wrong, a revoked or an expired one there is no answer but 401', async () => {
    const revoked = await stack.makeKey(['admin']);
    await stack.pool.query(
      'update api_keys set revoked_at = now() where id = (select id from api_keys order by created_at desc limit 1)',
    );
    const expired = await stack.makeKey(['admin'], { expiresAt: '2020-01-01T00:00:00Z' });
    const before = await rows();
    const wrong: string[] = [];
    await each(async (one) => {
      for (const key of [null, `tc_${'A'.repeat(43)}`, revoked, expired]) {
        const { status, text } = await ask(one, key);
        if ((one.scope && status !== 401) || tells(text)) wrong.push(`${one.id}: ${status} ${text}`);
      }
    });
    assert.deepEqual(wrong, []);
    assert.deepEqual(await rows(), before);
  });

  it('a key without the scope is refused, whatever else it may', async () => {
    const readOnly = await stack.makeKey(['read']);
    const others = new Map<Scope, string>();
    for (const scope of SCOPES)
      others.set(scope, await stack.makeKey(SCOPES.filter((one) => one !== scope && one !== 'admin')));
    const before = await rows();
    const wrong: string[] = [];
    await each(async (one) => {
      if (!one.scope) return;
      for (const key of [
        others.get(one.scope) ?? assert.fail(),
        ...(one.scope === 'read' ? [] : [readOnly]),
      ]) {
        const { status, text } = await ask(one, key);
        if (status !== 403 || tells(text)) wrong.push(`${one.id}: ${status} ${text}`);
      }
    });
    assert.deepEqual(wrong, []);
    assert.deepEqual(await rows(), before);
  });

  it('keys of another tenant reach nothing, with any scope', async () => {
    const before = await rows();
    const wrong: string[] = [];
    for (const scope of SCOPES) {
      const { tenant } = await stack.makeTenant();
      const key = await stack.makeKey([scope], { tenant });
      await each(async (one) => {
        const { status, text } = await ask(one, key);
        const isExpected =
          one.scope && scope !== 'admin' && one.scope !== scope
            ? status === 403
            : one.looks && requests.isOfTenant(one.path)
              ? status === 404
              : status < 500;
        if (!isExpected || tells(text)) wrong.push(`${scope} ${one.id}: ${status} ${text}`);
      });
    }
    assert.deepEqual(wrong, []);
    assert.deepEqual(await rows(), before);
  });

  it('IN-9 a key of another user gets nothing of Ann’s, and changes none of it', async () => {
    const ben = await stack.makeKey(['read', 'run', 'approve'], { user: 'ben' });
    const ofAnn = async (): Promise<readonly string[]> =>
      [...(await rows()).values()].flat().filter((text) => text.includes(ANN_WORD));
    const before = await ofAnn();
    assert.ok(before.length > 20);
    const wrong: string[] = [];
    await each(async (one) => {
      const { status, text } = await ask(one, ben);
      const isExpected =
        one.scope === 'admin'
          ? status === 403
          : !requests.isOfAnn(one.path) || status === 404 || status === 403;
      if (!isExpected || text.includes(ANN_WORD)) wrong.push(`${one.id}: ${status} ${text.slice(0, 300)}`);
    });
    assert.deepEqual(wrong, []);
    assert.deepEqual(await ofAnn(), before);
  });

  it('each operation reaches its object with a key that may', async () => {
    await insertTenant(stack.pool, OPERATOR_TENANT, 'Operator');
    const operator = await stack.makeKey(['admin'], { tenant: OPERATOR_TENANT });
    const order = ['GET', 'PATCH', 'PUT', 'POST', 'DELETE'];
    const sorted = operations.toSorted(
      (a, b) =>
        order.indexOf(a.method) - order.indexOf(b.method) ||
        (a.method === 'DELETE' ? b.path.length - a.path.length : 0),
    );
    const wrong: string[] = [];
    for (const one of sorted) {
      const { status, text } = await ask(one, OF_OPERATOR.has(one.id) ? operator : stack.key);
      // A refusal for the state or the values of an object means that the caller has reached it.
      const isRefused = [409, 422].includes(status) || (status === 403 && one.path.includes('/tasks/'));
      if (status >= 300 && !isRefused && !(status === 401 && PROVEN_OTHERWISE.has(one.id)))
        wrong.push(`${one.method} ${one.path} ${one.id}: ${status} ${text.slice(0, 300)}`);
    }
    assert.deepEqual(wrong, []);
    assert.ok(probes > 2_500, String(probes));
  });
});

/** These cover all tenants. */
const OF_OPERATOR = new Set(['listTenants', 'createTenant', 'rotateSecrets', 'getMetrics']);

/** They need no key, but a code that a person passes on, and a signature. */
const PROVEN_OTHERWISE = new Set(['joinNode', 'receiveFromService']);

/** For an endless stream, its first part: what already exists. */
async function textOf(response: Response): Promise<string> {
  if (!/event-stream/.test(response.headers.get('content-type') ?? '')) return response.text();
  const reader = response.body?.getReader();
  const first = await Promise.race([reader?.read(), setTimeout(200, undefined)]);
  await reader?.cancel();
  return Buffer.from(first?.value ?? []).toString();
}

function tells(text: string): boolean {
  return text.includes(TENANT_WORD) || text.includes(ANN_WORD);
}
