/** DU-3: every open turn is checked in each sweep, however many there are, a few at a time. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLostRuns } from '#temporal/lost-runs.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

/** More than one page. */
const TURNS = 1_234;

describe('DU-3 lost runs among many', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await database.pool.query(`
      insert into tenants values ('t', 't');
      insert into agents (tenant_id, key, revision, config) values ('t', 'a', 1, '{}');
      insert into sessions (tenant_id, key, agent_key) select 't', 's' || n, 'a' from generate_series(1, ${TURNS}) n;
      insert into turns (tenant_id, id, session_key, agent_key, status, created_at)
        select 't', 'turn' || n, 's' || n, 'a', 'running', now() - interval '10 minutes' from generate_series(1, ${TURNS}) n;`);
  });
  after(() => database.drop());

  it('one sweep checks all of them and starts the lost ones again, each once', async () => {
    const checked: string[] = [];
    const started: string[] = [];
    let open = 0;
    let most = 0;
    const { sweep } = createLostRuns({
      pool: database.pool,
      now: Date.now,
      reach: {
        async stateOf(id) {
          open += 1;
          most = Math.max(most, open);
          checked.push(id);
          await sleep(1);
          open -= 1;
          return /s(7|1200)$/.test(id) ? 'over' : 'running';
        },
        start: async ({ id }) => void started.push(id),
        signalWithStart: () => assert.fail('there is no task'),
      },
    });
    assert.equal(await sweep(60), 2);
    assert.equal(new Set(checked).size, TURNS);
    assert.equal(checked.length, TURNS);
    assert.deepEqual(started.toSorted(), ['session/t/s1200', 'session/t/s7']);
    assert.ok(most > 1 && most <= 16, String(most));
  });
});
