/**
 * SA-1, DU-1: kill -9 of the worker that is ending what an idle session has left running; the next one ends the rest.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createStand, type Stand } from '#test/support/faults.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);

describe('DU-1 kill -9 while all of an idle session is stopped', { timeout: 600_000 }, () => {
  let stand: Stand;
  before(async () => {
    stand = await createStand({ workers: 1 });
  });
  after(() => stand?.close());

  async function oneRound(round: number): Promise<void> {
    const [tenant] = stand.tenants;
    const session = `left-${round}`;
    // The file is in the workspace of its session, the only one that its command sees.
    const isThere = (name: string): boolean =>
      readdirSync(join(stand.folder, 'workspaces'), { recursive: true }).some(
        (path) => basename(String(path)) === name,
      );
    const [file, mark] = [`${stand.witnessFile}-${round}`, uniqueSeconds()];
    // It ignores SIGTERM, so that its end takes as long as the grace. The reader of its output does end.
    const command = `exec >/dev/null 2>&1; trap 'touch ${file}.told' TERM; touch ${file}; while :; do sleep 0.1; done; echo ${mark}`;
    const text = `exec ${JSON.stringify({ command, background: true })}\nthen\nLeft.`;
    const turn = await stand.say(tenant, session, session, { text });
    await stand.until(`the end of ${turn}`, async () => {
      const { rowCount } = await stand.pool.query(
        `select 1 from turns where tenant_id = $1 and id = $2 and status = 'completed'`,
        [tenant.id, turn],
      );
      return rowCount ? true : undefined;
    });
    assert.ok(await eventually(() => isThere(file)), 'the command runs');
    const stopped = await stand.ask(tenant, 'POST', `/v1/sessions/${session}/stop`, {
      body: { level: 'all' },
    });
    assert.equal(stopped?.status, 202);
    assert.ok(await eventually(() => isThere(`${file}.told`)), 'it is being ended');
    for (const worker of stand.workers) await worker.kill();
    assert.notDeepEqual(runningWith(mark), [], 'it outlives the worker');
    for (const worker of stand.workers) await worker.start();
    assert.ok(await eventually(() => runningWith(mark).length === 0), 'it is gone');
    const handle = (await stand.client()).workflow.getHandle(`session/${tenant.id}/${session}`);
    assert.equal(((await handle.result()) as { status: string }).status, 'stopped');
  }

  for (let round = 1; round <= ROUNDS; round += 1)
    it(`round ${round}: the command ends and the run with it`, () => oneRound(round));
});
