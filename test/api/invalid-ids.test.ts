/** What a path names is looked up, whatever stands there: only who makes a thing learns which names it may have. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

/** Their names are a closed list or a number, or they need no row. */
const OTHERS = /\{(kind|number|revision|step|token)\}|\/files\/\{name\}|^\/v1\/users\/|\/workspace\//;

describe('IN-1 ids that cannot be ids', { timeout: 60_000 }, () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  it('are not found, as those of nobody and of other tenants are', async () => {
    const { body: api } = await stack.ask('GET', '/openapi.json');
    const paths = Object.entries<object>(api.paths).filter(
      ([path]) => path.includes('{') && !OTHERS.test(path),
    );
    assert.ok(paths.length > 50);
    const requests = paths.flatMap(([path, operations]) =>
      ['GET', 'DELETE']
        .filter((method) => method.toLowerCase() in operations)
        .flatMap((method) =>
          ['no id', 'nobody-s', 'Ü'].map((id) => ({
            method,
            at: path.replaceAll(/\{\w+\}/g, encodeURIComponent(id)),
          })),
        ),
    );
    const wrong: string[] = [];
    for (const { method, at } of requests) {
      const { status, body } = await stack.ask(method, at);
      if (status !== 404) wrong.push(`${method} ${at}: ${status} ${JSON.stringify(body)}`);
    }
    assert.deepEqual(wrong, []);
  });

  it('are refused where a new thing would have such a name', async () => {
    const named = await stack.ask('PUT', '/v1/secrets/no%20name', { body: { value: 'One' } });
    assert.equal(named.status, 400, JSON.stringify(named.body));
    assert.match(String(named.body.errors?.[0]?.pointer), /^params\//);
    const below = await stack.ask('PUT', '/v1/agents/no%20name/files/SOUL.md', { body: { text: 'One' } });
    assert.equal(below.status, 404);
  });
});
