/** SH-3: who shares a box. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { boxGroup, boxOwner } from '#activities/process/box-owner.ts';

describe('SH-3 the owner of a box', () => {
  const call = { tenant: 'default', agent: 'main', sessionKey: 'one', workspace: '/w' };

  test('is a session, an agent or a tenant, by the scope of the sandbox', () => {
    const keys = (['session', 'agent', 'shared'] as const).map((scope) => boxOwner(call, { scope }).key);
    assert.deepEqual(keys, [
      ['default', 'session', 'main', 'one'],
      ['default', 'agent', 'main'],
      ['default', 'shared'],
    ]);
  });

  test('has a group for a session alone, with which its boxes are ended, and labels for people', () => {
    const { group, labels } = boxOwner(call, { scope: 'session' });
    assert.equal(group, boxGroup('default', 'one'));
    assert.notEqual(group, boxGroup('other', 'one'));
    assert.deepEqual(labels, { tenant: 'default', scope: 'session' });
    assert.equal(boxOwner(call, { scope: 'agent' }).group, undefined);
  });
});
