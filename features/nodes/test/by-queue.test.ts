/**
 * A node on a task queue: if its worker was gone until the invocation's time was over, it gets the result that Temporal
 * still has.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createNodes } from '../activities/nodes.ts';
import { NODE_SEAL, nodeWorkPlace } from '../contract/node.ts';
import { deriveSealKey, sealPayload } from '#domain/payload-seal.ts';
import type { ToolResult } from '#domain/tool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { insertInvocation, readInvocation } from '../store/node-invocation-store.ts';
import { connectNode, findNode } from '../store/node-store.ts';
import type { ActivitiesOnce, OnceOutcome } from '#temporal/activity-once.ts';
import { joinFakeNode } from './fake-node.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';

describe('TL nodes on a task queue, after the time is over', () => {
  let api: TestApi;
  let node: string;
  let key: Uint8Array<ArrayBuffer>;
  before(async () => {
    api = await startApi();
    const token = await joinFakeNode(api, 'box');
    key = await deriveSealKey(token, NODE_SEAL);
    node = (await findNode(forTenant(api.pool, api.tenant), 'box'))?.id ?? assert.fail();
    const about = { platform: 'x', version: '1', journal: randomUUID(), capabilities: [] };
    await connectNode(forTenant(api.pool, api.tenant), node, randomUUID(), {
      ...about,
      task_queue: 'box-queue',
    });
  });
  after(() => api.stop());

  /** What the call gets that follows it a minute too late, and what it then requests from Temporal. */
  async function followed(status: 'waiting' | 'sent', received: (id: string) => Promise<OnceOutcome>) {
    const { pool, tenant, deps } = api;
    const { sealer } = deps.secrets;
    const callId = `call_${randomUUID()}`;
    const request = { id: callId, node, session: 's', capability: 'system.run', params: {}, seconds: 5 };
    await insertInvocation(pool, sealer, tenant, request);
    await pool.query(
      `update node_invocations set status = $2, expires_at = now() - interval '1 minute' where id = $1`,
      [callId, status],
    );
    const started: boolean[] = [];
    const once: ActivitiesOnce = {
      run({ id, terms }) {
        started.push(terms !== undefined);
        return received(id);
      },
      cancel: () => assert.fail('nobody has stopped it'),
    };
    const nodes = createNodes({ pool, sealer, once, changes: { subscribe: () => () => undefined } });
    const call = { tenant, callId, sessionKey: 's', signal: new AbortController().signal };
    const result = (await nodes.follow(call)) ?? assert.fail('it has a row');
    const row = await readInvocation(pool, sealer, tenant, callId);
    return { result, started, status: row?.status };
  }
  const codeOf = (result: ToolResult): string => (result.ok ? 'ok' : result.code);

  it('a result that has come meanwhile is taken, and nothing is begun', async () => {
    const { result, started, status } = await followed('sent', async (id) => {
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const message = { ok: true, text: 'done in time' };
      return { result: await sealPayload(key, nodeWorkPlace(id, 'result'), iv, message) };
    });
    assert.match(result.ok ? result.text : '', /done in time/);
    assert.equal(status, 'done');
    assert.deepEqual(started, [false]);
  });

  it('without one its outcome is unknown; what was not sent never is', async () => {
    const sent = await followed('sent', async () => 'unknown');
    assert.deepEqual([codeOf(sent.result), sent.status], ['OutcomeUnknown', 'unknown']);
    const waiting = await followed('waiting', () => assert.fail('it was not sent'));
    assert.deepEqual([codeOf(waiting.result), waiting.status, waiting.started], ['Timeout', 'unsent', []]);
  });
});
