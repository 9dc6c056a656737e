/** IN-4: what waits for one webhook delays no other, however much it is. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { deliveryWorkflowId, WEBHOOK_DELIVERY } from '../contract.ts';
import { claimDueDeliveries } from '../store/webhook-delivery-store.ts';
import { startDueDeliveries } from '../temporal.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { startSite, type WebSite } from '#test/support/web-site.ts';

const DUE = 20_000;
const RETRYING = 20_000;

/** A receiver that accepts a connection and never answers, except at /alive. */
async function start(t: TestContext): Promise<Stack & { readonly site: WebSite }> {
  const site = await startSite(t, ({ url }, reply) => {
    if (url === '/alive') reply.writeHead(204).end();
  });
  const egress = { allowPrivate: [site.place] };
  const stack = await startStack({ settings: `egress: ${JSON.stringify(egress)}`, egress });
  t.after(() => stack.stop());
  return { ...stack, site };
}

async function addWebhook(stack: Stack, key: string, body: object): Promise<string> {
  const made = await stack.ask('POST', '/v1/webhooks', { key, body: { events: ['approval.*'], ...body } });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.id;
}

/** `sessions` is how many they are spread over. Retried ones are the first of them. */
async function fill(stack: Stack, webhook: string, sessions: number): Promise<void> {
  await stack.pool.query(
    `insert into webhook_deliveries (tenant_id, id, webhook_id, session_key, event_id, event, attempts, next_at, claimed_until)
     select $1, 'msg_' || n, $2, 's' || n % $3::int, n, 'approval.test', (n <= $4::int)::int, at, at
     from generate_series(1, $4::int + $5::int) as n, lateral (select now() + (n <= $4::int)::int * interval '1 hour' as at) as when_due`,
    [stack.tenant, webhook, sessions, RETRYING, DUE],
  );
}

describe('IN-4 a webhook that does not answer', () => {
  for (const [name, ordered, sessions] of [
    ['in any order', false, 1],
    ['in order, all in one session', true, 1],
    ['in order, in many sessions', true, RETRYING],
  ] as const)
    it(`with ${DUE} deliveries due and ${RETRYING} to be tried again, ${name}, delays no other’s`, async (t) => {
      const stack = await start(t);
      const dead = await addWebhook(stack, stack.key, { url: `${stack.site.url}/dead`, ordered });
      await fill(stack, dead, sessions);
      const other = await stack.makeTenant();
      await addWebhook(stack, other.key, { url: `${stack.site.url}/alive` });
      const answer = await stack.ask('POST', '/v1/approvals/notify-test', { key: other.key, body: {} });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      await stack.worker.until('the other’s', () =>
        stack.site.requests.find(({ line }) => line === 'POST /alive'),
      );
      const { rows } = await stack.pool.query(
        `select count(*)::int as at_once from webhook_deliveries
         where webhook_id = $1 and attempts = 0 and not held_back and claimed_until > now()`,
        [dead],
      );
      assert.ok(rows[0].at_once <= 20, `${rows[0].at_once} at once`);
    });

  it('in order is asked for the next of a session as soon as the one before it is over', async (t) => {
    const stack = await start(t);
    const id = await addWebhook(stack, stack.key, { url: `${stack.site.url}/alive`, ordered: true });
    await stack.pool.query(
      `insert into webhook_deliveries (tenant_id, id, webhook_id, session_key, event_id, event, claimed_until)
       select $1, 'msg_' || n, $2, 's', n, 'approval.test', now() - n * interval '1 second' from generate_series(1, 30) as n`,
      [stack.tenant, id],
    );
    const [first, ...others] = await claimDueDeliveries(stack.pool).then((all) =>
      all.toSorted((a, b) => Number(a.held_back) - Number(b.held_back)),
    );
    assert.equal(first?.id, 'msg_1');
    assert.deepEqual(new Set(others.map(({ held_back }) => held_back)), new Set([true]));
    assert.deepEqual(await claimDueDeliveries(stack.pool), []);
    // Its workflow was lost. It restarts when its time is over, and each other’s end starts all the others.
    await stack.pool.query(`update webhook_deliveries set claimed_until = now() where id = 'msg_1'`);
    await stack.ask('POST', '/v1/approvals/notify-test', { body: {} });
    await stack.worker.until('all', () => (stack.site.requests.length >= 31 ? true : undefined));
    const ids = stack.site.requests.map(({ headers }) => String(headers['webhook-id']));
    const ofSession = [...new Set(ids)].filter((one) => /^msg_\d{1,2}$/.test(one));
    assert.deepEqual(
      ofSession,
      Array.from({ length: 30 }, (_, index) => `msg_${index + 1}`),
    );
  });

  it('in order is asked for one that came while the end of the one before it was being recorded', async (t) => {
    const stack = await start(t);
    const id = await addWebhook(stack, stack.key, { url: `${stack.site.url}/alive`, ordered: true });
    const insert = (event: number): Promise<unknown> =>
      stack.pool.query(
        `insert into webhook_deliveries (tenant_id, id, webhook_id, session_key, event_id, event, claimed_until)
         values ($1, $2, $3, 's', $4, 'approval.test', now())`,
        [stack.tenant, `msg_${event}`, id, event],
      );
    const other = await stack.pool.connect();
    try {
      // The end of the first is written, and cannot be committed.
      await other.query('begin');
      await other.query('lock table webhooks in share mode');
      await insert(1);
      await startDueDeliveries(stack.pool, stack.worker.temporal);
      await stack.worker.until('its end', async () => {
        const { rowCount } = await other.query(
          `select 1 from pg_locks where relation = 'webhooks'::regclass and not granted
             and database = (select oid from pg_database where datname = current_database())`,
        );
        return rowCount ? true : undefined;
      });
      await insert(2);
      const claimed = await claimDueDeliveries(stack.pool);
      assert.deepEqual(
        claimed.map((each) => [each.id, each.held_back]),
        [['msg_2', true]],
      );
    } finally {
      await other.query('commit');
      other.release();
    }
    await stack.worker.until('the second', () =>
      stack.site.requests.find(({ headers }) => headers['webhook-id'] === 'msg_2'),
    );
  });

  it('in order is asked for the next of a session when the worker died as the end of the one before it was recorded', async (t) => {
    const stack = await start(t);
    const webhook = await addWebhook(stack, stack.key, { url: `${stack.site.url}/alive`, ordered: true });
    await stack.pool.query(
      `insert into webhook_deliveries (tenant_id, id, webhook_id, session_key, event_id, event, status, ended_at, held_back, claimed_until)
       values ($1, 'msg_1', $2, 's', 1, 'approval.test', 'delivered', now(), false, now()),
              ($1, 'msg_2', $2, 's', 2, 'approval.test', 'pending', null, true, now() + interval '1 hour')`,
      [stack.tenant, webhook],
    );
    const input = { tenant: stack.tenant, id: 'msg_1' };
    // This is the attempt that Temporal makes again.
    const run = { type: WEBHOOK_DELIVERY, id: deliveryWorkflowId('msg_1', 0), input, tenant: stack.tenant };
    await stack.worker.temporal.start({ ...run, summary: 'approval.test' });
    await stack.worker.until('the next', () => (stack.site.requests.length > 0 ? true : undefined));
    assert.deepEqual(
      stack.site.requests.map(({ headers }) => headers['webhook-id']),
      ['msg_2'],
    );
  });
});
