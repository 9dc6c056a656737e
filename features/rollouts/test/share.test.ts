/** DU-10: whom a share includes depends on names alone; a greater share only adds; its size is as given. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

const PEOPLE = 2_000;
const ROLLOUTS = 6;

describe('DU-10 the share of a rollout', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  /** Those of `person-1` to `person-PEOPLE` that it includes; `by` is how they are known. */
  async function included(rollout: object, by: 'user' | 'session'): Promise<ReadonlySet<string>> {
    const user = by === 'user' ? 'p' : 'null';
    const session = by === 'user' ? `'s' || random()` : 'p';
    const { rows } = await database.pool.query<{ p: string }>(
      `select p from (select 'person-' || n as p from generate_series(1, ${PEOPLE}) n) x
       where is_in_rollout($1, 'helper', ${session}, ${user})`,
      [JSON.stringify(rollout)],
    );
    return new Set(rows.map(({ p }) => p));
  }

  it(`a greater share only adds, the same one gives the same, and each is as great as it says`, async () => {
    const chance = createChance(seedOfRun());
    console.log(`seed ${chance.seed}`);
    for (let n = 0; n < ROLLOUTS; n += 1) {
      const id = `rollout_${chance.between(1, 1e9)}`;
      const by = n % 2 === 0 ? 'user' : 'session';
      const shares = [0, ...Array.from({ length: 4 }, () => chance.between(1, 99)), 100].toSorted(
        (a, b) => a - b,
      );
      let before: ReadonlySet<string> = new Set();
      for (const share of shares) {
        const now = await included({ id, share, users: [], sessions: [] }, by);
        assert.deepEqual(
          [...before].filter((one) => !now.has(one)),
          [],
        );
        assert.deepEqual(now, await included({ id, share, users: ['x'], sessions: ['y'] }, by));
        // Five standard deviations.
        const deviation = Math.sqrt(PEOPLE * (share / 100) * (1 - share / 100));
        assert.ok(Math.abs(now.size - (PEOPLE * share) / 100) <= 5 * deviation, `${share} %: ${now.size}`);
        before = now;
      }
    }
  });

  it('another rollout includes others, and who is named is included whatever the share is', async () => {
    const share = { share: 50, users: [], sessions: [] };
    const one = await included({ id: 'one', ...share }, 'user');
    const other = await included({ id: 'other', ...share }, 'user');
    const both = [...one].filter((person) => other.has(person)).length;
    assert.ok(Math.abs(both - PEOPLE / 4) < PEOPLE / 10, String(both));
    const named = { id: 'one', share: 0, users: ['person-7'], sessions: ['person-8'] };
    assert.deepEqual([...(await included(named, 'user'))], ['person-7']);
    assert.deepEqual([...(await included(named, 'session'))], ['person-8']);
  });
});
