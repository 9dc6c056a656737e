/** VF-2: the workflow of an index is found by its scope, also where its user has a long name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_TENANT, MAX_WORKFLOW_ID } from '#domain/ids.ts';
import { indexWorkflowId, isIndexOf } from '../index-id.ts';

test('an index has one id for a user, which Temporal takes, and is found by it', () => {
  const [tenant, agent] = ['t'.repeat(MAX_TENANT), 'a'.repeat(64)];
  assert.equal(indexWorkflowId({ tenant: 'acme', agent: 'main', user: 'a/b' }), 'index/acme/main/a/b');
  assert.equal(indexWorkflowId({ tenant: 'acme', agent: 'main', user: null }), 'index/acme/main/');
  for (const user of ['ann', 'x'.repeat(200), '🦦'.repeat(255)]) {
    const id = indexWorkflowId({ tenant, agent, user });
    assert.ok(id.length <= MAX_WORKFLOW_ID);
    assert.ok(isIndexOf(id, tenant, user));
    assert.ok(!isIndexOf(id, tenant, `${user}x`));
  }
});
