/** DU-1: one message that arrives several times at once is one row, and every arrival is told of it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { insertAgent } from '#activities/store/agent-store.ts';
import { insertTenant } from '#activities/store/api-key-store.ts';
import { writeMessage } from '#activities/store/message-store.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

describe('DU-1 writing a message', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await insertTenant(database.pool, 'red', 'Red');
    await insertAgent(database.pool, 'red', { key: 'main', type: 'open', model: 'rehearsal/follow' }, 'test');
  });
  after(() => database.drop());

  it('with one id many times at once: written once, and all others read what was written', async () => {
    await writeMessage(database.pool, 'red', {
      id: 'first',
      session: 's',
      text: 'Hi.',
      mode: null,
      context: {},
    });
    for (let round = 0; round < 20; round += 1) {
      const message = { id: `msg_${round}`, session: 's', text: 'Once.', mode: null, context: {} };
      const written = await Promise.all(
        Array.from({ length: 8 }, () => writeMessage(database.pool, 'red', message)),
      );
      assert.equal(written.filter((row) => row.written).length, 1);
      for (const row of written.filter((one) => !one.written))
        assert.deepEqual([row.agent_key, row.session_key, row.text], ['main', message.session, 'Once.']);
    }
  });
});
