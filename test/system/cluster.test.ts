/**
 * Two API processes and four workers on one Temporal and one Postgres. Both APIs show the same, Temporal's filters find
 * what people search for, and the death of one of each loses nothing.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { nextFreePort } from '@tempoclaw/dev-services/processes';
import { createStand, type Reply, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
/** In each round, how many run, and how many wait for a decision. */
const EACH = 8;
const DECISIONS = 10;

describe('two API processes and four workers', { timeout: 900_000 }, () => {
  let stand: Stand;
  let metricsUrl: string;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  before(async () => {
    const asks = { type: 'open', model: 'rehearsal/follow', tools: { ask: [{ tool: 'exec' }] } } as const;
    const metricsPort = await nextFreePort(0);
    metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
    stand = await createStand({
      workers: 4,
      apis: 2,
      agents: [{ ...asks, key: 'asks' }],
      workerSettings: (worker): Record<string, string> =>
        worker === 0 ? { TEMPOCLAW_WORKER_METRICS: `127.0.0.1:${metricsPort}` } : {},
    });
  });
  after(() => stand?.close());

  async function say(token: string, n: number, agent: 'main' | 'asks'): Promise<Accepted> {
    const tenant = stand.tenants[n % 2] as Tenant;
    const id = `${tenant.id}-${token}`;
    const text = `exec ${JSON.stringify({ command: `sleep 0.${chance.between(0, 9)}; echo ${id} >> ${stand.witnessFile}` })}`;
    const body = { text, agent };
    // Both get the same request at once, as from a client behind a load balancer that repeats it.
    const replies = await Promise.all(
      [0, 1].map((api) =>
        stand.ask(tenant, 'POST', `/v1/sessions/${id}/messages`, { body, idempotencyKey: id, api }),
      ),
    );
    const turn = await stand.say(tenant, id, id, body);
    for (const reply of replies) {
      if (reply?.status === 200 || reply?.status === 202) assert.equal(reply.body['turn_id'], turn);
      else assert.equal(reply?.status, 409, JSON.stringify(reply?.body));
    }
    const message = { tenant, session: id, turn, token: id };
    accepted.push(message);
    return message;
  }

  async function approvalOf({ tenant, turn }: Accepted): Promise<string> {
    return stand.until(`the approval of ${turn}`, async () => {
      const reply = await stand.ask(tenant, 'GET', `/v1/approvals?turn_id=${turn}`);
      return ((reply?.body['data'] ?? []) as { id: string }[])[0]?.id;
    });
  }

  async function found(query: string): Promise<readonly string[]> {
    const client = await stand.client();
    const ids: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
    return ids.sort();
  }

  async function isFound(messages: readonly Accepted[], query: string): Promise<void> {
    const expected = messages.map(({ tenant, session }) => `session/${tenant.id}/${session}`).sort();
    await stand.until(`${query} finding ${expected.length}`, async () => {
      const ids = await found(query);
      return ids.length === expected.length && ids.every((id, n) => id === expected[n]) ? ids : undefined;
    });
  }

  it(`IN-5 each turn that waits is found by what it waits for, and one decision counts (${ROUNDS} rounds)`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    for (let round = 0; round < ROUNDS; round += 1) {
      const waiting = await Promise.all(
        Array.from({ length: EACH }, (_, n) => say(`waits-${round}-${n}`, n, 'asks')),
      );
      const approvals = await Promise.all(waiting.map(approvalOf));
      const open = `TempoclawState = 'waiting_approval' and ExecutionStatus = 'Running' and WorkflowType = 'agentTurn'`;
      await isFound(waiting, open);
      const { id } = stand.tenants[1];
      await isFound(
        waiting.filter(({ tenant }) => tenant.id === id),
        `${open} and TempoclawTenant = '${id}' and TempoclawAgent = 'asks'`,
      );
      await Promise.all(waiting.map((message, n) => decideAtBoth(message, approvals[n] ?? '')));
      await untilAllEnded(stand, waiting);
      await isFound([], open);
    }
  });

  async function decideAtBoth({ tenant }: Accepted, approval: string): Promise<void> {
    const replies: (Reply | undefined)[] = await Promise.all(
      Array.from({ length: DECISIONS }, (_, n) =>
        stand.ask(tenant, 'POST', `/v1/approvals/${approval}/decision`, {
          body: { decision: 'approve' },
          api: n % 2,
        }),
      ),
    );
    for (const reply of replies) assert.equal(reply?.status, 200, JSON.stringify(reply?.body));
    const winners = replies.filter((reply) => reply?.body['already'] !== true);
    assert.equal(winners.length, 1, `${winners.length} of ${DECISIONS} decided`);
  }

  it(`kill -9 of a worker and of an API under ${EACH} turns, ${ROUNDS} rounds: all that was accepted ends`, async (t) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const running = await Promise.all(
        Array.from({ length: EACH }, (_, n) => say(`runs-${round}-${n}`, n, 'main')),
      );
      const worker = stand.workers[chance.between(0, stand.workers.length - 1)];
      // The rest of the test calls the first one.
      const api = stand.apis[1];
      await Promise.all([worker?.kill(), api?.kill()]);
      await Promise.all([worker?.start(), api?.start()]);
      await untilAllEnded(stand, running);
    }
    const n = accepted.length;
    t.diagnostic(`n = ${n} turns, 0 failures bound the rate at 3/n = ${(3 / n).toFixed(2)}`);
  });

  it("DU-12 a worker with an address for metrics serves the SDK's, for Prometheus", async () => {
    const text = await (await fetch(metricsUrl)).text();
    assert.match(text, /^temporal_worker_task_slots_available\{.*worker_type="ActivityWorker".*\} \d+$/m);
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
