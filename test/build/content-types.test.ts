/** The OpenAPI document names the type of each answer as it is sent. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { operationsOf } from '#test/support/operations.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { makeTenantObjects } from '#test/support/tenant-objects.ts';
import { createTenantRequests } from '#test/support/tenant-requests.ts';

interface Described {
  readonly operationId?: string;
  readonly responses?: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

/** Texts that only our processes can open. */
const INNER = /"\w*sealed":/g;

describe('the types of answers', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  it('are those that the document names, of each operation, and none has a column that is not for readers', async () => {
    const ann = await stack.makeKey(['read', 'run', 'approve'], { user: 'ann' });
    const requests = createTenantRequests(await makeTenantObjects(stack, ann));
    const { body: document } = await stack.ask('GET', '/openapi.json', { key: null });
    const paths = document.paths as Readonly<Record<string, Readonly<Record<string, Described>>>>;
    const described = new Map(
      Object.values(paths).flatMap((item) =>
        Object.values(item).map((one) => [one.operationId, one] as const),
      ),
    );
    const wrong: string[] = [];
    const inner: string[] = [];
    for (const { id, method, path, example } of operationsOf(document)) {
      if (id.startsWith('follow') || method === 'DELETE') continue;
      const body = requests.bodyOf(id) ?? example ?? {};
      const {
        statusCode,
        headers,
        body: text,
      } = await stack.app.inject({
        method,
        url: requests.addressOf(id, path),
        headers: {
          authorization: `Bearer ${stack.key}`,
          ...(method !== 'GET' && { 'content-type': sentType(body) }),
        },
        ...(method !== 'GET' && { payload: body }),
      });
      inner.push(...Array.from(text.matchAll(INNER), ([column]) => `${id}: ${column}`));
      if (statusCode === 204) continue;
      const type = String(headers['content-type']).split(';')[0] ?? '';
      const named = Object.keys(described.get(id)?.responses?.[statusCode]?.content ?? {});
      if (!named.some((one) => isOf(type, one)))
        wrong.push(`${id} ${statusCode}: ${type}, and not ${named.join(', ')}`);
    }
    assert.deepEqual(wrong, []);
    assert.deepEqual(inner, []);
  });
});

function isOf(type: string, named: string): boolean {
  return named === type || named === '*/*' || named === `${type.split('/')[0]}/*`;
}

function sentType(body: unknown): string {
  return typeof body === 'string' ? 'text/plain' : 'application/json';
}
