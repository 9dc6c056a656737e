/** A frozen tenant can be read and takes nothing new; what was accepted before waits, and goes on when it is thawed. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { APPROVAL } from '#domain/approval/approval.ts';
import { SWEEP, sweepId } from '#domain/sweep.ts';
import { settleApproval } from '#store/approvals/approval-record.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { freezeTenant, readFreeze, thawTenant } from '#store/tenant-freeze.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const WHY = 'its operator looks for something';

describe('a frozen tenant', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  const freeze = () => freezeTenant(forTenant(stack.pool, stack.tenant), WHY);
  const thaw = () => thawTenant(forTenant(stack.pool, stack.tenant));
  /** Every process learns of it soon, so this asks until the answer is as expected. */
  const answered = (status: number, method: string, path: string, body?: object) =>
    stack.worker.until(`${status} of ${method} ${path}`, async () => {
      const answer = await stack.ask(method, path, { ...(body && { body }) });
      return answer.status === status ? answer : undefined;
    });

  it('is read, and refuses the rest with what to do, as long as it is frozen', async () => {
    assert.equal(await freeze(), true);
    const refused = await answered(503, 'PUT', '/v1/secrets/later', { value: 'a value to come' });
    assert.equal(refused.body.code, 'TenantFrozen');
    assert.match(refused.body.detail, new RegExp(`${WHY}.*try again later`));
    assert.equal(refused.body.retryable, true);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    assert.equal((await stack.ask('GET', '/v1/agents')).status, 200);
    const other = await stack.makeTenant();
    const own = { key: other.key, body: { value: 'a value of another' } };
    assert.equal((await stack.ask('PUT', '/v1/secrets/own', own)).status, 200);
    assert.equal(await thaw(), true);
    assert.equal(await thaw(), false);
    await answered(200, 'PUT', '/v1/secrets/later', { value: 'a value to come' });
    assert.equal((await readFreeze(forTenant(stack.pool, stack.tenant)))?.frozen_for, null);
  });

  it('refuses a message whose key was checked before it was frozen, and leaves no row', async () => {
    // This process has just seen that the tenant is not frozen; nothing notifies it.
    assert.equal((await stack.ask('GET', '/v1/agents')).status, 200);
    await stack.pool.query('update tenants set frozen_at = now(), frozen_for = $2 where id = $1', [
      stack.tenant,
      WHY,
    ]);
    const refused = await stack.ask('POST', '/v1/sessions/unseen/messages', { body: { text: 'hello' } });
    assert.deepEqual([refused.status, refused.body.code], [503, 'TenantFrozen']);
    const { rows } = await stack.pool.query(`select from sessions where tenant_id = $1 and key = 'unseen'`, [
      stack.tenant,
    ]);
    assert.equal(rows.length, 0);
    await thaw();
  });

  it('starts no turn, whoever sends it, until it is thawed', async () => {
    await freeze();
    const { turn_id } = await stack.worker.say('waits', 'hello');
    const { workflow } = stack.worker.client;
    await stack.worker.until('an attempt that waits', async () => {
      const { raw } = await workflow.getHandle(`session/${stack.tenant}/waits`).describe();
      const [pending] = raw.pendingActivities ?? [];
      return /is frozen/.test(pending?.lastFailure?.message ?? '') ? true : undefined;
    });
    assert.deepEqual(await stack.worker.turns('waits'), []);
    await thaw();
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
  });

  it('lets a turn that runs go on, and keeps its approval as it is', async () => {
    const { turn_id } = await stack.worker.say('asks', 'poke {"note":"once"}');
    const approval = await stack.worker.approvalOf('asks');
    await freeze();
    const db = forTenant(stack.pool, stack.tenant);
    const denied = { tenant: stack.tenant, id: approval, status: 'denied', by: 'ann', key: 'k' } as const;
    await assert.rejects(settleApproval(db, denied), { type: 'TenantFrozen' });
    const handle = stack.worker.client.workflow.getHandle(`approval/${approval}`);
    await handle.signal(APPROVAL.signals.decide, { decision: 'approve' });
    const { rows } = await stack.pool.query('select status from approvals where id = $1', [approval]);
    assert.deepEqual(rows, [{ status: 'pending' }]);
    await thaw();
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    assert.equal(stack.worker.probes.effects.filter(({ note }) => note === 'once').length, 1);
  });

  it('is passed over by the search for lost work', async () => {
    await stack.worker.say('lost', 'poke {"note":"never"}');
    const approval = await stack.worker.approvalOf('lost');
    const { workflow } = stack.worker.client;
    await freeze();
    for (const id of [`session/${stack.tenant}/lost`, `approval/${approval}`])
      await workflow.getHandle(id).terminate('lost');
    const sweep = (name: string): Promise<unknown> =>
      workflow.execute(SWEEP.type, {
        workflowId: `${sweepId(stack.worker.taskQueue)}/${name}`,
        taskQueue: stack.worker.taskQueue,
      });
    await stack.pool.query(
      `update turns set created_at = now() - interval '1 hour' where session_key = 'lost'`,
    );
    await sweep('passes');
    const [turn] = await stack.worker.turns('lost');
    assert.equal(turn?.status, 'waiting_approval');
    await thaw();
    await sweep('finds');
    assert.equal((await stack.worker.ended(turn?.id ?? '')).status, 'failed');
  });
});
