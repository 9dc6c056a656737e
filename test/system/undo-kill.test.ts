/**
 * DU-9: turns are undone while workers are killed with SIGKILL: each reversible effect is reversed exactly once, none is
 * invented, and what cannot be reversed is named.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const TURNS = Number(process.env['TEST_TURNS'] ?? 20);
/** Turns that are undone between two kills. */
const PER_KILL = 10;

interface UndoneCall {
  readonly tool: string;
  readonly action: string;
}

describe('DU-9 kill -9 of workers that undo', { timeout: 900_000 }, () => {
  let stand: Stand;
  let tenant: Tenant;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  before(async () => {
    stand = await createStand({ workers: 2 });
    tenant = stand.tenants[0];
  });
  after(() => stand?.close());

  const write = (path: string, content: string): string => `write_file ${JSON.stringify({ path, content })}`;
  const edit = (path: string, old_string: string, new_string: string): string =>
    `edit ${JSON.stringify({ path, old_string, new_string })}`;

  async function say(n: number, token: string, steps: readonly string[]): Promise<void> {
    const session = `undo-${n}`;
    const turn = await stand.say(tenant, session, token, { text: [...steps, token].join('\nthen\n') });
    accepted.push({ tenant, session, turn, token });
  }
  const turnOf = (token: string): string => accepted.find((one) => one.token === token)?.turn ?? '';
  async function textOf(path: string): Promise<string | undefined> {
    const answer = await fetch(`${stand.apiUrl}/v1/agents/main/workspace/${path}`, {
      headers: { authorization: `Bearer ${tenant.key}` },
    });
    return answer.status === 404 ? undefined : answer.text();
  }
  async function undone(n: number): Promise<readonly UndoneCall[] | undefined> {
    const path = `/v1/turns/${turnOf(`change-${n}`)}/undo`;
    const answer = await stand.ask(tenant, 'POST', `${path}?wait=0`, { body: {} });
    if (!answer || answer.status >= 500 || answer.status === 409) return undefined;
    const calls = answer.body['calls'] as readonly UndoneCall[];
    return calls.some(({ action }) => action === 'reverse' || action === 'running') ? undefined : calls;
  }

  it(`${TURNS} turns are undone through a kill for each ${PER_KILL}`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    for (let n = 0; n < TURNS; n += 1)
      await say(n, `first-${n}`, [write(`old-${n}.txt`, `one two of ${n} turns`)]);
    await untilAllEnded(stand, accepted);
    for (let n = 0; n < TURNS; n += 1)
      await say(n, `change-${n}`, [
        edit(`old-${n}.txt`, 'one', 'eins'),
        write(`new-${n}.txt`, 'new'),
        edit(`old-${n}.txt`, 'two', 'zwei'),
        `exec ${JSON.stringify({ command: `echo change-${n} >> ${stand.witnessFile}` })}`,
        write(`old-${n}.txt`, 'all of it'),
      ]);
    await untilAllEnded(stand, accepted);
    for (let first = 0; first < TURNS; first += PER_KILL) {
      const some = Array.from({ length: Math.min(PER_KILL, TURNS - first) }, (_, at) => first + at);
      const all = Promise.all(some.map((n) => stand.until(`the undo of ${n}`, () => undone(n))));
      const worker = stand.workers[chance.between(0, 1)];
      await sleep(chance.between(0, 400));
      await worker?.kill();
      await worker?.start();
      for (const calls of await all)
        assert.deepEqual(
          calls.map(({ tool, action }) => `${tool} ${action}`),
          [
            'write_file reversed',
            'exec irreversible',
            'edit reversed',
            'write_file reversed',
            'edit reversed',
          ],
        );
    }
  });

  it('all files are as before, and each call was reversed by one call', async () => {
    for (let n = 0; n < TURNS; n += 1) {
      assert.equal(await textOf(`old-${n}.txt`), `one two of ${n} turns`);
      assert.equal(await textOf(`new-${n}.txt`), undefined);
    }
    const { rows } = await stand.pool.query<{ claims: number; made: number }>(
      `select (select count(*)::int from undone_calls) as claims,
         (select count(*)::int from tool_calls c join undone_calls u on u.undo_turn_id = c.turn_id and u.undo_call_id = c.id
          where c.ok) as made`,
    );
    assert.deepEqual(rows, [{ claims: TURNS * 4, made: TURNS * 4 }]);
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
