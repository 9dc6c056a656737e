/**
 * F10, DU-10: workers of one build are replaced by workers of another, and back again, while turns run on them. Their code
 * differs, so each build replays and ends what the other started.
 */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { changeFile, makeOtherBuild } from '#test/support/other-build.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import type { Killable } from '#test/support/worker-process.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 2);
/** Turns that start before each change of builds; n is their product. */
const TURNS = Number(process.env['TEST_TURNS'] ?? 8);

describe('F10 DU-5 DU-10 a rolling upgrade under turns', { timeout: 600_000 }, () => {
  let stand: Stand;
  let folder: string;
  let builds: readonly [Killable, Killable];
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  before(async () => {
    folder = await makeOtherBuild();
    // Its workflows differ in a way that replay allows: other limits.
    await changeFile(join(folder, 'workflows', 'steps', 'run-limits.ts'), {
      'events: 3_000': 'events: 2_500',
      'messages: 1_000': 'messages: 900',
    });
    stand = await createStand({
      workers: 1,
      agents: [
        { key: 'asks', type: 'open', model: 'rehearsal/follow', exec: { security: 'full', ask: 'always' } },
      ],
    });
    builds = [stand.workers[0] as Killable, stand.workerOf(folder)];
  });
  after(async () => {
    await builds?.[1].stop();
    await stand?.close();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  async function begin(round: number, n: number): Promise<Accepted> {
    const tenant = stand.tenants[n % 2] as Tenant;
    const token = `${tenant.id}-rolling-${round}-${n}`;
    const write = `exec ${JSON.stringify({ command: `sleep 0.${chance.between(0, 9)}; echo ${token} >> ${stand.witnessFile}` })}`;
    const steps = Array.from({ length: 5 }, (_, zone) => `datetime {"timezone":"Etc/GMT+${zone}"}`);
    const texts = [
      [...steps, write, ...steps, 'wait {"timeMs":1500,"reason":"tea"}', ...steps],
      ['wait {"timeMs":2500,"reason":"tea"}', ...steps, write],
    ];
    const asks = n % 3 === 2;
    const text = asks ? write : (texts[n % 2] as string[]).join('\nthen\n');
    const turn = await stand.say(tenant, token, token, { text, agent: asks ? 'asks' : 'main' });
    const message = { tenant, session: token, turn, token };
    accepted.push(message);
    return message;
  }

  async function approve({ tenant, turn }: Accepted): Promise<void> {
    const reply = await stand.until(`a decision for ${turn}`, async () => {
      const list = await stand.ask(tenant, 'GET', `/v1/approvals?turn_id=${turn}`);
      const [first] = (list?.body['data'] ?? []) as { id: string }[];
      if (!first) return undefined;
      const body = { decision: 'approve' };
      const answer = await stand.ask(tenant, 'POST', `/v1/approvals/${first.id}/decision`, { body });
      return answer && answer.status < 500 ? answer : undefined;
    });
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
  }

  /** In both tenants, whose turns run on. */
  async function roll(method: string, path: string, body: object): Promise<void> {
    for (const tenant of stand.tenants) {
      const answer = await stand.ask(tenant, method, path, { body });
      assert.ok(answer && answer.status < 300, JSON.stringify(answer?.body));
    }
  }

  it(`${ROUNDS} changes with ${TURNS} turns open at each: all of them end on the other build`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    for (let round = 0; round < ROUNDS; round += 1) {
      const [old, next] = round % 2 === 0 ? builds : [builds[1], builds[0]];
      const half = Math.floor(TURNS / 2);
      const before = await Promise.all(Array.from({ length: half }, (_, n) => begin(round, n)));
      await roll('POST', '/v1/rollouts', { agent: 'main', share: 50, change: { name: `Round ${round}` } });
      const during = Array.from({ length: TURNS - half }, (_, n) => begin(round, half + n));
      const running = [...before, ...(await Promise.all(during))];
      await sleep(chance.between(0, 1_000));
      // As in docs/operations.md, the new one runs before the old one is ended.
      await next.start();
      await old.stop();
      await roll('POST', `/v1/rollouts/main/${round % 2 === 0 ? 'finish' : 'back'}`, {});
      await Promise.all(running.filter((_, n) => n % 3 === 2).map(approve));
      await untilAllEnded(stand, running);
    }
    t.diagnostic(`n = ${accepted.length}`);
  });

  it('every turn completed, and no outcome is unknown: a worker that is asked to end lets its calls end', async () => {
    const { rows } = await stand.pool.query<{ status: string; error: string | null; code: string | null }>(
      `select distinct t.status, t.error ->> 'message' as error, c.code from turns t join tool_calls c on c.tenant_id = t.tenant_id and c.turn_id = t.id`,
    );
    assert.deepEqual(rows, [{ status: 'completed', error: null, code: null }]);
  });

  it('DU-10 turns of revisions before, in and after a rollout ran side by side, each with the one of its start', async () => {
    const { rows } = await stand.pool.query<{ turn: string; revision: number; possible: readonly number[] }>(
      `select t.id as turn, t.agent_revision as revision, array(select unnest(array[c.base, c.revision]) from rollout_changes c
          where c.tenant_id = t.tenant_id and c.agent_key = t.agent_key and c.action = 'start'
            and c.changed_at < t.started_at + interval '1 second' order by c.number desc limit 2) || 1 as possible
       from turns t where t.agent_key = 'main'`,
    );
    for (const { turn, revision, possible } of rows)
      assert.ok(possible.includes(revision), `${turn}: ${revision} of ${possible.join()}`);
    assert.ok(new Set(rows.map(({ revision }) => revision)).size > 1);
  });

  it('each build has done some of it', async () => {
    const client = await stand.client();
    const identities = new Set<string>();
    for (const { tenant, session } of accepted.slice(0, TURNS)) {
      const { events } = await client.workflow.getHandle(`session/${tenant.id}/${session}`).fetchHistory();
      for (const event of events ?? []) {
        const { identity } = event.workflowTaskStartedEventAttributes ?? {};
        if (identity) identities.add(identity);
      }
    }
    assert.equal(identities.size, 2, [...identities].join());
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
