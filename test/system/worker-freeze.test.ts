/**
 * A worker is suspended for longer than anything waits for it (a paused machine, a long swap), in the middle of steps
 * within a workflow task. Later it continues as if nothing had happened. Another worker has done its tasks by then,
 * with the messages that came in the meantime.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sessionWorkflowId } from '#domain/ids.ts';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
/** In each round; n is their product. */
const SESSIONS = 8;
/** A workflow task goes to another worker after ten seconds, an activity after four. */
const FROZEN_MS = 13_000;

/** A model that answers soon, but not at once: the chain of its steps ends workflow tasks while it thinks. */
const PACED = 'delay: 80ms\nrules:\n  - reply: { follow: user }\n';

describe('F2 a worker that stands still and goes on later', { timeout: 600_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  before(async () => {
    stand = await createStand({
      workers: 2,
      scripts: { paced: PACED },
      agents: [
        { key: 'paced', type: 'open', model: 'rehearsal/paced', exec: { security: 'full', ask: 'off' } },
      ],
    });
  });
  after(() => stand?.close());

  const writing = (token: string): string =>
    `exec ${JSON.stringify({ command: `echo ${token} >> ${stand.witnessFile}` })}`;

  async function say(session: string, tenant: Tenant, token: string, text: string): Promise<void> {
    const body = { text: `${text}\nthen\n${token}`, agent: 'paced', mode: 'steer' };
    const turn = await stand.say(tenant, session, token, body);
    accepted.push({ tenant, session, turn, token });
  }

  /** Enough steps to last until the worker is suspended, including the effect. */
  async function begin(n: number, token: string): Promise<{ session: string; tenant: Tenant }> {
    const tenant = stand.tenants[n % 2] as Tenant;
    const session = `of-${token}`;
    // Each is different, because identical calls would count as a loop.
    const steps = Array.from({ length: 14 }, (_, at) =>
      at === 7 ? writing(token) : `exec {"command":"sleep 0.0${20 + at}"}`,
    );
    await say(session, tenant, token, steps.join('\nthen\n'));
    return { session, tenant };
  }

  async function freeze(pid: number | undefined): Promise<void> {
    if (pid === undefined) throw new Error('the worker does not run');
    process.kill(pid, 'SIGSTOP');
    await sleep(FROZEN_MS);
    process.kill(pid, 'SIGCONT');
  }

  it(`${ROUNDS} rounds of ${SESSIONS} turns with a word more for each: all that was accepted ends`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    for (let round = 0; round < ROUNDS; round += 1) {
      const sessions = await Promise.all(
        Array.from({ length: SESSIONS }, (_, n) => begin(n, `first-${round}-${n}`)),
      );
      await sleep(chance.between(100, 600));
      const frozen = freeze(stand.workers[round % 2]?.pid);
      await Promise.all(
        sessions.map(async ({ session, tenant }, n) => {
          await sleep(chance.between(0, 3_000));
          const token = `second-${round}-${n}`;
          await say(session, tenant, token, writing(token));
        }),
      );
      await frozen;
      await untilAllEnded(stand, accepted);
    }
  });

  it('tasks of the worker were given to the other one', async () => {
    const client = await stand.client();
    const late = await Promise.all(
      accepted.map(async ({ tenant, session }) => {
        const { events } = await client.workflow
          .getHandle(sessionWorkflowId(tenant.id, session))
          .fetchHistory();
        return (events ?? []).filter(({ workflowTaskTimedOutEventAttributes: timedOut }) => timedOut).length;
      }),
    );
    assert.ok(late.some((count) => count > 0));
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));

  it('what was said meanwhile was done, each once', async () => {
    const effects = await stand.effects();
    for (const { token } of accepted.filter((message) => message.token.startsWith('second')))
      assert.equal(effects.filter((line) => line === token).length, 1, token);
  });
});
