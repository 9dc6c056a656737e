import assert from 'node:assert/strict';
import { it } from 'node:test';
import { agreedPeople } from '#domain/approval/approval-votes.ts';

it('AP-4 each person agrees once, in the order of the first time, and a mere claim is nobody', () => {
  const lines = [
    { person: 'bea', by: 'Bea' },
    { person: null, by: 'somebody' },
    { person: 'ann', by: 'ann' },
    { person: 'bea', by: 'BEA' },
  ];
  assert.deepEqual(agreedPeople(lines), ['Bea', 'ann']);
});
