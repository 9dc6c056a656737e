/** TE-3, DU-3: a task may wait for its member's session for weeks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { busyWait } from '#domain/team/busy-wait.ts';

test('a task asks for a busy session soon at first, and in four weeks far less often than a run may have events', () => {
  const weeks = 4 * 7 * 86_400_000;
  let requests = 0;
  for (let waited = 0; waited < weeks; waited += busyWait(waited)) requests += 1;
  assert.ok(requests < 1_000, String(requests));
  // Each is about ten events, of 51,200.
  assert.deepEqual([0, 4_000, 60_000, weeks].map(busyWait), [500, 500, 7_500, 3_600_000]);
});
