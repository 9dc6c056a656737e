/**
 * DU-6, DU-1: kill -9 of every worker while a recording is replayed. The replay is the same, and no command runs. The
 * session itself lost its worker in a command, so its outcome is unknown in the recording too.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '#cli/client.ts';
import { recordSession } from '#features/recordings/commands/record.ts';
import { runReplay } from '#features/recordings/run-replay.ts';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 2);
/** Steps after the command that is lost; each is a commit that a kill may precede or follow. */
const STEPS = 20;

describe('DU-6 kill -9 of all workers under a replay', { timeout: 900_000 }, () => {
  let stand: Stand;
  let tenant: Tenant;
  const chance = createChance(seedOfRun());
  before(async () => {
    stand = await createStand({ workers: 2 });
    [tenant] = stand.tenants;
  });
  after(() => stand?.close());

  async function killAll(): Promise<void> {
    await Promise.all(stand.workers.map((worker) => worker.kill()));
    await Promise.all(stand.workers.map((worker) => worker.start()));
  }
  const exec = (command: string): string => `exec ${JSON.stringify({ command })}`;
  const callsOf = async (session: string): Promise<unknown[]> =>
    (
      await stand.pool.query(
        `select c.tool, c.args, c.ok, c.code, c.result from tool_calls c
          where c.tenant_id = $1 and c.session_key = $2 order by c.step, c.index`,
        [tenant.id, session],
      )
    ).rows;

  it('reproduces the session, and runs nothing', async () => {
    const lines = [exec(`echo lost >> ${stand.witnessFile}; sleep 30`)];
    for (let step = 0; step < STEPS; step++) lines.push(exec(`echo ${step} >> ${stand.witnessFile}`));
    const turn = await stand.say(tenant, 'lost', 'lost', { text: [...lines, 'Done.'].join('\nthen\n') });
    await stand.until('the command', async () =>
      (await stand.effects()).includes('lost') ? true : undefined,
    );
    await killAll();
    await stand.until('the end of the turn', async () => {
      const { rows } = await stand.pool.query('select status from turns where tenant_id = $1 and id = $2', [
        tenant.id,
        turn,
      ]);
      return rows[0]?.status === 'completed' ? true : undefined;
    });

    const target = { url: stand.apiUrl, key: tenant.key, socket: undefined, source: 'test', run: undefined };
    const client = createClient(target);
    const recording = await recordSession(client, 'lost');
    assert.equal(recording.turns[0]?.steps[0]?.calls[0]?.code, 'OutcomeUnknown');
    const effects = await stand.effects();
    for (let round = 0; round < ROUNDS; round++) {
      const replaying = Promise.all([
        runReplay(client, recording, 'compare'),
        runReplay(client, recording, 'compare'),
      ]);
      await sleep(chance.between(0, 1_500));
      await killAll();
      for (const { difference, session } of await replaying) {
        assert.equal(difference, null);
        assert.deepEqual(await callsOf(session), await callsOf('lost'));
      }
    }
    assert.deepEqual(await stand.effects(), effects);
  });
});
