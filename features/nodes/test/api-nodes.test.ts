/** Machines join by a code, connect by a token, and are revoked. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import type { WebSocket } from 'ws';
import { createNodeHub } from '../routes/node-hub.ts';
import { CLOSED, CODE_TRIES } from '../contract/node.ts';
import { giveUpInvocation, insertInvocation, readInvocation } from '../store/node-invocation-store.ts';
import { findNode } from '../store/node-store.ts';
import { OLD_INVOCATIONS } from '../rows.ts';
import { pruneOldRows } from '#store/old-rows.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { connectFakeNode, FAKE_TOKEN, joinFakeNode } from './fake-node.ts';
import { eventually } from '#test/support/processes.ts';
import { type Answer, startApi, type TestApi } from '#test/support/stack.ts';

const until = async (check: () => Promise<boolean>): Promise<void> => assert.ok(await eventually(check));

describe('TL nodes over HTTP and WebSocket', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  const invite = async (name: string, more: object = {}): Promise<Answer['body']> => {
    const { headers, body } = await api.ask('POST', '/v1/nodes/invites', { body: { name, ...more } });
    assert.equal(headers.get('location'), `/v1/nodes/${name}`);
    return body;
  };
  const join = (code: string, token: string): Promise<Answer> =>
    api.ask('POST', '/v1/nodes/join', { body: { code, token }, key: null });
  const node = async (name: string): Promise<Answer['body']> =>
    (await api.ask('GET', `/v1/nodes/${name}`)).body;
  async function untilState(name: string, state: string): Promise<void> {
    await until(async () => (await node(name)).state === state);
  }

  it('a code lets one machine join, once; the same machine may say it again', async () => {
    const { code, url, name } = await invite('one');
    assert.deepEqual([name, url], ['one', api.url]);
    assert.equal((await node('one')).state, 'invited');
    const token = FAKE_TOKEN();
    assert.equal((await join(code, token)).status, 200);
    assert.deepEqual((await join(code.toLowerCase(), token)).body, { name: 'one' });
    assert.equal((await join(code, FAKE_TOKEN())).status, 401);
    assert.equal((await node('one')).state, 'away');
    assert.equal((await api.ask('POST', '/v1/nodes/invites', { body: { name: 'one' } })).status, 409);
  });

  it('wrong codes are counted, and then the right one is worth nothing', async () => {
    const { code } = await invite('tried');
    const wrong = `${code.slice(0, 7)}${code[7] === 'A' ? 'B' : 'A'}${code.slice(8)}`;
    for (let at = 0; at < CODE_TRIES; at += 1) assert.equal((await join(wrong, FAKE_TOKEN())).status, 401);
    assert.equal((await join(code, FAKE_TOKEN())).status, 401);
    // A new one replaces it.
    assert.equal((await join((await invite('tried')).code, FAKE_TOKEN())).status, 200);
  });

  it('an expired code, one that never was and one that is none are refused with the same words', async () => {
    const { code } = await invite('late');
    await api.pool.query(
      `update nodes set code_expires_at = now() - interval '1 second' where name = 'late'`,
    );
    const answers = await Promise.all([code, 'ABCDEF-ABCDEFGHJK', 'x'].map((one) => join(one, FAKE_TOKEN())));
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.detail]),
      answers.map(() => [401, 'The pairing code is wrong, was used or has expired']),
    );
  });

  it('codes and tokens stand in no row', async () => {
    const { code } = await invite('hidden');
    const token = FAKE_TOKEN();
    await join(code, token);
    const { rows } = await api.pool.query('select t::text as row from nodes t');
    for (const { row } of rows)
      assert.ok(
        !row.includes(code.slice(7)) &&
          !row.includes(token) &&
          !row.includes(Buffer.from(token).toString('hex')),
      );
  });

  it('inviting and revoking need the scope admin, and the name of an address is refused', async () => {
    const key = await api.makeKey(['read', 'run']);
    assert.equal((await api.ask('POST', '/v1/nodes/invites', { body: { name: 'x' }, key })).status, 403);
    assert.equal((await api.ask('DELETE', '/v1/nodes/one', { key })).status, 403);
    const confined = await api.makeKey(['read', 'run'], { user: 'ann' });
    assert.equal((await api.ask('GET', '/v1/nodes/one/invocations', { key: confined })).status, 403);
    assert.equal((await api.ask('GET', '/v1/nodes/one/invocations', { key })).status, 200);
    assert.equal((await api.ask('POST', '/v1/nodes/invites', { body: { name: 'connect' } })).status, 400);
  });

  it('one that connects is shown with what it may be asked of what it declares', async () => {
    const { code } = await invite('shown', { capabilities: ['lamp.switch'] });
    const token = FAKE_TOKEN();
    await join(code, token);
    const fake = await connectFakeNode(api, { token, capabilities: ['lamp.switch', 'door.open'] });
    await untilState('shown', 'connected');
    const shown = await node('shown');
    assert.deepEqual(shown.capabilities, [{ name: 'lamp.switch', description: 'Does lamp.switch' }]);
    fake.socket.close();
    await untilState('shown', 'away');
  });

  it('the server names the queue of one that works by Temporal: one node’s, and no other’s', async () => {
    const about = {
      platform: 'test',
      version: '1',
      journal: randomUUID(),
      capabilities: [],
      run: randomUUID(),
    };
    const hello = async (name: string, key: string, body: object): Promise<Answer> => {
      const headers = { authorization: `Bearer ${await joinFakeNode(api, name, { key })}` };
      return api.ask('POST', '/v1/nodes/hello', { body, headers, key: null });
    };
    const { key } = await api.makeTenant();
    for (const [name, owner] of [
      ['by-queue', api.key],
      ['by-queue', key],
      ['by-queue-2', key],
    ] as const) {
      const { status, body } = await hello(name, owner, { ...about, run: randomUUID() });
      const { rows } = await api.pool.query(
        `select 'node/' || tenant_id || '/' || id as task_queue from nodes where about ->> 'task_queue' = $1`,
        [body.task_queue],
      );
      assert.deepEqual([status, [body]], [200, rows]);
    }
    assert.equal((await hello('wishes', key, { ...about, task_queue: 'tempoclaw' })).status, 400);
  });

  it('another tenant sees and revokes none of it', async () => {
    const { key } = await api.makeTenant();
    assert.deepEqual((await api.ask('GET', '/v1/nodes', { key })).body.data, []);
    assert.equal((await api.ask('DELETE', '/v1/nodes/one', { key })).status, 404);
  });

  it('a revoked one is cut off, and refused when it comes back', async () => {
    const token = await joinFakeNode(api, 'revoked');
    const fake = await connectFakeNode(api, { token });
    await untilState('revoked', 'connected');
    assert.equal(
      (await api.ask('PATCH', '/v1/nodes/revoked', { body: { name: 'renamed' } })).body.name,
      'renamed',
    );
    assert.equal((await api.ask('PATCH', '/v1/nodes/renamed', { body: { name: 'one' } })).status, 409);
    assert.equal((await api.ask('DELETE', '/v1/nodes/renamed')).status, 204);
    assert.equal(await fake.closed, CLOSED.revoked);
    await assert.rejects(connectFakeNode(api, { token }), /401/);
  });

  it('a second connection with its token takes the place of the first', async () => {
    const token = await joinFakeNode(api, 'twice');
    const first = await connectFakeNode(api, { token });
    await untilState('twice', 'connected');
    const second = await connectFakeNode(api, { token });
    assert.equal(await first.closed, CLOSED.replaced);
    assert.equal((await node('twice')).state, 'connected');
    second.socket.close();
  });

  it('what speaks another way is cut off, and so is what says too much', async () => {
    const token = await joinFakeNode(api, 'odd');
    for (const text of ['no JSON', '{"type":"result","id":"x","result":{"ok":true,"text":""}}']) {
      const fake = await connectFakeNode(api, { token, silent: true });
      fake.socket.send(text);
      assert.equal(await fake.closed, CLOSED.wrong);
    }
    const fake = await connectFakeNode(api, { token });
    fake.socket.send('x'.repeat(3_000_000));
    assert.equal(await fake.closed, 1009);
  });

  it('one that no longer answers pings is taken for dead', async () => {
    const hub = createNodeHub(api.deps, (error) => assert.fail(String(error)), 30);
    await joinFakeNode(api, 'dead');
    const { id } = (await findNode(forTenant(api.pool, api.tenant), 'dead')) ?? assert.fail();
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const nothing = (): void => undefined;
    const socket = Object.assign(new EventEmitter(), {
      ping: nothing,
      pause: nothing,
      resume: nothing,
      terminate() {
        socket.emit('close');
        resolve();
      },
    });
    hub.add({ tenant: api.tenant, id }, socket as unknown as WebSocket);
    await gone;
    await hub.close();
  });

  it('a result counts once, only of the node that was asked, and only in its journal is it sent again', async () => {
    const { pool, tenant, deps } = api;
    const { sealer } = deps.secrets;
    const token = await joinFakeNode(api, 'lamp');
    const other = await connectFakeNode(api, { token: await joinFakeNode(api, 'other') });
    const { id: lamp } = (await findNode(forTenant(pool, tenant), 'lamp')) ?? assert.fail();
    const id = `call_${randomUUID()}`;
    const request = {
      id,
      node: lamp,
      session: 's',
      capability: 'lamp.switch',
      params: { on: true },
      seconds: 60,
    };
    await insertInvocation(pool, sealer, tenant, request);
    const journal = randomUUID();
    const first = await connectFakeNode(api, { token, journal });
    assert.partialDeepStrictEqual(await first.next('invoke'), { id, params: { on: true } });
    first.socket.terminate();

    const lost = randomUUID();
    const stranger = await connectFakeNode(api, { token, journal: lost });
    await until(async () => (await findNode(forTenant(pool, tenant), 'lamp'))?.about?.journal === lost);
    other.answer(id, { ok: true, text: 'forged' });
    const again = await connectFakeNode(api, { token, journal });
    assert.partialDeepStrictEqual(await again.next('invoke'), { id });
    assert.deepEqual(stranger.heard, []);
    again.answer(id, { ok: true, text: 'on' });
    again.answer(id, { ok: true, text: 'off' });
    const state = () => readInvocation(pool, sealer, tenant, id);
    await until(async () => (await state())?.status === 'done');
    assert.deepEqual((await state())?.result, { ok: true, text: 'on' });
    const { body } = await api.ask('GET', '/v1/nodes/lamp/invocations');
    assert.partialDeepStrictEqual(body.data, [
      { id, capability: 'lamp.switch', status: 'done', session_key: 's' },
    ]);
    assert.ok(!JSON.stringify((await pool.query('select * from node_invocations')).rows).includes('true}'));
    await pool.query(`update node_invocations set created_at = now() - interval '8 days'`);
    assert.equal(await pruneOldRows(pool, [OLD_INVOCATIONS]), 1);

    const stopped = `call_${randomUUID()}`;
    await insertInvocation(pool, sealer, tenant, { ...request, id: stopped });
    assert.partialDeepStrictEqual(await again.next('invoke'), { id: stopped });
    again.socket.terminate();
    assert.equal(await giveUpInvocation(forTenant(pool, tenant), stopped), 'unknown');
    const back = await connectFakeNode(api, { token, journal });
    assert.deepEqual(await back.next('cancel'), { type: 'cancel', id: stopped });
    for (const fake of [other, back]) fake.socket.close();
  });

  it('a request that is no WebSocket, and one that offers another protocol, are answered as requests', async () => {
    assert.equal((await api.ask('GET', '/v1/nodes/connect', { key: null })).status, 400);
    const status = await new Promise((resolve, reject) => {
      const headers = {
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: 'h2c',
        'http2-settings': '',
        authorization: `Bearer ${api.key}`,
        'content-type': 'application/json',
      };
      request(`${api.url}/v1/nodes/invites`, { method: 'POST', headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', reject)
        .end(JSON.stringify({ name: 'h2c' }));
    });
    assert.equal(status, 201);
  });
});
