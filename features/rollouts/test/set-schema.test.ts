/** DU-10: what a change of a rollout must have. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setSchema } from '../schema.ts';

it('DU-10 a rollout is not changed by nothing, and a reason or a number alone are nothing', () => {
  for (const body of [{}, { reason: 'why' }, { number: 3 }])
    assert.match(setSchema.safeParse(body).error?.issues[0]?.message ?? '', /^give one of share, users/);
  for (const body of [{ share: 0 }, { users: [] }, { sessions: ['a'] }, { abort_when: null }])
    assert.ok(setSchema.safeParse({ ...body, reason: 'why' }).success);
});
