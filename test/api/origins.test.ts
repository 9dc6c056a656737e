/** The browser of a page at another origin: what it may send, and what it may read (R11, IN-12). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

const ORIGIN = 'https://shop.example.com';

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}

describe('R11 pages of the origins that the settings name', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ settings: { corsOrigins: [ORIGIN] } });
  });
  after(() => stack.stop());

  async function ask(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<Headers> {
    const response = await fetch(`${stack.url}${path}`, { method, headers });
    await response.arrayBuffer();
    return response.headers;
  }
  const listOf = (headers: Headers, name: string): readonly string[] =>
    (headers.get(`access-control-${name}`) ?? '').split(/,\s*/);
  const preflight = (origin: string): Promise<Headers> =>
    ask('OPTIONS', '/v1/agents', { origin, 'access-control-request-method': 'PUT' });

  it('may use each method and each header of the API', async () => {
    const { paths } = (await (await fetch(`${stack.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, Operation>>;
    };
    const operations = Object.values(paths).flatMap((path) => Object.entries(path));
    const methods = new Set(operations.map(([method]) => method.toUpperCase()));
    const headers = operations.flatMap(([, { parameters = [] }]) =>
      parameters.filter((one) => one.in === 'header').map(({ name }) => name.toLowerCase()),
    );
    const allowed = await preflight(ORIGIN);
    assert.ok(methods.has('PUT'));
    assert.deepEqual(
      [...methods].filter((method) => !listOf(allowed, 'allow-methods').includes(method)),
      [],
    );
    const sent = new Set([...headers, 'if-match', 'if-none-match', 'idempotency-key', 'traceparent']);
    assert.deepEqual(
      [...sent].filter((name) => !listOf(allowed, 'allow-headers').includes(name)),
      [],
    );
  });

  it('may read the names of versions and requests', async () => {
    const exposed = listOf(await ask('GET', '/v1/me', { origin: ORIGIN }), 'expose-headers');
    for (const name of ['etag', 'x-request-id', 'retry-after', 'content-disposition'])
      assert.ok(exposed.includes(name), name);
  });

  it('are not pages of other origins', async () => {
    for (const origin of ['https://shop.example.com.evil.example', 'http://shop.example.com', 'null'])
      assert.equal((await preflight(origin)).get('access-control-allow-origin'), null, origin);
  });
});
