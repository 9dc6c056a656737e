/** IN-1: a query parameter that there is not is refused, as a misspelt filter would return what nobody asked for. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startApi, type TestApi } from '#test/support/stack.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Browsers call them, with parameters of their own. */
const IS_PUBLIC = /^\/v1\/(?:codec|channels\/\{tenant\}|canvas)/;

describe('IN-1 query parameters that there are not', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  it('are refused by name by each operation that the document describes', async () => {
    const { body } = await api.ask('GET', '/openapi.json');
    const requests = Object.entries<Readonly<Record<string, object>>>(body.paths).flatMap(
      ([path, operations]) =>
        path.startsWith('/v1/') && !IS_PUBLIC.test(path)
          ? // A body is read before the query.
            METHODS.filter((method) => operations[method] && !('requestBody' in operations[method])).map(
              (method) => ({ method, path }),
            )
          : [],
    );
    assert.ok(requests.length > 120, String(requests.length));
    const taken: string[] = [];
    for (const { method, path } of requests) {
      const answer = await fetch(`${api.url}${path.replaceAll(/\{\w+\}/g, 'x')}?agnet=main`, {
        method: method.toUpperCase(),
        headers: { authorization: `Bearer ${api.key}` },
      });
      const text = await answer.text();
      // What is not there is not found before.
      const isRefused = answer.status === 400 && text.includes('agnet');
      if (!isRefused && (answer.status < 400 || !path.includes('{')))
        taken.push(`${method} ${path}: ${answer.status}`);
    }
    assert.deepEqual(taken, []);
  });
});
