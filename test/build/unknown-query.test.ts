/** IN-1: a query parameter that there is not is refused, as a misspelt filter would return what nobody asked for. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startApi, type TestApi } from '#test/support/stack.ts';

/** Programs of others call them, with parameters of their own. */
const OPEN =
  /^\/(?:$|healthz|readyz|metrics|openapi\.json|\.well-known|mcp|oauth|v1\/(?:codec|events|models))/;

describe('IN-1 query parameters that there are not', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  it('are refused by name by each list and row whose path needs nothing', async () => {
    const { body } = await api.ask('GET', '/openapi.json');
    const paths = Object.entries<{ readonly get?: unknown }>(body.paths).flatMap(([path, { get }]) =>
      get && !path.includes('{') && !OPEN.test(path) ? [path] : [],
    );
    assert.ok(paths.length > 30, String(paths.length));
    const taken: string[] = [];
    for (const path of paths) {
      const answer = await fetch(`${api.url}${path}?agnet=main`, {
        headers: { authorization: `Bearer ${api.key}` },
      });
      if (answer.status !== 400 || !/agnet/.test(await answer.text()))
        taken.push(`${path}: ${answer.status}`);
    }
    assert.deepEqual(taken, []);
  });
});
