/** IN-4, DU-12: what waits for one webhook delays no other, however much it is, and each delivery has one sender. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { LONGEST_WAIT_DAYS, MAX_WAITING } from '../contract.ts';
import { rowPart } from '../rows.ts';
import { readDelivery } from '../store/delivery-store.ts';
import { claimDeliveries, recordAttempt, trimQueues } from '../store/delivery-queue-store.ts';
import { pruneOldRows } from '#store/old-rows.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { runCli } from '#test/cli/support/run-cli.ts';
import { startLiveWorker } from '#test/support/live-worker.ts';
import { type Stack, type TestApi, startApi, startStack } from '#test/support/stack.ts';
import { startSite, type WebSite } from '#test/support/web-site.ts';

const DUE = 4_000;
const RETRYING = 4_000;
const SETTINGS = 'webhooks: { retrySeconds: [0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05] }';

/** Of all workers of a test. */
const KEY = { TEMPOCLAW_ENCRYPTION_KEY: randomBytes(32).toString('base64') };

interface Receiver extends Stack {
  readonly site: WebSite;
  /** The most requests that it had at the same time since it was set. */
  atOnce: number;
}

/** A receiver that accepts at /alive, never answers at /dead, and at other addresses does what `answer` does. */
async function start(
  t: TestContext,
  answer: (reply: ServerResponse) => void = () => undefined,
): Promise<Receiver> {
  let now = 0;
  const site = await startSite(t, ({ url }, reply) => {
    now += 1;
    receiver.atOnce = Math.max(receiver.atOnce, now);
    reply.once('close', () => (now -= 1));
    if (url === '/alive') reply.writeHead(204).end();
    else if (url !== '/dead') answer(reply);
  });
  const egress = { allowPrivate: [site.place] };
  const settings = `${SETTINGS}\negress: ${JSON.stringify(egress)}`;
  const stack = await startStack({ settings, egress, env: KEY });
  t.after(() => stack.stop());
  const receiver: Receiver = { ...stack, site, atOnce: 0 };
  return receiver;
}

async function addWebhook(api: TestApi, body: object, key = api.key): Promise<string> {
  const made = await api.ask('POST', '/v1/webhooks', { key, body: { events: ['approval.*'], ...body } });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.id;
}

interface Filling {
  readonly count: number;
  /** How many sessions they are spread over. */
  readonly sessions?: number;
  /** How many of them, the first, have been tried and are due in an hour. */
  readonly retrying?: number;
}

/** Their ids are msg_1, msg_2, …, with the events 1, 2, … */
async function fill(api: TestApi, webhook: string, { count, sessions = 1, retrying = 0 }: Filling) {
  await api.pool.query(
    `insert into webhook_deliveries (tenant_id, id, webhook_id, session_key, event_id, event, attempts, next_at)
     select $1, 'msg_' || n, $2, 's' || n % $3::int, n, 'turn.completed', (n <= $4::int)::int, now() + (n <= $4::int)::int * interval '1 hour'
     from generate_series(1, $5::int) as n`,
    [api.tenant, webhook, sessions, retrying, count],
  );
  // What they tell of.
  await api.pool.query(
    `insert into events (tenant_id, session_key, id, type, data) select $1, 's' || n % $3::int, n, 'turn.completed', '{}'
     from generate_series(1, $2::int) as n`,
    [api.tenant, count, sessions],
  );
}

async function statuses(api: TestApi, webhook: string): Promise<Readonly<Record<string, number>>> {
  const { rows } = await api.pool.query(
    'select status, count(*)::int as count from webhook_deliveries where webhook_id = $1 group by status',
    [webhook],
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

function ids({ site }: Pick<Receiver, 'site'>): string[] {
  return site.requests.map(({ headers }) => String(headers['webhook-id']));
}

describe('DU-12 a webhook that does not answer', () => {
  for (const [name, ordered, sessions] of [
    ['in any order', false, 1],
    ['in order, all in one session', true, 1],
    ['in order, in many sessions', true, RETRYING],
  ] as const)
    it(`with ${DUE} deliveries due and ${RETRYING} to be tried again, ${name}, delays no other’s`, async (t) => {
      const stack = await start(t);
      const dead = await addWebhook(stack, { url: `${stack.site.url}/dead`, ordered });
      await fill(stack, dead, { count: DUE + RETRYING, sessions, retrying: RETRYING });
      // Another webhook of the same tenant, and one of another tenant.
      await addWebhook(stack, { url: `${stack.site.url}/alive` });
      const other = await stack.makeTenant();
      await addWebhook(stack, { url: `${stack.site.url}/alive` }, other.key);
      for (const [key, to] of [
        [stack.key, `${stack.site.url}/alive`],
        [other.key, undefined],
      ] as const) {
        const { status, body } = await stack.ask('POST', '/v1/approvals/notify-test', { key, body: { to } });
        assert.deepEqual([status, body.data[0].status], [200, 'delivered'], JSON.stringify(body));
      }
      const { rows } = await stack.pool.query(
        'select count(*)::int as under_way from webhook_deliveries where webhook_id = $1 and claimed_until > now()',
        [dead],
      );
      assert.ok(rows[0].under_way <= 20, `${rows[0].under_way} under way`);
    });

  it('opens its breaker, which probes it with one delivery at a time, closes at a success and sends all', async (t) => {
    let isUp = false;
    const stack = await start(t, (reply) => void reply.writeHead(isUp ? 204 : 503).end());
    const id = await addWebhook(stack, { url: `${stack.site.url}/`, events: ['turn.completed'] });
    const count = 1_000;
    await fill(stack, id, { count });
    const show = async () => (await stack.ask('GET', `/v1/webhooks/${id}`)).body;
    const open = await stack.worker.until('an open breaker', async () => {
      const shown = await show();
      return shown.state !== 'closed' && shown.failures > 6 ? shown : undefined;
    });
    assert.ok(Date.parse(open.next_attempt_at) > 0 && open.failing_since, JSON.stringify(open));
    // Those that were under way when it opened have ended.
    await stack.worker.until('their end', async () => {
      const { rows } = await stack.pool.query(
        'select 1 from webhook_deliveries where claimed_until is not null',
      );
      return rows.length <= 1 ? true : undefined;
    });
    stack.atOnce = 0;
    const sent = stack.site.requests.length;
    await stack.worker.until('two probes', () => (stack.site.requests.length >= sent + 2 ? true : undefined));
    assert.equal(stack.atOnce, 1);
    assert.equal((await statuses(stack, id))['pending'], count, 'nothing is lost meanwhile');

    isUp = true;
    await stack.worker.until('all', async () =>
      (await statuses(stack, id))['delivered'] === count ? true : undefined,
    );
    const { state, failures, next_attempt_at, failing_since } = await show();
    assert.deepEqual([state, failures, next_attempt_at, failing_since], ['closed', 0, null, null]);
    assert.ok(stack.atOnce <= 20, `${stack.atOnce} at once`);
  });

  it('gets a test at once, also while it is open and much waits', async (t) => {
    const stack = await start(t);
    const id = await addWebhook(stack, { url: `${stack.site.url}/alive` });
    await stack.pool.query(
      `update webhooks set failures = 9, pace = 1, retry_at = now() + interval '1 hour' where id = $1`,
      [id],
    );
    await fill(stack, id, { count: 500 });
    const { body } = await stack.ask('POST', '/v1/approvals/notify-test', { body: {} });
    assert.equal(body.data[0].status, 'delivered');
    assert.equal(ids(stack)[0], body.data[0].delivery_id);
  });

  it('is asked at once again when somebody changes it', async (t) => {
    const stack = await start(t);
    const id = await addWebhook(stack, { url: `${stack.site.url}/dead`, events: ['turn.completed'] });
    await stack.pool.query(
      `update webhooks set failures = 9, pace = 1, retry_at = now() + interval '1 hour' where id = $1`,
      [id],
    );
    await fill(stack, id, { count: 3 });
    const before = await stack.ask('GET', `/v1/webhooks/${id}`);
    assert.deepEqual([before.body.state, before.body.failures], ['open', 9]);
    const env = { TEMPOCLAW_API_KEY: stack.key };
    assert.match((await runCli(['webhooks', 'list'], { url: stack.url, env })).stdout, /\bopen\b/);
    const changed = await stack.ask('PATCH', `/v1/webhooks/${id}`, {
      body: { url: `${stack.site.url}/alive` },
    });
    assert.equal(changed.body.state, 'closed');
    await stack.worker.until('all', async () =>
      (await statuses(stack, id))['delivered'] === 3 ? true : undefined,
    );
  });

  for (const [word, end] of [
    [
      'disabled',
      (api: TestApi, id: string) => api.ask('PATCH', `/v1/webhooks/${id}`, { body: { enabled: false } }),
    ],
    ['deleted', (api: TestApi, id: string) => api.ask('DELETE', `/v1/webhooks/${id}`)],
  ] as const)
    it(`gets nothing more once it is ${word}`, async (t) => {
      const stack = await start(t);
      const id = await addWebhook(stack, { url: `${stack.site.url}/dead`, events: ['turn.completed'] });
      await fill(stack, id, { count: 1_000, retrying: 100 });
      await stack.worker.until('some', () => (stack.site.requests.length > 0 ? true : undefined));
      await end(stack, id);
      await stack.worker.until('the end of its queue', async () =>
        (await statuses(stack, id))['pending'] === undefined ? true : undefined,
      );
      assert.deepEqual(await statuses(stack, id), word === 'disabled' ? { failed: 1_000 } : {});
      assert.ok(stack.site.requests.length <= 20, `${stack.site.requests.length} requests`);
    });
});

describe('IN-4 a delivery', () => {
  it('is sent once, also by two workers', async (t) => {
    const stack = await start(t, (reply) => void reply.writeHead(204).end());
    const { tenant, databaseUrl } = stack.worker;
    const egress = JSON.stringify({ allowPrivate: [stack.site.place] });
    const other = await startLiveWorker({
      beside: { tenant, databaseUrl },
      settings: `${SETTINGS}\negress: ${egress}`,
      env: KEY,
    });
    t.after(() => other.close());
    const id = await addWebhook(stack, { url: `${stack.site.url}/`, events: ['turn.completed'] });
    await fill(stack, id, { count: 400 });
    await stack.worker.until('all', async () =>
      (await statuses(stack, id))['delivered'] === 400 ? true : undefined,
    );
    assert.equal(ids(stack).length, 400);
    assert.equal(new Set(ids(stack)).size, 400);
  });

  it('whose process died after the claim is sent by another with its id, and a late record of it counts for nothing', async (t) => {
    const stack = await start(t);
    const id = await addWebhook(stack, { url: `${stack.site.url}/alive`, events: ['turn.completed'] });
    const db = forTenant(stack.pool, stack.tenant);
    // The webhook waits, so that only this process claims the delivery.
    await stack.pool.query(`update webhooks set retry_at = now() + interval '1 hour' where id = $1`, [id]);
    await fill(stack, id, { count: 1 });
    const claim = await stack.worker.until('the claim', async () => {
      await stack.pool.query(`update webhooks set retry_at = now() where id = $1`, [id]);
      return (await claimDeliveries(db, [id], 1)).claims[0];
    });
    const delivery = await readDelivery(db, claim.id);
    assert.ok(delivery);
    await stack.pool.query('update webhook_deliveries set claimed_until = now() where id = $1', [claim.id]);
    await stack.worker.until('its row', async () =>
      (await statuses(stack, id))['delivered'] === 1 ? true : undefined,
    );
    const record = { status: 'failed', answered: null, problem: 'late', works: false } as const;
    await recordAttempt(db, delivery, claim.fence, record, {
      probes: { first: 1, longest: 1 },
      disableAfter: 0,
    });
    assert.deepEqual(await statuses(stack, id), { delivered: 1 });
    assert.deepEqual(ids(stack), ['msg_1']);
  });

  it('of a session in order is sent when the one before it is over, whichever was due first', async (t) => {
    const stack = await start(t);
    const id = await addWebhook(stack, { url: `${stack.site.url}/alive`, ordered: true });
    await stack.pool.query('update webhooks set enabled = false where id = $1', [id]);
    await stack.pool.query(
      `insert into webhook_deliveries (tenant_id, id, webhook_id, session_key, event_id, event, next_at)
       select $1, 'msg_' || n, $2, 's' || n % 2, n, 'approval.test', now() - n * interval '1 second' from generate_series(1, 60) as n`,
      [stack.tenant, id],
    );
    await stack.pool.query('update webhooks set enabled = true where id = $1', [id]);
    await stack.worker.until('all', () => (stack.site.requests.length >= 60 ? true : undefined));
    const numbers = ids(stack).map((one) => Number(one.slice(4)));
    for (const rest of [0, 1]) {
      const ofSession = numbers.filter((number) => number % 2 === rest);
      assert.deepEqual(
        ofSession,
        ofSession.toSorted((a, b) => a - b),
      );
      assert.equal(ofSession.length, 30);
    }
  });

  it('of a session in order is sent also when what it waited for was deleted', async (t) => {
    const stack = await start(t);
    const id = await addWebhook(stack, { url: `${stack.site.url}/alive`, ordered: true });
    await stack.pool.query(
      `insert into webhook_deliveries (tenant_id, id, webhook_id, session_key, event_id, event, held_back)
       values ($1, 'msg_2', $2, 's', 2, 'approval.test', true), ($1, 'msg_3', $2, 's', 3, 'approval.test', true)`,
      [stack.tenant, id],
    );
    assert.equal(await trimQueues(stack.pool), 1);
    await stack.worker.until('both', () => (stack.site.requests.length >= 2 ? true : undefined));
    assert.deepEqual(ids(stack), ['msg_2', 'msg_3']);
  });

  it('fails when it has waited for days or too many wait, and is deleted 30 days after its end', async (t) => {
    const api = await startApi();
    t.after(() => api.stop());
    const id = await addWebhook(api, { url: 'https://example.com/', events: ['turn.completed'] });
    await fill(api, id, { count: MAX_WAITING + 2 });
    await api.pool.query(
      `update webhook_deliveries set created_at = now() - (20000 - event_id) * interval '1 second',
         pending_since = case when event_id = 100 then now() - make_interval(days => $1) else pending_since end`,
      [LONGEST_WAIT_DAYS],
    );
    assert.equal(await trimQueues(api.pool), 3);
    const { body } = await api.ask('GET', `/v1/webhooks/${id}/deliveries?status=failed`);
    assert.deepEqual(
      body.data.map((row: { id: string; problem: string }) => [row.id, row.problem]),
      [
        ['msg_100', 'it has waited for 5 days'],
        ['msg_2', 'more than 10000 deliveries waited'],
        ['msg_1', 'more than 10000 deliveries waited'],
      ],
    );
    await api.pool.query(
      `update webhook_deliveries set created_at = now() - interval '40 days', ended_at = now() - make_interval(days => 28 + event_id::int)
       where status = 'failed'`,
    );
    assert.equal(await pruneOldRows(api.pool, rowPart.oldRows ?? []), 2);
    assert.deepEqual(await statuses(api, id), { pending: MAX_WAITING - 1, failed: 1 });
  });
});
