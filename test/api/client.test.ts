/** The package `@tempoclaw/client` with the real API: what it refuses, approvals, files, and its limits of requests. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createClient, type TempoClawError } from '@tempoclaw/client';
import { startApi, startStack, type Stack } from '#test/support/stack.ts';

describe('the client of the API', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  it('decides an approval that its stream shows, while a message waits for it', async () => {
    const client = createClient({ url: stack.url, apiKey: stack.key });
    const session = client.session('approved');
    const waiting = await session.send('poke {"note":"approved"}', { wait: 60 });
    assert.equal(waiting.status, 'waiting_approval');
    for await (const approval of client.approvals.events({ session_key: 'approved' })) {
      assert.equal((await client.approvals.show(approval.id)).status, 'pending');
      const { data } = await client.approvals.list({ session_key: 'approved', status: 'pending' });
      assert.deepEqual(
        data.map(({ id }) => id),
        [approval.id],
      );
      await client.approvals.decide(approval.id, { decision: 'reject', reason: 'not today' });
      const again = client.approvals.decide(approval.id, { decision: 'approve' });
      await assert.rejects(again, { name: 'TempoClawError', code: 'AlreadyDecided', status: 409 });
      break;
    }
    const decisions: unknown[] = [];
    for await (const { type, data } of session.events()) {
      if (type === 'approval.decided') decisions.push(data['note']);
      if (type.startsWith('turn.') && type !== 'turn.started' && type !== 'turn.queued') break;
    }
    assert.deepEqual(decisions, ['not today']);
  });

  it('stops a turn', async () => {
    const client = createClient({ url: stack.url, apiKey: stack.key });
    const session = client.session('stopped');
    const { turn_id } = await session.send('clock {}\nthen\nexec {"command":"sleep 600"}');
    assert.equal((await session.stop({ turn_id })).turn_id, turn_id);
    for await (const { type } of session.events()) if (type === 'turn.stopped') return;
    assert.fail('the stream has ended');
  });

  it('has the error of the API for a wrong key, another scope, no such thing and wrong fields', async () => {
    const client = createClient({ url: stack.url, apiKey: stack.key });
    const reader = createClient({ url: stack.url, apiKey: await stack.makeKey(['read']) });
    const wrong = createClient({ url: stack.url, apiKey: 'tc_wrong' });
    await assert.rejects(wrong.request('GET /v1/me'), { code: 'Unauthorized', status: 401 });
    await assert.rejects(wrong.session('s').events().next(), { code: 'Unauthorized' });
    await assert.rejects(reader.session('s').send('Hello'), { code: 'Forbidden', status: 403 });
    await assert.rejects(client.session('none').events().next(), { code: 'NotFound' });
    await assert.rejects(client.approvals.list({ limit: 1e9 }), (error: TempoClawError) => {
      assert.equal(error.code, 'InvalidInput');
      assert.match(error.message, /limit/);
      assert.equal(error.remedy, 'Correct the fields that `errors` names.');
      return true;
    });
  });

  it('has the time of Retry-After when a key sends too much', async () => {
    const api = await startApi({ settings: { rateLimitPerMinute: 2 } });
    try {
      const client = createClient({ url: api.url, apiKey: api.key, patienceMs: 0 });
      await client.request('GET /v1/me');
      await client.request('GET /v1/me');
      await assert.rejects(client.request('GET /v1/me'), (error: TempoClawError) => {
        assert.equal(error.code, 'RateLimited');
        const { retryAfterMs = 0 } = error;
        assert.ok(retryAfterMs > 0 && retryAfterMs <= 60_000);
        return true;
      });
    } finally {
      await api.stop();
    }
  });
});
