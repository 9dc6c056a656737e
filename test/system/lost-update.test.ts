/**
 * F4: Temporal dies after an update's effect is recorded and before it knows of the update, and the API that sent it
 * dies too. The run acts on what was recorded, though nobody sends the update again.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

describe('F4 an update that Temporal forgets', { timeout: 600_000 }, () => {
  let stand: Stand;
  let tenant: Tenant;
  const accepted: Accepted[] = [];
  before(async () => {
    stand = await createStand({
      workers: 1,
      agents: [
        { key: 'asks', type: 'open', model: 'rehearsal/follow', exec: { security: 'full', ask: 'always' } },
      ],
    });
    tenant = stand.tenants[0];
  });
  after(() => stand?.close());

  /** Sends the request while the row is locked, kills both, and lets the worker write the row. */
  async function forgets(path: string, body: unknown, row: string, isWritten: string): Promise<void> {
    const lock = await stand.pool.connect();
    try {
      await lock.query('begin');
      await lock.query(`select 1 from ${row} for share`);
      const reply = stand.ask(tenant, 'POST', path, { body });
      await stand.until('the worker that waits for the row', async () => {
        const { rows } = await stand.pool.query(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'tempoclaw-worker'`,
        );
        return rows.length > 0 ? true : undefined;
      });
      await Promise.all([stand.temporal.kill(), stand.api.kill()]);
      await reply;
      await lock.query('commit');
    } finally {
      lock.release();
    }
    await stand.until('the row being written', async () => {
      const { rows } = await stand.pool.query(`select 1 from ${row} and ${isWritten}`);
      return rows.length > 0 ? true : undefined;
    });
    await Promise.all([stand.temporal.start(), stand.api.start()]);
  }

  it('AP-2 a decision: the call runs once', async () => {
    const command = `echo forgotten >> ${stand.witnessFile}`;
    const text = `exec ${JSON.stringify({ command })}`;
    const turn = await stand.say(tenant, 'decided', 'decided', { text, agent: 'asks' });
    const message = { tenant, session: 'decided', turn, token: 'forgotten' };
    accepted.push(message);
    const approval = await stand.until('its approval', async () => {
      const reply = await stand.ask(tenant, 'GET', `/v1/approvals?turn_id=${turn}`);
      return ((reply?.body['data'] ?? []) as { id: string }[])[0]?.id;
    });
    const row = `approvals where tenant_id = '${tenant.id}' and id = '${approval}'`;
    await forgets(`/v1/approvals/${approval}/decision`, { decision: 'approve' }, row, `status = 'approved'`);
    await untilAllEnded(stand, accepted);
    assert.deepEqual(await stand.effects(), ['forgotten']);
    await checkInvariants(stand, accepted);
  });

  it('TE-2 the assignment of a task: its member does it', async () => {
    const made = await stand.ask(tenant, 'POST', '/v1/teams', {
      body: { key: 'crew', lead: 'asks', members: ['main'] },
    });
    assert.equal(made?.status, 201, JSON.stringify(made?.body));
    const task = await stand.ask(tenant, 'POST', '/v1/teams/crew/tasks', {
      body: { subject: 'Forgotten', description: 'Done by its member.' },
    });
    assert.equal(task?.status, 201, JSON.stringify(task?.body));
    const row = `team_tasks where tenant_id = '${tenant.id}' and team_key = 'crew' and number = 1`;
    await forgets('/v1/teams/crew/tasks/1/assign', { assignee: 'main' }, row, `status <> 'pending'`);
    await stand.until('the end of the task', async () => {
      const reply = await stand.ask(tenant, 'GET', '/v1/teams/crew/tasks/1');
      return reply?.body['status'] === 'completed' ? true : undefined;
    });
  });
});
