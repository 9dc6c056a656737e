/** DU-1: an answer that Postgres does not take at once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SMALL } from '#test/support/window-scripts.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('DU-1 an answer that Postgres does not take at once', { timeout: 60_000 }, () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: [
        { key: 'counts', model: 'rehearsal/counts' },
        { key: 'small', model: 'rehearsal/small', tools: { allow: ['peek'] } },
      ],
      scripts: {
        small: SMALL,
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
        if nextval('faults') <= 2 then
          raise exception using errcode = '40001', message = 'serialization failure';
        end if;
        return new;
      end $$`);
  });
  after(() => stack.stop());

  it('is kept by its worker and recorded later, and the model is not paid again', async () => {
    await stack.pool.query(`create trigger fail_twice before insert on messages for each row
      when (new.role = 'assistant') execute function fail_twice()`);
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

  it('and so is the summary of a long conversation', async () => {
    const say = async (text: string): Promise<any> => {
      const { status, body } = await stack.ask('POST', '/v1/sessions/long/messages?wait=30', {
        body: { text, agent: 'small' },
      });
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    };
    for (const n of [1, 2, 3]) await say(`${n} ${'tea '.repeat(400)}`);
    await stack.pool.query(`drop trigger fail_twice on messages; alter sequence faults restart;
      create trigger fail_twice before update of summary on sessions for each row
      when (new.summary is distinct from old.summary) execute function fail_twice()`);
    await say(`4 ${'tea '.repeat(800)}`);
    const { rows } = await stack.pool.query(
      `select attempt from messages where session_key = 'long' and role = 'assistant' order by position desc limit 1`,
    );
    assert.deepEqual(rows, [{ attempt: 1 }]);
    const { rows: uses } = await stack.pool.query(
      `select kind from model_uses where session_key = 'long' and kind <> 'answer'`,
    );
    assert.deepEqual(uses, [{ kind: 'summary' }]);
    const { rows: tries } = await stack.pool.query('select last_value::int as tries from faults');
    assert.deepEqual(tries, [{ tries: 3 }]);
  });
});
