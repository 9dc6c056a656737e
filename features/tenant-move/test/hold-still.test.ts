/** A tenant becomes still: what waits is parked and goes on whole, and what cannot wait is named. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { readFreeze, thawTenant } from '#store/tenant-freeze.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { exportTenant } from '../export-tenant.ts';
import { goOn } from '../go-on.ts';
import { holdStill } from '../hold-still.ts';
import type { Installation } from '../installation.ts';
import type { MovedObjects } from '../moved-objects.ts';
import { alone } from '../store/alone.ts';
import { openInstallation } from './two-installations.ts';

const WHY = 'a test holds it still';

describe('a tenant that is held still', () => {
  let stack: Stack;
  let at: Installation;
  const lines: string[] = [];
  before(async () => {
    stack = await startStack();
    at = await openInstallation(stack, join(stack.worker.workspaceRoot, '..', 'artifacts'), lines);
  });
  after(() => stack.stop());

  const hold = (waitSeconds: number) => holdStill(at, stack.tenant, { why: WHY, waitSeconds });
  const frozenFor = async () => (await readFreeze(forTenant(stack.pool, stack.tenant)))?.frozen_for;
  const decide = (id: string, decision: string) =>
    stack.worker.until('the decision', async () => {
      const { status } = await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision } });
      return status === 200 ? true : undefined;
    });
  const effects = (note: string): number =>
    stack.worker.probes.effects.filter((effect) => effect.note === note).length;

  it('names a turn that does not end in time, and takes new work again', async () => {
    const { turn_id } = await stack.worker.say('long', 'hold {"note":"long"}');
    await stack.worker.probes.untilHeld('long');
    await assert.rejects(hold(0), {
      code: 'NotStill',
      message: new RegExp(`${turn_id} of the session long`),
    });
    assert.equal(await frozenFor(), null);
    stack.worker.probes.release('long');
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
  });

  it('names work that an agent has given to another and that waits for a decision', async () => {
    const task = { action: 'run', task: 'poke {"note":"below"}' };
    await stack.worker.say('gives', `spawn ${JSON.stringify(task)}`);
    const approval = await stack.worker.until('the question of the subagent', async () => {
      const { body } = await stack.ask('GET', '/v1/approvals?status=pending');
      return body.data[0]?.id as string | undefined;
    });
    await assert.rejects(hold(0), { code: 'NotStill', message: /the subagent .*given to another/ });
    assert.equal(await frozenFor(), null);
    await decide(approval, 'approve');
    await stack.worker.until('the end of all turns', async () => {
      const { rows } = await stack.pool.query('select from turns where ended_at is null');
      return rows.length === 0 ? true : undefined;
    });
  });

  it('goes on with the step that waits, with what was said meanwhile, and repeats no call', async () => {
    const first = await stack.worker.say(
      'desk',
      'mark {"note":"beside"}\npoke {"note":"asked"}\nthen\nDone.',
    );
    const approval = await stack.worker.approvalOf('desk');
    await stack.worker.until('the call beside it', () => (effects('beside') === 1 ? true : undefined));
    await stack.worker.say('desk', 'read this with the next step', { mode: 'steer' });
    const second = await stack.worker.say('desk', 'the next turn');
    await hold(60);
    assert.equal(await frozenFor(), WHY);
    const query = `TempoclawTenant = '${stack.tenant}' and ExecutionStatus = 'Running'`;
    for await (const run of stack.worker.client.workflow.list({ query }))
      assert.fail(`${run.workflowId} runs`);
    const parked = await stack.pool.query('select * from parked_sessions');
    assert.equal(parked.rows.length, 1);
    assert.ok(!JSON.stringify(parked.rows).includes('next turn'));
    // Both are safe to repeat.
    await hold(60);
    assert.equal(await goOn(at, stack.tenant), 1);
    assert.equal(await goOn(at, stack.tenant), 0);
    assert.equal(await frozenFor(), null);
    await decide(approval, 'approve');
    for (const { turn_id } of [first, second])
      assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    assert.deepEqual([effects('beside'), effects('asked')], [1, 1]);
    const messages = await stack.worker.heard('desk');
    assert.deepEqual(
      messages.map(({ turn_id, text }) => [turn_id, text.split('\n')[0]]),
      [
        [first.turn_id, 'mark {"note":"beside"}'],
        [first.turn_id, 'read this with the next step'],
        [second.turn_id, 'the next turn'],
      ],
    );
  });

  it('ends the wait when somebody unfreezes it', async () => {
    const { turn_id } = await stack.worker.say('waits', 'hold {"note":"waits"}');
    await stack.worker.probes.untilHeld('waits');
    const [holding, isFrozen] = [hold(600), async () => (await frozenFor()) === WHY || undefined];
    await Promise.race([stack.worker.until('the freeze', isFrozen), holding]);
    const refused = assert.rejects(holding, { code: 'NotStill', message: /was unfrozen meanwhile/ });
    await goOn(at, stack.tenant);
    await refused;
    assert.equal(await frozenFor(), null);
    stack.worker.probes.release('waits');
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
  });

  it('is unfrozen whole while it is parked: after that, or before anything of it is', async () => {
    const { turn_id } = await stack.worker.say('both', 'poke {"note":"both"}');
    const approval = await stack.worker.approvalOf('both');
    const unfreezing: Promise<number>[] = [];
    const endRuns: typeof at.temporal.endRuns = async (...runs) => {
      unfreezing.push(goOn(at, stack.tenant));
      await Promise.race([...unfreezing, sleep(1_000)]);
      return at.temporal.endRuns(...runs);
    };
    const options = { why: WHY, waitSeconds: 60 };
    await holdStill({ ...at, temporal: { ...at.temporal, endRuns } }, stack.tenant, options);
    assert.deepEqual(await Promise.all(unfreezing), [1]);

    let holding: Promise<unknown> = Promise.resolve();
    await alone(at.databaseUrl, stack.tenant, async () => {
      holding = assert.rejects(hold(60), { code: 'NotStill', message: /was unfrozen meanwhile/ });
      await stack.worker.until('it to wait for its turn', async () => {
        const { rows } = await stack.pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
        );
        return rows.length > 0 ? true : undefined;
      });
      await thawTenant(forTenant(stack.pool, stack.tenant));
    });
    await holding;
    assert.deepEqual((await stack.pool.query('select from parked_sessions')).rows, []);
    await decide(approval, 'approve');
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    assert.equal(effects('both'), 1);
  });

  it('gives no file of a tenant that is unfrozen while the file is written', async () => {
    const place: MovedObjects = {
      name: 'slow',
      async *list() {
        await goOn(at, stack.tenant);
        yield* [];
      },
      read: () => assert.fail('there is none'),
      write: () => assert.fail('nothing is written'),
    };
    const file = join(stack.worker.workspaceRoot, '..', 'unfrozen');
    const exporting = exportTenant({ ...at, objects: [place] }, stack.tenant, file, 'a numbat in a move', {
      why: WHY,
      waitSeconds: 60,
    });
    await assert.rejects(exporting, { code: 'NotStill', message: /was unfrozen meanwhile/ });
    assert.equal(existsSync(file), false);
  });
});
