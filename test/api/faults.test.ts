import assert from 'node:assert/strict';
import { join } from 'node:path';
import { createServer, type Server, type Socket, connect } from 'node:net';
import { describe, it } from 'node:test';
import { createPool } from '#store/postgres/pool.ts';
import { connectTemporal } from '#temporal/client.ts';
import { createServer as createApiServer } from '#api/server/server.ts';
import { openSse } from '#test/support/sse.ts';
import { startApi, startStack } from '#test/support/stack.ts';

describe('F4 Temporal is away', () => {
  it('answers 503 with Retry-After, never a false 2xx, and says in /readyz what is missing', async () => {
    const temporal = connectTemporal({ address: '127.0.0.1:9', namespace: 'default', taskQueue: 'q' });
    const api = await startApi({ temporal });
    try {
      const sent = await api.ask('POST', '/v1/sessions/s/messages', {
        body: { text: 'x' },
        headers: { 'idempotency-key': 'away' },
      });
      assert.equal(sent.status, 503);
      assert.equal(sent.body.code, 'Unavailable');
      assert.equal(sent.body.retryable, true);
      assert.equal(sent.headers.get('retry-after'), '2');
      const { rows } = await api.pool.query('select 1 from idempotency_keys');
      assert.equal(rows.length, 0, 'the refusal is not kept');
      const ready = await api.ask('GET', '/readyz', { key: null });
      assert.equal(ready.status, 503);
      assert.deepEqual(ready.body, {
        status: 'away',
        postgres: 'ok',
        temporal: 'away',
        state_folder: 'ok',
      });
      assert.equal((await api.ask('GET', '/v1/sessions')).status, 200);
    } finally {
      await api.stop();
    }
  });

  it('DU-1 with no worker: 202 and the message waits with Temporal; 503 where only a worker could answer', async () => {
    const api = await startApi();
    try {
      const path = '/v1/sessions/alone/messages';
      const [first, ...others] = await Promise.all([
        api.ask('POST', path, { body: { text: 'x' }, headers: { 'idempotency-key': 'left' } }),
        ...['steer', 'collect', 'reject'].map((mode) =>
          api.ask('POST', `/v1/sessions/${mode}/messages`, { body: { text: 'x', mode } }),
        ),
      ]);
      assert.equal(first.status, 202, JSON.stringify(first.body));
      assert.equal(first.body.ahead, 0);
      const turn = await api.ask('GET', `/v1/turns/${first.body.turn_id}`);
      assert.equal(turn.body.status, 'queued');
      const next = await api.ask('POST', path, { body: { text: 'y' } });
      assert.deepEqual([next.status, next.body.ahead], [202, 1]);
      for (const refused of others) {
        assert.equal(refused.status, 503, JSON.stringify(refused.body));
        assert.equal(refused.headers.get('retry-after'), '2');
      }
    } finally {
      await api.stop();
    }
  });
});

describe('F5 Postgres is away', () => {
  it('answers 503 on every route that needs it, and health without it', async () => {
    const api = await startApi();
    const away = createPool({
      url: 'postgres://x:x@127.0.0.1:9/x',
      size: 1,
      applicationName: 'x',
      onIdleError: () => undefined,
    });
    // This folder cannot be written either, because it is below a file.
    const settings = { ...api.deps.settings, stateDir: join(import.meta.filename, 'state') };
    const app = await createApiServer({ ...api.deps, pool: away, settings });
    try {
      const headers = { authorization: `Bearer ${api.key}` };
      for (const url of ['/v1/sessions', '/v1/agents/main', '/v1/sessions/s/events']) {
        const answer = await app.inject({ url, headers });
        assert.equal(answer.statusCode, 503, url);
        assert.equal(answer.json().code, 'Unavailable');
        assert.ok(answer.headers['retry-after']);
        assert.doesNotMatch(answer.body, /127\.0\.0\.1|ECONN/);
      }
      assert.equal((await app.inject('/healthz')).statusCode, 200);
      const ready = (await app.inject('/readyz')).json();
      assert.deepEqual(ready, { status: 'away', postgres: 'away', temporal: 'ok', state_folder: 'away' });
    } finally {
      await app.close();
      await away.end();
      await api.stop();
    }
  });
});

describe('DU-1 a connection that breaks', () => {
  it('accepts a repeated message once Temporal is back, as one turn', async () => {
    const target = new URL(`tcp://${process.env['TEST_TEMPORAL_ADDRESS']}`);
    const gate = await openGate(Number(target.port), target.hostname);
    const stack = await startStack();
    const temporal = connectTemporal({
      address: `127.0.0.1:${gate.port}`,
      namespace: 'default',
      taskQueue: stack.worker.taskQueue,
    });
    const { app } = stack;
    const direct = stack.deps.temporal;
    Object.assign(stack.deps, { temporal });
    try {
      const send = () =>
        stack.ask('POST', '/v1/sessions/back/messages?wait=20', {
          body: { text: 'say it once' },
          headers: { 'idempotency-key': 'back' },
        });
      gate.shut();
      assert.equal((await send()).status, 503);
      gate.open();
      const sent = await stack.worker.until('Temporal to be back', async () => {
        const answer = await send();
        return answer.status === 503 ? undefined : answer;
      });
      assert.equal(sent.status, 200);
      assert.equal((await stack.worker.turns('back')).length, 1);
      assert.ok(app);
    } finally {
      Object.assign(stack.deps, { temporal: direct });
      await temporal.close();
      gate.close();
      await stack.stop();
    }
  });

  it('IN-2 goes on with the feed after the database cut the listening connection', async () => {
    const stack = await startStack();
    try {
      await stack.ask('POST', '/v1/sessions/cut/messages?wait=20', { body: { text: 'one' } });
      const reader = await openSse(`${stack.url}/v1/sessions/cut/events`, {
        authorization: `Bearer ${stack.key}`,
      });
      const first = await reader.until((event) => event.event === 'turn.completed');
      await stack.pool.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tempoclaw-api-events' and datname = current_database()",
      );
      await stack.ask('POST', '/v1/sessions/cut/messages?wait=20', { body: { text: 'two' } });
      const second = await reader.until((event) => event.event === 'turn.completed');
      reader.close();
      const ids = [...first, ...second].map(({ id }) => id);
      assert.deepEqual(
        ids,
        ids.map((_id, at) => at + 1),
      );
    } finally {
      await stack.stop();
    }
  });
});

describe('F6 the server stops', () => {
  it('ends streams, answers who waits, and finishes what runs', async () => {
    const stack = await startStack();
    const reader = await (async () => {
      await stack.ask('POST', '/v1/sessions/end/messages', { body: { text: 'once_hold {"note":"end"}' } });
      await stack.worker.probes.untilHeld('end');
      return openSse(`${stack.url}/v1/sessions/end/events`, { authorization: `Bearer ${stack.key}` });
    })();
    await reader.until((event) => event.event === 'tool.started');
    const waiting = stack.ask('POST', '/v1/sessions/end/messages?wait=100', { body: { text: 'next' } });
    await stack.worker.until('the second turn', async () =>
      (await stack.worker.events('end')).some((e) => e.type === 'turn.queued') ? true : undefined,
    );
    const closed = stack.app.close();
    const answer = await waiting;
    assert.equal(answer.status, 202);
    assert.equal(answer.body.status, 'queued');
    await reader.until(() => false);
    await closed;
    await assert.rejects(fetch(`${stack.url}/healthz`));
    stack.worker.probes.release('end');
    await stack.stop();
  });
});

interface Gate {
  readonly port: number;
  shut(): void;
  open(): void;
  close(): void;
}

/** A connection to a server that can be closed. */
async function openGate(port: number, host: string): Promise<Gate> {
  let isOpen = true;
  const sockets = new Set<Socket>();
  const server: Server = createServer((inward) => {
    sockets.add(inward);
    inward.on('error', () => undefined);
    if (!isOpen) {
      inward.destroy();
      return;
    }
    const outward = connect(port, host);
    sockets.add(outward);
    outward.on('error', () => inward.destroy());
    inward.pipe(outward).pipe(inward);
    inward.on('close', () => outward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    shut() {
      isOpen = false;
      for (const socket of sockets) socket.destroy();
    },
    open() {
      isOpen = true;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
