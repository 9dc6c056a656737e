/**
 * DU-3, DU-12, AP-2: messages that change nothing keep nobody from what may be done, however many they are. Most of them
 * are only counted, and a run ends long before the server's limits.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { ApprovalState } from '#domain/approval/approval.ts';
import { tokenOf } from '#test/support/decision-tokens.ts';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';
import { openTask } from '#test/support/team-tasks.ts';

/** More than a run of an approval's workflow takes before the next one begins. */
const DECISIONS = Number(process.env['TEST_DECISIONS'] ?? 3_000);
const SECRET = 'a-secret-of-at-least-thirty-two-characters';

describe('messages that are refused', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({
      env: { TEMPOCLAW_DECISION_TOKEN_SECRET: SECRET },
      agents: [{ key: 'bound', tools: { ask: [{ tool: 'poke', approvers: { users: ['ann'] } }] } }],
    });
  });
  after(() => live.close());

  /** Sends them as fast as the server takes them. Above its limit for a run it takes none until the next run. */
  async function flood(workflowId: string, name: string, number: number, payload: (n: number) => unknown) {
    const handle = live.client.workflow.getHandle(workflowId);
    for (let sent = 0; sent < number; sent += 100)
      await Promise.all(Array.from({ length: 100 }, (_, n) => handle.signal(name, payload(sent + n))));
  }

  const forged = (): string =>
    `${randomBytes(60).toString('base64url')}.${randomBytes(32).toString('base64url')}`;

  it(`AP-2 ${DECISIONS} wrong decisions are counted, and one right one wins`, async () => {
    const { turn_id } = await live.say('flood', 'poke {"note":"flood"}', { agent: 'bound' });
    const id = await live.approvalOf('flood');
    const handle = live.client.workflow.getHandle(`approval/${id}`);
    const first = (await handle.describe()).runId;
    await flood(handle.workflowId, 'decide', DECISIONS, (n) =>
      n % 2 === 0 ? { decision: 'approve', by: 'eve' } : { decision: 'never', by: 'eve' },
    );
    const state = await live.until('all of them', async () => {
      // A worker that is busy with the flood may not answer in time.
      const now = await handle.query<ApprovalState>('state').catch(() => undefined);
      return now?.refused === DECISIONS ? now : undefined;
    });
    assert.deepEqual([state.status, state.last_refused?.by], ['pending', 'eve']);
    await live.until('the next run', async () => (await handle.describe()).runId !== first || undefined);
    const { historyLength } = await handle.describe();
    assert.ok(historyLength < DECISIONS, String(historyLength));
    const { rows } = await live.pool.query<{ refused: number }>(
      'select refused from approvals where tenant_id = $1 and id = $2',
      [live.tenant, id],
    );
    assert.ok((rows[0]?.refused ?? 0) > DECISIONS * 0.9, JSON.stringify(rows));
    const token = await tokenOf(live, SECRET, id, 'approve', 'ann');
    assert.equal(
      (await live.temporal.decide(id, { decision: 'approve', by: 'ann', token }))?.status,
      'approved',
    );
    assert.equal((await live.ended(turn_id)).status, 'completed');
    assert.equal(live.probes.effects.filter(({ note }) => note === 'flood').length, 1);
  });

  it('AP-2 a decision that waits for its answer goes before signals whose tokens have to be looked at', async () => {
    const { turn_id } = await live.say('forged', 'poke {"note":"forged"}', { agent: 'bound' });
    const id = await live.approvalOf('forged');
    const handle = live.client.workflow.getHandle(`approval/${id}`);
    const token = await tokenOf(live, SECRET, id, 'approve', 'ann');
    await flood(handle.workflowId, 'decide', 2_000, () => ({ decision: 'approve', token: forged() }));
    // A busy worker may need longer than a client waits.
    const receipt = await live.until('the decision', () =>
      live.temporal.decide(id, { decision: 'approve', by: 'ann', token }, 'of-ann'),
    );
    assert.equal(receipt.status, 'approved');
    assert.equal((await live.ended(turn_id)).status, 'completed');
    const { rows } = await live.pool.query<{ refused: number }>(
      'select refused from approvals where tenant_id = $1 and id = $2',
      [live.tenant, id],
    );
    assert.ok((rows[0]?.refused ?? 0) < 2_000, JSON.stringify(rows));
  });

  it('TE a task is completed after three thousand requests that it refused', async () => {
    const { workflowId } = await openTask(live, 'flooded', ['bound']);
    const handle = live.client.workflow.getHandle(workflowId);
    await flood(workflowId, 'complete', 3_000, (n) =>
      n % 2 === 0 ? { by: 'eve' } : { by: { name: 'eve', member: 'nobody' }, result: 'x' },
    );
    const state = await live.until('all of them', async () => {
      const now = await handle.query<{ refused?: number; status: string }>('state').catch(() => undefined);
      return now?.refused !== undefined && now.refused >= 2_500 ? now : undefined;
    });
    assert.equal(state.status, 'pending');
    assert.ok((await handle.describe()).historyLength < 5_000);
    await handle.executeUpdate('cancel', { args: [{ by: { name: 'ann' }, reason: 'enough' }] });
    assert.equal((await handle.query<{ status: string }>('state')).status, 'cancelled');
  });
});
