/** DU-1: an answer that Postgres does not take at once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('DU-1 an answer that Postgres does not take at once', { timeout: 60_000 }, () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: [{ key: 'counts', model: 'rehearsal/counts' }],
      scripts: {
        counts: `
description: Says in which attempt the model is asked.
rules:
  - reply: { text: 'Attempt {{attempt}}.' }
`,
      },
    });
    await stack.pool.query(`
      create sequence faults;
      create function fail_twice() returns trigger language plpgsql as $$ begin
        if new.role = 'assistant' and nextval('faults') <= 2 then
          raise exception using errcode = '40001', message = 'serialization failure';
        end if;
        return new;
      end $$;
      create trigger fail_twice before insert on messages for each row execute function fail_twice()`);
  });
  after(() => stack.stop());

  it('is kept by its worker and recorded later, and the model is not paid again', async () => {
    const { status, body } = await stack.ask('POST', '/v1/sessions/paid/messages?wait=30', {
      body: { text: 'Hello.', agent: 'counts' },
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.text, 'Attempt 1.');
    const { rows } = await stack.pool.query(`select last_value::int as tries from faults`);
    assert.deepEqual(rows, [{ tries: 3 }]);
    const { rows: uses } = await stack.pool.query(`select attempt from messages where role = 'assistant'`);
    assert.deepEqual(uses, [{ attempt: 1 }]);
  });
});
