/** AP-1, IN-2: one stream sends an inbox what waits in all sessions, and how each approval continues. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSse, type SseReader } from '#test/support/sse.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

/** A frame's data is an approval. */
interface Frame {
  readonly id: number;
  readonly session: string;
  readonly status: string;
  readonly tally: string | null;
}

describe('AP-1 the approvals of all sessions as a stream', () => {
  let stack: Stack;
  let ann: string;
  const readers: SseReader[] = [];
  before(async () => {
    stack = await startStack({
      agents: [{ key: 'two', tools: { ask: [{ tool: 'poke', quorum: 2, expires_seconds: 600 }] } }],
    });
    ann = await stack.makeKey(['read', 'approve'], { user: 'ann' });
  });
  after(async () => {
    for (const reader of readers) reader.close();
    await stack.stop();
  });

  async function askFor(session: string, user?: string, agent = 'two'): Promise<string> {
    const body = { text: `poke {"note":"${session}"}`, agent, ...(user === undefined ? {} : { user }) };
    await stack.ask('POST', `/v1/sessions/${session}/messages`, { body });
    return stack.worker.approvalOf(session);
  }
  async function follow(query = '', key = stack.key, lastId?: number): Promise<SseReader> {
    const reader = await openSse(`${stack.url}/v1/approvals/events?${query}`, {
      authorization: `Bearer ${key}`,
      ...(lastId === undefined ? {} : { 'last-event-id': String(lastId) }),
    });
    assert.equal(reader.status, 200);
    readers.push(reader);
    return reader;
  }
  /** Reads frames until one of the session with the status (and tally). */
  async function until(reader: SseReader, session: string, status: string, tally?: string): Promise<Frame[]> {
    const frames = await reader.until(({ data }) => {
      const one = data as unknown as { session_key: string; status: string; tally: string | null };
      return (
        one.session_key === session && one.status === status && (tally === undefined || one.tally === tally)
      );
    });
    return frames.map(({ id, event, data }) => {
      assert.equal(event, 'approval');
      const one = data as unknown as { session_key: string; status: string; tally: string | null };
      return { id, session: one.session_key, status: one.status, tally: one.tally };
    });
  }
  const decide = (id: string, decision: string, key: string) =>
    stack.ask('POST', `/v1/approvals/${id}/decision`, { key, body: { decision } });

  it('begins with what waits, then tells each change, and goes on where a reader was', async () => {
    const first = await askFor('s1');
    const reader = await follow();
    assert.deepEqual(
      (await until(reader, 's1', 'pending')).map(({ session, tally }) => [session, tally]),
      [['s1', '0 of 2']],
    );
    const second = await askFor('s2');
    await until(reader, 's2', 'pending');
    await decide(first, 'approve', ann);
    const voted = (await until(reader, 's1', 'pending', '1 of 2')).at(-1);
    assert.ok(voted);
    await decide(first, 'reject', ann);
    await until(reader, 's1', 'denied');
    await stack.ask('POST', '/v1/sessions/s2/stop', { body: { level: 'now' } });
    await until(reader, 's2', 'withdrawn');
    assert.equal((await stack.ask('GET', `/v1/approvals/${second}`)).body.status, 'withdrawn');

    const again = await follow('', stack.key, voted.id);
    const missed = await until(again, 's2', 'withdrawn');
    assert.ok(missed.some(({ session, status }) => session === 's1' && status === 'denied'));

    const fresh = await follow();
    const third = await askFor('s3');
    assert.deepEqual(
      (await until(fresh, 's3', 'pending')).map(({ session }) => session).filter((name) => name !== 's3'),
      [],
      'a new reader is not told what is over',
    );
    await decide(third, 'reject', ann);
  });

  it('tells nobody what does not concern him', async () => {
    const bea = await stack.makeKey(['read'], { user: 'bea' });
    const reader = await follow('', bea);
    const foreign = await follow('', (await stack.makeTenant()).key);
    const ofCyd = await askFor('of-cyd', 'cyd', 'main');
    const ofBea = await askFor('of-bea', 'bea', 'main');
    assert.deepEqual(
      (await until(reader, 'of-bea', 'pending')).map(({ session }) => session),
      ['of-bea'],
    );
    for (const id of [ofCyd, ofBea]) await decide(id, 'reject', stack.key);
    assert.deepEqual(
      (await until(reader, 'of-bea', 'denied')).map(({ session }) => session),
      ['of-bea'],
    );
    // Foreign frames would have come in the time of bea's own.
    const received = await Promise.race([foreign.until(() => true), sleep(500).then(() => [])]);
    assert.deepEqual(received, []);
  });

  it('takes only ids of its own and known filters', async () => {
    const authorization = `Bearer ${stack.key}`;
    for (const [query, lastId] of [
      ['after=x', ''],
      ['status=pending', ''],
      ['', 'abc'],
    ] as const) {
      const answer = await fetch(`${stack.url}/v1/approvals/events?${query}`, {
        headers: { authorization, ...(lastId === '' ? {} : { 'last-event-id': lastId }) },
      });
      assert.equal(answer.status, 400, `${query} ${lastId}`);
    }
  });
});
