/** DU-11: work that a guard holds back waits in its activity. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApplicationFailureCategory } from '@temporalio/common';
import { createStartGate } from '#activities/start-gate.ts';

const WORK = { tenant: 't', of: { call: 'm-1.1.0' } };

describe('DU-11 the gate before work', () => {
  test('an attempt that was held back fails as a wait, of which no worker warns', async () => {
    const gate = createStartGate({
      heldBack: async () => ({ reason: 'held back: times look wrong', untilOver: async () => undefined }),
    });
    await assert.rejects(gate.pass(WORK, { signal: new AbortController().signal }), {
      type: 'Held',
      message: 'held back: times look wrong',
      nonRetryable: false,
      category: ApplicationFailureCategory.BENIGN,
    });
  });
});
