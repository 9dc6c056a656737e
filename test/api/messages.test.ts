import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { submitMessage } from '#api/submit-message.ts';
import { turnIdOf } from '#domain/ids.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findTurn } from '#store/turns/turn-store.ts';
import { openSse } from '#test/support/sse.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('IN-1 messages over HTTP', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ agents: [{ key: 'echo', model: 'rehearsal/echo' }] });
  });
  after(() => stack.stop());

  it('accepts a message with 202 and names session, turn, message and workflow', async () => {
    const { status, body } = await stack.ask('POST', '/v1/sessions/accept/messages', {
      body: { text: 'hello', agent: 'echo' },
    });
    assert.equal(status, 202);
    assert.deepEqual(Object.keys(body).sort(), [
      'ahead',
      'message_id',
      'mode',
      'session_key',
      'turn_id',
      'workflow_id',
    ]);
    assert.equal(body.workflow_id, `session/${stack.tenant}/accept`);
    assert.equal(body.turn_id, body.message_id.replace('msg_', 'turn_'));
    const turn = await stack.worker.ended(body.turn_id);
    assert.equal(turn.text, 'hello');
  });

  it('answers with the text when the caller waits', async () => {
    const { status, body } = await stack.ask('POST', '/v1/sessions/wait/messages?wait=20', {
      body: { text: 'wait for me', agent: 'echo' },
    });
    assert.equal(status, 200);
    assert.equal(body.status, 'completed');
    assert.equal(body.text, 'wait for me');
    const turn = await stack.ask('GET', `/v1/turns/${body.turn_id}`);
    assert.equal(turn.body.status, 'completed');
    assert.equal(turn.body.agent, 'echo');
    assert.match(
      turn.body.links.temporal,
      /^http:\/\/ui\.test:8233\/namespaces\/default\/workflows\/session%2F[^/]+%2Fwait\/[0-9a-f-]+$/,
    );
    const messages = await stack.ask('GET', '/v1/sessions/wait/messages');
    assert.deepEqual(
      messages.body.data.map((one: { role: string; text: string }) => [one.role, one.text]),
      [
        ['user', 'wait for me'],
        ['assistant', 'wait for me'],
      ],
    );
    assert.equal(messages.body.has_more, false);
  });

  it('answers who waits with the end of the turn, should its receipt come later', async () => {
    const { body } = await stack.ask('POST', '/v1/sessions/ended/messages?wait=20', {
      body: { text: 'over', agent: 'echo' },
    });
    const ended = await findTurn(forTenant(stack.pool, stack.tenant), body.turn_id);
    assert.equal(ended?.status, 'completed');
    const temporal = { ...stack.deps.temporal, submit: () => new Promise<never>(() => undefined) };
    const id = 'msg_whose-receipt-is-late';
    const accepted = await submitMessage({ ...stack.deps, temporal }, stack.tenant, {
      id,
      session: 'late',
      text: 'Hello.',
      mode: null,
      context: { agent: 'echo' },
      repeatable: false,
      waitFor: async (turn) => ({ ...ended, id: turn }),
    });
    assert.deepEqual(accepted.receipt, { turn_id: turnIdOf(id), message_id: id, mode: 'queue', ahead: 0 });
    assert.equal((await accepted.waited)?.status, 'completed');
  });

  it('answers 202 when the time is up before the turn ends', async () => {
    const text = 'hold {"note":"slow"}';
    const { status, body } = await stack.ask('POST', '/v1/sessions/slow/messages?wait=1', { body: { text } });
    assert.equal(status, 202);
    assert.equal(body.status, 'running');
    stack.worker.probes.release('slow');
    await stack.worker.ended(body.turn_id);
  });

  it('gives 50 requests at once with one Idempotency-Key one turn', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        stack.ask('POST', '/v1/sessions/once/messages', {
          body: { text: 'only once', agent: 'echo' },
          headers: { 'idempotency-key': 'fifty' },
        }),
      ),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
    assert.equal(new Set(answers.map(({ body }) => body.turn_id)).size, 1);
    await stack.worker.ended(answers[0]?.body.turn_id);
    const again = await stack.ask('POST', '/v1/sessions/once/messages', {
      body: { agent: 'echo', text: 'only once' },
      headers: { 'idempotency-key': 'fifty' },
    });
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(again.body.turn_id, answers[0]?.body.turn_id);
    assert.equal((await stack.worker.turns('once')).length, 1);
  });

  it('gives a repeated request the same turn when the stored answer is lost', async () => {
    const send = () =>
      stack.ask('POST', '/v1/sessions/lost/messages?wait=20', {
        body: { text: 'once more', agent: 'echo' },
        headers: { 'idempotency-key': 'lost' },
      });
    const first = await send();
    await stack.pool.query("delete from idempotency_keys where key = 'lost'");
    const second = await send();
    assert.equal(second.status, 200);
    assert.equal(second.body.turn_id, first.body.turn_id);
    assert.equal(second.body.duplicate, true);
    assert.equal((await stack.worker.turns('lost')).length, 1);
  });

  it('refuses another body under the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'mismatch' };
    await stack.ask('POST', '/v1/sessions/mismatch/messages', {
      body: { text: 'a', agent: 'echo' },
      headers,
    });
    const { status, body } = await stack.ask('POST', '/v1/sessions/mismatch/messages', {
      body: { text: 'b', agent: 'echo' },
      headers,
    });
    assert.equal(status, 422);
    assert.equal(body.code, 'IdempotencyMismatch');
  });

  it('refuses an agent that is not there, and another agent for a session, and writes nothing', async () => {
    const unknown = await stack.ask('POST', '/v1/sessions/nobody/messages', {
      body: { text: 'x', agent: 'nobody' },
    });
    assert.equal(unknown.status, 404);
    assert.equal((await stack.ask('GET', '/v1/sessions/nobody')).status, 404);
    await stack.ask('POST', '/v1/sessions/taken/messages?wait=20', { body: { text: 'x', agent: 'echo' } });
    const other = await stack.ask('POST', '/v1/sessions/taken/messages', {
      body: { text: 'y', agent: 'main' },
    });
    assert.equal(other.status, 409);
    assert.match(other.body.detail, /echo/);
    const { rows } = await stack.pool.query(
      "select text from messages where session_key = 'taken' and role = 'user'",
    );
    assert.deepEqual(rows, [{ text: 'x' }]);
  });

  it('DU-4 queues behind a running turn, says so in the feed, and rejects when asked to', async () => {
    const first = await stack.ask('POST', '/v1/sessions/queue/messages', {
      body: { text: 'hold {"note":"q"}' },
    });
    await stack.worker.probes.untilHeld('q');
    const second = await stack.ask('POST', '/v1/sessions/queue/messages', { body: { text: 'second' } });
    assert.equal(second.body.ahead, 1);
    assert.equal((await stack.ask('GET', `/v1/turns/${second.body.turn_id}`)).body.status, 'queued');
    const rejected = await stack.ask('POST', '/v1/sessions/queue/messages', {
      body: { text: 'third', mode: 'reject' },
    });
    assert.equal(rejected.status, 409);
    assert.equal(rejected.body.code, 'SessionBusy');
    const session = await stack.ask('GET', '/v1/sessions/queue');
    assert.equal(session.body.status, 'running');
    assert.equal(session.body.turn_id, first.body.turn_id);
    stack.worker.probes.release('q');
    await stack.worker.ended(second.body.turn_id);
    const events = await stack.worker.events('queue');
    assert.ok(events.some((event) => event.type === 'turn.queued' && event.turn_id === second.body.turn_id));
    const { rows } = await stack.pool.query("select 1 from messages where text = 'third'");
    assert.equal(rows.length, 0);
  });

  it('DU-4 steers the running turn and says which step reads it', async () => {
    const first = await stack.ask('POST', '/v1/sessions/steer/messages', {
      body: { text: 'hold {"note":"s"}' },
    });
    await stack.worker.probes.untilHeld('s');
    const stale = await stack.ask('POST', '/v1/sessions/steer/steer', {
      body: { text: 'x', turn_id: 'turn_other' },
    });
    assert.equal(stale.status, 409);
    assert.equal(stale.body.code, 'StaleTurn');
    const steered = await stack.ask('POST', '/v1/sessions/steer/steer', { body: { text: 'also this' } });
    assert.equal(steered.status, 202);
    assert.equal(steered.body.turn_id, first.body.turn_id);
    assert.equal(typeof steered.body.step, 'number');
    stack.worker.probes.release('s');
    await stack.worker.ended(first.body.turn_id);
    const idle = await stack.ask('POST', '/v1/sessions/steer/steer', { body: { text: 'too late' } });
    assert.equal(idle.status, 409);
  });

  it('DU-4 stops the turn that is meant, and a late stop hits nothing', async () => {
    const { body } = await stack.ask('POST', '/v1/sessions/stop/messages', {
      body: { text: 'hold {"note":"st"}' },
    });
    await stack.worker.probes.untilHeld('st');
    const stopped = await stack.ask('POST', '/v1/sessions/stop/stop', { body: { level: 'now' } });
    assert.equal(stopped.status, 202);
    assert.equal(stopped.body.turn_id, body.turn_id);
    assert.equal((await stack.worker.ended(body.turn_id)).status, 'stopped');
    const late = await stack.ask('POST', '/v1/sessions/stop/stop', {
      body: { level: 'now', turn_id: body.turn_id },
    });
    assert.equal(late.status, 409);
    assert.equal(late.body.code, 'StaleTurn');
    const nothing = await stack.ask('POST', '/v1/sessions/stop/stop', { body: { level: 'now' } });
    assert.equal(nothing.status, 409);
  });

  it('IN-2 replays and follows the feed with rising ids, and goes on after Last-Event-ID without gap or repeat', async () => {
    const auth = { authorization: `Bearer ${stack.key}` };
    const first = await stack.ask('POST', '/v1/sessions/feed/messages', {
      body: { text: 'once_hold {"note":"f"}' },
    });
    await stack.worker.probes.untilHeld('f');
    const reader = await openSse(`${stack.url}/v1/sessions/feed/events`, auth);
    assert.equal(reader.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(reader.headers.get('x-accel-buffering'), 'no');
    const seen = await reader.until((event) => event.event === 'tool.started');
    reader.close();
    const last = seen.at(-1)?.id ?? 0;
    stack.worker.probes.release('f');
    const next = await openSse(`${stack.url}/v1/sessions/feed/events?after=0`, {
      ...auth,
      'last-event-id': String(last),
    });
    const rest = await next.until((event) => event.event === 'turn.completed');
    next.close();
    const ids = [...seen, ...rest].map(({ id }) => id);
    assert.deepEqual(
      ids,
      ids.map((_id, at) => at + 1),
    );
    assert.equal(rest.at(-1)?.data.turn_id, first.body.turn_id);
    assert.deepEqual(
      [...seen, ...rest].map(({ event, data }) => event === data.type),
      ids.map(() => true),
    );
  });

  it('IN-2 says 410 for events that are no longer kept, and begins with the oldest kept when none are asked for', async () => {
    await stack.ask('POST', '/v1/sessions/trim/messages?wait=20', { body: { text: 'x', agent: 'echo' } });
    await stack.pool.query("delete from events where session_key = 'trim' and id < 3");
    const gone = await stack.ask('GET', '/v1/sessions/trim/events?after=1');
    assert.deepEqual([gone.status, gone.body.code, gone.body.first_id], [410, 'EventsTrimmed', 3]);
    const reader = await openSse(`${stack.url}/v1/sessions/trim/events`, {
      authorization: `Bearer ${stack.key}`,
    });
    const [event] = await reader.until(() => true);
    reader.close();
    assert.equal(event?.id, 3);
  });

  it('tells a caller that goes away nothing, and finishes the turn', async () => {
    const controller = new AbortController();
    const pending = fetch(`${stack.url}/v1/sessions/gone/messages?wait=60`, {
      method: 'POST',
      signal: controller.signal,
      headers: {
        authorization: `Bearer ${stack.key}`,
        'content-type': 'application/json',
        'idempotency-key': 'gone',
      },
      body: JSON.stringify({ text: 'hold {"note":"g"}' }),
    });
    pending.catch(() => undefined);
    await stack.worker.probes.untilHeld('g');
    controller.abort();
    await assert.rejects(pending);
    stack.worker.probes.release('g');
    await sleep(50);
    const again = await stack.worker.until('the key to be free', async () => {
      const answer = await stack.ask('POST', '/v1/sessions/gone/messages?wait=20', {
        body: { text: 'hold {"note":"g"}' },
        headers: { 'idempotency-key': 'gone' },
      });
      return answer.status === 409 ? undefined : answer;
    });
    assert.ok(again.status === 200 || again.status === 202);
    assert.equal((await stack.worker.turns('gone')).length, 1);
  });
});
