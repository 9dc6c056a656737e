/** What a start says of a Temporal server that it cannot use. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noTemporal } from '../reach.ts';

describe('a start without Temporal', () => {
  it('says how a missing namespace is made, and otherwise which setting to check', () => {
    const missing = noTemporal('db:7233', 'acme', new Error('5 NOT_FOUND: Namespace acme is not found.'));
    assert.match(missing, /^Temporal at db:7233 has no namespace acme\..*namespace create --namespace acme$/);
    const away = noTemporal('db:7233', 'acme', new Error('Failed to connect before the deadline.'));
    assert.match(away, /cannot be used: Failed to connect before the deadline\. Check TEMPORAL_ADDRESS /);
  });
});
