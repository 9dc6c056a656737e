/** A receipt says what a forgetting leaves. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FORGETTING_KEEPS } from '#domain/forgetting.ts';

describe('DU-8 the receipt of a forgetting', () => {
  it('names what the page of forgetting says stays: evidence, forks of a session, other machines, and itself', () => {
    const common = [/chain of evidence/, /other machines/, /receipt/, /backups/, /boards of teams/];
    for (const subject of ['session', 'user'] as const)
      for (const words of common) assert.match(FORGETTING_KEEPS[subject].join('\n'), words);
    assert.ok(FORGETTING_KEEPS.session.includes('forks of the session'));
    assert.ok(!FORGETTING_KEEPS.user.includes('forks of the session'), 'those of a user go too');
  });
});
