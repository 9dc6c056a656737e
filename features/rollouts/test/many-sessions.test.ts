/**
 * DU-10: many sessions have turns while a rollout starts, grows, shrinks, is put back, starts again and is finished. Each
 * turn's revision follows from the rollout as it was when the turn started, and every turn completes.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Stack, startStack } from '#test/support/stack.ts';

const SESSIONS = Number(process.env['TEST_TURNS'] ?? 12);
/** A turn that starts this close to a change may have either state: both have the time of their transaction's begin. */
const CLOSE_MS = 1_000;

interface State {
  readonly at: number;
  readonly revision: number;
  /** Undefined outside a rollout. */
  readonly rollout?: object;
}

describe('DU-10 sessions in a rollout', { timeout: 300_000 }, () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ agents: [{ key: 'many', tools: {} }] });
  });
  after(() => stack?.stop());

  it('each turn has the revision that the state at its start explains, and none is lost', async () => {
    const states: State[] = [{ at: 0, revision: 1 }];
    const request = async (method: string, path: string, body: object): Promise<void> => {
      const answer = await stack.ask(method, path, { body });
      assert.ok(answer.status < 300, JSON.stringify(answer.body));
      const { rows } = await stack.pool.query<{ revision: number; rollout: object | null; at: Date }>(
        `select a.revision, a.rollout, (select max(changed_at) from rollout_changes) as at from agents a where key = 'many'`,
      );
      const [row] = rows;
      assert.ok(row);
      const { revision, rollout, at } = row;
      states.push({ at: Number(at), revision, ...(rollout && { rollout }) });
      // Until each session may have had a turn that this state alone explains.
      const since = new Date(Number(at) + CLOSE_MS);
      await stack.worker.until('turns of every session', async () => {
        const turned = await stack.pool.query(
          `select from turns where started_at > $1 group by session_key having bool_or(ended_at is not null)`,
          [since],
        );
        return turned.rowCount === SESSIONS ? true : undefined;
      });
      // The next change must not be close to them.
      await sleep(CLOSE_MS);
    };
    const over = new AbortController();
    const talk = async (n: number): Promise<number> => {
      let turns = 0;
      while (!over.signal.aborted) {
        const user = n % 3 === 0 ? { user: `user-${n}` } : {};
        const { turn_id } = await stack.worker.say(`session-${n}`, 'datetime {}', { agent: 'many', ...user });
        assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
        turns += 1;
        await sleep(100);
      }
      return turns;
    };
    const talks = Array.from({ length: SESSIONS }, (_, n) => talk(n));
    await sleep(CLOSE_MS);
    await request('POST', '/v1/rollouts', {
      agent: 'many',
      share: 20,
      sessions: ['session-1'],
      change: { name: 'Two' },
    });
    await request('PATCH', '/v1/rollouts/many', { share: 60 });
    await request('PATCH', '/v1/rollouts/many', { share: 5 });
    await request('POST', '/v1/rollouts/many/back', {});
    await request('POST', '/v1/rollouts', { agent: 'many', revision: 2, share: 50 });
    await request('POST', '/v1/rollouts/many/finish', {});
    over.abort();
    const turns = (await Promise.all(talks)).reduce((sum, count) => sum + count, 0);

    const { rows } = await stack.pool.query<{
      session: string;
      user: string | null;
      at: Date;
      revision: number;
    }>(
      `select t.session_key as session, s.user_id as user, t.started_at as at, t.agent_revision as revision
       from turns t join sessions s on s.key = t.session_key where t.agent_key = 'many' order by t.started_at`,
    );
    assert.equal(rows.length, turns);
    const seen = new Set<string>();
    const kept = new Map<string, number>();
    for (const { session, user, at, revision } of rows) {
      const time = Number(at);
      const after = states.findLastIndex((state) => state.at <= time + CLOSE_MS);
      const before = states.findLastIndex((state) => state.at <= time - CLOSE_MS);
      const possible = await Promise.all(
        states.slice(before, after + 1).map(async (state, n) => {
          if (!state.rollout) return state.revision;
          const { rows: found } = await stack.pool.query<{ is: boolean }>(
            `select is_in_rollout($1, 'many', $2, $3) as is`,
            [JSON.stringify(state.rollout), session, user],
          );
          // Since the rollout began, this session has had its revision.
          const hadIt = (kept.get(session) ?? -1) >= firstOf(states, before + n);
          return found[0]?.is || hadIt ? 2 : state.revision;
        }),
      );
      assert.ok(
        possible.includes(revision),
        `${session} at ${at.toISOString()}: ${revision}, not ${possible.join()}`,
      );
      if (revision === 2 && states[before]?.rollout) kept.set(session, before);
      if (before === after) seen.add(`${before} ${revision}`);
    }
    // The share was neither nobody nor everybody.
    for (const expected of ['1 1', '1 2', '2 2', '3 1', '3 2', '4 1', '5 1', '5 2', '6 2'])
      assert.ok(seen.has(expected), `${expected} of ${[...seen].join()}`);
    assert.ok(!seen.has('4 2') && !seen.has('6 1'));
  });
});

/** The state with which the rollout of a state began. */
function firstOf(states: readonly State[], at: number): number {
  let first = at;
  while (states[first - 1]?.rollout) first -= 1;
  return first;
}
