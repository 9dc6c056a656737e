/** IN-4: a receiver that gets too much says when to come again, and gets nothing before. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';
import { startSite, type WebSite } from '#test/support/web-site.ts';

/** Without any further attempt, what fails has failed for good. */
const ONE_ATTEMPT = 'webhooks: { retrySeconds: [] }';

interface Receiver extends Stack {
  readonly site: WebSite;
  readonly webhook: string;
}

/** A receiver that answers each request, counted from 1, and a webhook for the ends of turns. */
async function start(
  t: TestContext,
  answer: (reply: ServerResponse, number: number) => void,
): Promise<Receiver> {
  let number = 0;
  const site = await startSite(t, (_request, reply) => answer(reply, (number += 1)));
  const egress = { allowPrivate: [site.place] };
  const stack = await startStack({
    settings: `${ONE_ATTEMPT}\negress: ${JSON.stringify(egress)}`,
    egress,
  });
  t.after(() => stack.stop());
  const { body } = await stack.ask('POST', '/v1/webhooks', {
    body: { url: site.url, events: ['turn.completed'] },
  });
  return { ...stack, site, webhook: body.id };
}

async function turn(stack: Stack, session: string): Promise<void> {
  const { turn_id } = await stack.worker.say(session, 'hello');
  await stack.worker.ended(turn_id);
}

async function deliveries(stack: Receiver): Promise<any[]> {
  return (await stack.ask('GET', `/v1/webhooks/${stack.webhook}/deliveries`)).body.data;
}

describe('IN-4 a receiver that says when to come again', () => {
  for (const [what, status, retryAfter] of [
    ['too many requests', 429, () => '1'],
    ['being away, with a date', 503, () => new Date(Date.now() + 1_000).toUTCString()],
  ] as const)
    it(`gets the delivery again after ${what}, which is no attempt of it`, async (t) => {
      const stack = await start(t, (reply, number) => {
        if (number > 1) return void reply.writeHead(204).end();
        reply.writeHead(status, { 'retry-after': retryAfter() }).end();
      });
      await turn(stack, 's');
      const [row] = await stack.worker.until('the delivery', async () => {
        const rows = await deliveries(stack);
        return rows[0]?.status === 'pending' ? undefined : rows;
      });
      assert.deepEqual([row.status, row.attempts, row.waits], ['delivered', 2, 1]);
      const { body } = await stack.ask('GET', `/v1/webhooks/${stack.webhook}`);
      assert.deepEqual([body.state, body.failures, body.failing_since], ['closed', 0, null]);
    });

  it('gets nothing else meanwhile, and is asked again within an hour, whatever it says', async (t) => {
    const stack = await start(t, (reply) => void reply.writeHead(429, { 'retry-after': '8640000' }).end());
    await turn(stack, 'first');
    await stack.worker.until('its answer', async () =>
      (await deliveries(stack))[0]?.waits === 1 ? true : undefined,
    );
    await turn(stack, 'second');
    // A webhook that is not asked to wait gets its delivery of the same event: by then the other one had its chance.
    const { body: other } = await stack.ask('POST', '/v1/webhooks', {
      body: { url: `${stack.site.url}/other`, events: ['turn.completed'] },
    });
    await turn(stack, 'third');
    await stack.worker.until('the other webhook', () =>
      stack.site.requests.some(({ line }) => line.includes('/other')) ? true : undefined,
    );
    const rows = await deliveries(stack);
    assert.deepEqual(
      rows.map(({ session_key, status, attempts }) => [session_key, status, attempts]).sort(),
      [
        ['first', 'pending', 1],
        ['second', 'pending', 0],
        ['third', 'pending', 0],
      ],
    );
    assert.equal(stack.site.requests.filter(({ line }) => !line.includes('/other')).length, 1);
    const { rows: waits } = await stack.pool.query(
      `select retry_at between now() + interval '50 minutes' and now() + interval '1 hour' as bounded, pace
       from webhooks where id <> $1`,
      [other.id],
    );
    assert.deepEqual(waits, [{ bounded: true, pace: 1 }]);
  });

  it('has failed the delivery when it answers so without saying when', async (t) => {
    const stack = await start(t, (reply) => void reply.writeHead(429).end());
    await turn(stack, 's');
    const [row] = await stack.worker.until('the end of it', async () => {
      const rows = await deliveries(stack);
      return rows[0]?.status === 'failed' ? rows : undefined;
    });
    assert.deepEqual([row.attempts, row.waits, row.last_status], [1, 0, 429]);
  });
});
