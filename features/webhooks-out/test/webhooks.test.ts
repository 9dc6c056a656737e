import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { createChance } from '#test/support/seeded.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { observeStatements } from '#test/support/statements.ts';
import { startSite, type WebRequest, type WebSite } from '#test/support/web-site.ts';

type Answer = (request: IncomingMessage, reply: ServerResponse) => void;

/** A receiver on this machine, which the egress rules allow, and the whole of TempoClaw before it. */
async function start(
  t: TestContext,
  answer: Answer,
  webhooks = '{ retrySeconds: [0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05] }',
): Promise<Stack & { readonly site: WebSite }> {
  const site = await startSite(t, answer);
  const egress = { allowPrivate: [site.place] };
  const stack = await startStack({
    settings: `webhooks: ${webhooks}\negress: ${JSON.stringify(egress)}`,
    egress,
    agents: [{ key: 'other', model: 'rehearsal/follow' }],
  });
  t.after(() => stack.stop());
  return { ...stack, site };
}

const accepts: Answer = (_request, reply) => void reply.writeHead(204).end();

async function addWebhook(stack: Stack, body: Readonly<Record<string, unknown>>) {
  const made = await stack.ask('POST', '/v1/webhooks', { body });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body as { readonly id: string; readonly secret: string };
}

async function deliveries(stack: Stack, id: string, status?: string): Promise<any[]> {
  const path = `/v1/webhooks/${id}/deliveries?limit=200${status ? `&status=${status}` : ''}`;
  return (await stack.ask('GET', path)).body.data;
}

/** A delivery may come more than once; these are what a receiver that keeps ids accepts. */
function received({ site }: { readonly site: WebSite }): WebRequest[] {
  return [...new Map(site.requests.map((one) => [one.headers['webhook-id'], one])).values()];
}

/** What the receiver got, as its own verifier reads it. */
function verified(secret: string, { body, headers }: WebRequest): any {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}

async function turn(stack: Stack, session: string, text = 'hello', agent = 'main'): Promise<void> {
  const { turn_id } = await stack.worker.say(session, text, { agent });
  await stack.worker.ended(turn_id);
}

describe('IN-4 outgoing webhooks', () => {
  it('come once by their id and in order, also to a receiver that fails three times in ten', async (t) => {
    const chance = createChance(7);
    const taken: string[] = [];
    const stack = await start(t, (request, reply) => {
      if (chance.between(1, 10) <= 3) return void reply.writeHead(503).end();
      const id = String(request.headers['webhook-id']);
      if (!taken.includes(id)) taken.push(id);
      reply.writeHead(204).end();
    });
    const { id, secret } = await addWebhook(stack, { url: stack.site.url, events: ['*'], ordered: true });
    await Promise.all(
      ['a', 'b', 'c'].map(async (session) => {
        for (let message = 0; message < 2; message += 1) await turn(stack, session);
      }),
    );
    const events = (await Promise.all(['a', 'b', 'c'].map((one) => stack.worker.events(one)))).flat();
    const expected = events.filter(
      ({ type }) => !['message.delta', 'message.reset', 'tool.output'].includes(type),
    );
    await stack.worker.until('all deliveries', () => (taken.length >= expected.length ? true : undefined));
    assert.ok(stack.site.requests.length > taken.length);

    const read = new Map(
      stack.site.requests.map((request) => [request.headers['webhook-id'], verified(secret, request)]),
    );
    for (const session of ['a', 'b', 'c'])
      assert.deepEqual(
        taken.map((one) => read.get(one).data).filter((event) => event.session_key === session),
        expected.filter((event) => event.session_key === session),
      );
    await stack.worker.until('their rows', async () =>
      (await deliveries(stack, id, 'pending')).length === 0 ? true : undefined,
    );
    assert.equal((await deliveries(stack, id, 'delivered')).length, expected.length);
  });

  it('tell of an approval what another system needs to decide it', async (t) => {
    const stack = await start(t, accepts);
    const { secret } = await addWebhook(stack, { url: stack.site.url, events: ['approval.*'] });
    const { turn_id } = await stack.worker.say('asks', 'poke {"note":"x"}');
    const request = await stack.worker.until('the question', () => received(stack)[0]);
    const { type, data } = verified(secret, request);
    assert.equal(type, 'approval.requested');
    const decided = await stack.ask('POST', `/v1/approvals/${data.data.approval_id}/decision`, {
      body: { decision: 'approve' },
    });
    assert.equal(decided.status, 200, JSON.stringify(decided.body));
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    await stack.worker.until('the decision', () => received(stack)[1]);
  });

  it('are only those that were asked for, by kind, agent and session', async (t) => {
    const stack = await start(t, accepts);
    const url = stack.site.url;
    await addWebhook(stack, { url: `${url}/agent`, events: ['turn.completed'], agent: 'other' });
    await addWebhook(stack, { url: `${url}/session`, events: ['turn.*'], session_key: 'mine' });
    await turn(stack, 'mine');
    await turn(stack, 'others', 'hello', 'other');
    await stack.worker.until('both', () => (received(stack).length >= 3 ? true : undefined));
    const got = received(stack).map(({ line, body }) => [
      line,
      JSON.parse(body).data.session_key,
      JSON.parse(body).type,
    ]);
    assert.deepEqual(
      got.filter(([line]) => line === 'POST /agent'),
      [['POST /agent', 'others', 'turn.completed']],
    );
    assert.ok(got.every(([line, session]) => line === 'POST /agent' || session === 'mine'));
  });

  it('that never come through wait as failed, and are sent again with their id', async (t) => {
    let isUp = false;
    const stack = await start(
      t,
      (_request, reply) => void reply.writeHead(isUp ? 200 : 302, { location: 'http://127.0.0.1/' }).end(),
      '{ retrySeconds: [0.05] }',
    );
    const { id } = await addWebhook(stack, { url: stack.site.url, events: ['turn.completed'] });
    await turn(stack, 's');
    const [failed] = await stack.worker.until('the end of it', async () => {
      const rows = await deliveries(stack, id, 'failed');
      return rows.length > 0 ? rows : undefined;
    });
    assert.deepEqual([failed.attempts, failed.last_status, failed.problem], [2, 302, 'it answered 302']);
    isUp = true;
    const again = await stack.ask('POST', `/v1/webhooks/${id}/deliveries/${failed.id}/redeliver`);
    assert.equal(again.status, 200, JSON.stringify(again.body));
    assert.deepEqual(
      new Set(stack.site.requests.map(({ headers }) => headers['webhook-id'])),
      new Set([failed.id]),
    );
    await stack.worker.until('its row', async () => (await deliveries(stack, id, 'delivered'))[0]);
  });

  it('are sent again at once when somebody says so, also while they wait for hours', async (t) => {
    let isUp = false;
    const stack = await start(
      t,
      (_request, reply) => void reply.writeHead(isUp ? 204 : 503).end(),
      '{ retrySeconds: [] }',
    );
    const { id } = await addWebhook(stack, { url: stack.site.url, events: ['turn.completed'] });
    await turn(stack, 's');
    const row = await stack.worker.until('its end', async () => (await deliveries(stack, id, 'failed'))[0]);
    // The breaker is open for an hour.
    await stack.pool.query(
      `update webhooks set failures = 9, pace = 1, retry_at = now() + interval '1 hour' where id = $1`,
      [id],
    );
    isUp = true;
    const again = await stack.ask('POST', `/v1/webhooks/${id}/redeliver`, { body: {} });
    assert.deepEqual([again.status, again.body.redelivered], [200, 1]);
    const sent = await stack.worker.until(
      'its row',
      async () => (await deliveries(stack, id, 'delivered'))[0],
    );
    assert.deepEqual([sent.id, sent.redelivered], [row.id, 1]);
  });

  it('are signed with both secrets while one replaces the other', async (t) => {
    const stack = await start(t, accepts);
    const { id, secret } = await addWebhook(stack, { url: stack.site.url, events: ['turn.completed'] });
    const rotated = await stack.ask('POST', `/v1/webhooks/${id}/rotate`, { body: {} });
    assert.equal(rotated.status, 200);
    await turn(stack, 's');
    const got = await stack.worker.until('a delivery', () => received(stack)[0]);
    assert.deepEqual(verified(secret, got), verified(rotated.body.secret, got));

    const next = await stack.ask('POST', `/v1/webhooks/${id}/rotate`, { body: { both_for_seconds: 0 } });
    await turn(stack, 's');
    const last = await stack.worker.until('another', () => received(stack)[1]);
    assert.equal(verified(next.body.secret, last).type, 'turn.completed');
    assert.throws(() => verified(rotated.body.secret, last), /signature/);
  });

  it('go to an address with a stored secret in it, which no row and no answer has', async (t) => {
    const stack = await start(t, accepts);
    const value = 'p@ss/w0rd of zebras';
    await stack.ask('PUT', '/v1/secrets/HOOK', { body: { value } });
    const url = `${stack.site.url}/in?key=secret://HOOK&x=1`;
    const { id } = await addWebhook(stack, { url, events: ['turn.completed'] });
    await turn(stack, 's');
    const request = await stack.worker.until('the delivery', () => received(stack)[0]);
    assert.equal(request.line, `POST /in?key=${encodeURIComponent(value)}&x=1`);
    assert.equal((await stack.ask('GET', `/v1/webhooks/${id}`)).body.url, url);
  });

  it('stop where the receiver is gone or fails for too long, which the webhook says', async (t) => {
    const stack = await start(
      t,
      ({ url }, reply) => void reply.writeHead(url === '/gone' ? 410 : 500).end(),
      '{ retrySeconds: [0.05, 0.05, 0.05], disableAfterDays: 0 }',
    );
    for (const [path, why] of [
      ['gone', /410 Gone/],
      ['fails', /has failed since then: it answered 500/],
    ] as const) {
      const { id } = await addWebhook(stack, {
        url: `${stack.site.url}/${path}`,
        events: ['turn.completed'],
      });
      await turn(stack, path);
      const off = await stack.worker.until('its end', async () => {
        const { body } = await stack.ask('GET', `/v1/webhooks/${id}`);
        return body.enabled ? undefined : body;
      });
      assert.match(off.disabled_reason, why);
      await turn(stack, path);
      assert.equal((await deliveries(stack, id)).length, 1);
      const on = await stack.ask('PATCH', `/v1/webhooks/${id}`, { body: { enabled: true } });
      assert.deepEqual([on.body.enabled, on.body.disabled_reason, on.body.failing_since], [true, null, null]);
      assert.equal((await stack.ask('DELETE', `/v1/webhooks/${id}`)).status, 204);
    }
  });

  it('survive whoever was to announce them', async (t) => {
    const stack = await start(t, accepts);
    const { id } = await addWebhook(stack, { url: stack.site.url, events: ['turn.completed'] });
    await turn(stack, 'lost');
    await stack.worker.until('the first', () => received(stack)[0]);
    // These are two events whose writer died after its commit.
    const event = JSON.stringify([{ type: 'turn.completed' }, { type: 'turn.completed' }]);
    await stack.pool.query('select append_events($1, $2, null, $3)', [stack.tenant, 'lost', event]);
    await stack.worker.until('all', async () =>
      (await deliveries(stack, id, 'delivered')).length === 3 ? true : undefined,
    );
    assert.equal(stack.site.requests.length, 3);
  });

  it('start no workflow', async (t) => {
    const stack = await start(t, accepts);
    const { id } = await addWebhook(stack, { url: stack.site.url, events: ['*'] });
    await turn(stack, 's');
    await stack.worker.until('all', async () => {
      const rows = await deliveries(stack, id);
      return rows.length > 2 && rows.every(({ status }) => status === 'delivered') ? true : undefined;
    });
    const { client, taskQueue } = stack.worker;
    const types = new Set<string>();
    const query = `TaskQueue = '${taskQueue}'`;
    await stack.worker.until('the turn in the list', async () => {
      for await (const run of client.workflow.list({ query })) types.add(run.type);
      return types.size > 0 ? true : undefined;
    });
    assert.deepEqual([...types], ['agentTurn']);
  });

  it('R5 never go to private places, which is looked at for each attempt', async (t) => {
    const stack = await start(t, accepts, '{ retrySeconds: [] }');
    const refused = await stack.ask('POST', '/v1/webhooks', {
      body: { url: 'http://169.254.169.254/latest', events: ['*'] },
    });
    assert.equal(refused.status, 422);
    const { id } = await addWebhook(stack, { url: 'https://example.com/x', events: ['turn.completed'] });
    await stack.pool.query(`update webhooks set url = 'http://10.0.0.1/' where id = $1`, [id]);
    await turn(stack, 's');
    const [row] = await stack.worker.until('its refusal', async () => {
      const rows = await deliveries(stack, id, 'failed');
      return rows.length > 0 ? rows : undefined;
    });
    assert.match(row.problem, /10\.0\.0\.1.*private/i);
    assert.equal(row.last_status, null);
  });
});

describe('IN-4 the settings of a webhook', () => {
  it('are changed by two at once as by one after the other', async (t) => {
    const stack = await start(t, accepts);
    const url = 'https://example.com/hook';
    const { id } = await addWebhook(stack, { url, events: ['turn.*'] });
    let others = 0;
    observeStatements(t, stack.pool, async ({ text, values }) => {
      if (!/select \* from webhooks where .* and id =/s.test(text) || !values.includes(id) || others === 0)
        return;
      others -= 1;
      await stack.pool.query('update webhooks set url = $1 where id = $2', [`${url}-${others}`, id]);
    });
    const change = (body: object) => stack.ask('PATCH', `/v1/webhooks/${id}`, { body });
    // The first read finds out whether there is one at all.
    others = 2;
    const changed = await change({ events: ['approval.*'] });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    assert.deepEqual([changed.body.url, changed.body.events], [`${url}-0`, ['approval.*']]);
    others = 6;
    assert.equal((await change({ events: ['turn.*'] })).status, 409);
  });

  it('are refused with what is wrong, and its secret is told once', async (t) => {
    const stack = await start(t, accepts);
    const url = 'https://example.com/hook';
    for (const [body, what] of [
      [{ url, events: [] }, /events/],
      [{ url, events: ['turn.exploded'] }, /no kind of event/],
      [{ url, events: ['message.delta'] }, /piece of a stream/],
      [{ url, events: ['*'], secret: '' }, /secret/],
      [{ url, events: ['*'], secret: 'whsec_c2hvcnQ=' }, /24 to 64 bytes/],
      [{ url: 'ftp://example.com', events: ['*'] }, /http/],
    ] as const) {
      const refused = await stack.ask('POST', '/v1/webhooks', { body });
      assert.ok([400, 422].includes(refused.status), JSON.stringify(refused.body));
      assert.match(JSON.stringify(refused.body), what);
    }
    const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
    const made = await addWebhook(stack, { url, events: ['turn.*'], secret });
    assert.equal(made.secret, secret);
    const shown = [await stack.ask('GET', '/v1/webhooks'), await stack.ask('GET', `/v1/webhooks/${made.id}`)];
    assert.ok(!JSON.stringify(shown.map(({ body }) => body)).includes(secret.slice(6)));
    const { rows } = await stack.pool.query('select * from webhooks');
    assert.ok(!JSON.stringify(rows).includes(secret.slice(6)));
    assert.equal((await stack.ask('GET', '/v1/webhooks', { key: await stack.makeKey(['run']) })).status, 403);
    const other = await stack.makeTenant();
    assert.equal((await stack.ask('GET', `/v1/webhooks/${made.id}`, { key: other.key })).status, 404);
    for (const path of ['none', 'none/deliveries', 'none%00'])
      assert.equal((await stack.ask('GET', `/v1/webhooks/${path}`)).status, 404, path);
    assert.equal((await stack.ask('POST', '/v1/webhooks/none/redeliver', { body: {} })).status, 404);
  });
});
