/** DU-6: many recordings of real turns of varied shape, several at once. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type Chance, createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { createPlayer, type Player } from './support.ts';

const RECORDINGS = Number(process.env['TEST_RECORDINGS'] ?? 24);
const AT_ONCE = 5;

const json = JSON.stringify;
const write = (chance: Chance): string =>
  `write_file ${json({ path: `f${chance.between(1, 9)}.txt`, content: 'x'.repeat(chance.between(1, 3_000)) })}`;
/** A turn by its steps; `asks`: a person is asked once. */
const SHAPES: Readonly<Record<string, (chance: Chance) => readonly string[]>> = {
  'no tools': () => ['Hello.'],
  'several calls a step': (chance) => [
    `${write(chance)}\n${write(chance)}\nlist_files {"path":"."}`,
    'Done.',
  ],
  'several steps': (chance) => [write(chance), 'datetime {}', 'read_file {"path":"f1.txt"}', 'Done.'],
  'a failed call': () => ['read_file {"path":"none/none.txt"}', 'It is not there.'],
  'a call with wrong arguments': () => ['write_file {"path":5}', 'That was wrong.'],
  'arguments that are no JSON': () => ['write_file {"path":', 'That was wrong.'],
  'a tool that there is not': () => ['teleport {"to":"moon"}', 'I cannot.'],
  'a denied call': () => ['web_fetch {"url":"https://example.test/"}', 'It is not allowed.'],
  'a command': () => ['exec {"command":"echo one; exit 3"}', 'It failed.'],
  'a subagent': () => ['spawn {"task":"Say hello.","label":"hello"}', 'It works.'],
  'the same call thrice': () => ['datetime {}', 'datetime {}', 'datetime {}', 'Done.'],
};
const DECISIONS: readonly object[] = [
  { decision: 'approve' },
  { decision: 'edit', args: { path: 'f1.txt', old_string: 'x', new_string: 'z' } },
  { decision: 'reject', reason: 'Not today.' },
  { decision: 'respond', text: 'I did it myself.' },
];

async function concurrently<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const entries = items.entries();
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const [index, item] of entries) results[index] = await work(item);
  });
  await Promise.all(workers);
  return results;
}

describe('DU-6 many recordings', () => {
  let stack: Stack;
  let player: Player;
  before(async () => {
    const tools = { deny: ['web_fetch'], ask: [{ tool: 'edit' }] };
    stack = await startStack({ agents: [{ key: 'shop', model: 'rehearsal/follow', tools }] });
    player = createPlayer(stack);
  });
  after(() => stack.stop());

  async function makeSession(chance: Chance, session: string): Promise<void> {
    for (let turn = chance.between(1, 3); turn > 0; turn--) {
      if (chance.between(1, 3) === 1) {
        const edit = `edit ${json({ path: 'f1.txt', old_string: 'x', new_string: 'y' })}`;
        const { turn_id } = await player.send(session, [edit, 'Done.']);
        await player.decide(turn_id, DECISIONS[chance.between(0, DECISIONS.length - 1)] ?? {});
        continue;
      }
      const shape = Object.values(SHAPES)[chance.between(0, Object.keys(SHAPES).length - 1)];
      const { status } = await player.send(session, shape?.(chance) ?? []);
      assert.equal(status, 'completed');
    }
    // As if its worker had been lost while the call ran.
    if (chance.between(1, 4) === 1)
      await stack.pool.query(
        `update tool_calls set ok = false, code = 'OutcomeUnknown', result = 'OutcomeUnknown: its worker was lost' where session_key = $1 and tool = 'write_file' and ok`,
        [session],
      );
    // What a subagent says comes as a turn of its own.
    await stack.worker.until('the end of the session', async () => {
      const { rows } = await stack.pool.query(
        `select from assignments where origin_session = $1 and announced_by is null
         union all select from turns where session_key = $1 and ended_at is null`,
        [session],
      );
      return rows.length === 0 ? true : undefined;
    });
  }

  it('are reproduced, with neither effects nor requests', async () => {
    const chance = createChance(seedOfRun());
    const sessions = Array.from({ length: RECORDINGS }, (_, index) => `session-${index}`);
    await concurrently(sessions, (session) => makeSession(chance, session));
    const recordings = await concurrently(sessions, (session) => player.record(session));
    const { rows: requests } = await stack.pool.query('select from egress_requests');
    rmSync(stack.worker.workspaceRoot, { recursive: true });
    const replayed = await concurrently(recordings, (recording) => player.replay(recording));
    for (const [index, { difference, session }] of replayed.entries()) {
      const name = sessions[index] ?? '';
      assert.deepEqual({ name, difference }, { name, difference: null });
      assert.deepEqual(await player.transcript(session), await player.transcript(name));
    }
    const { rows } = await stack.pool.query('select from egress_requests');
    assert.equal(rows.length, requests.length);
    const { rows: called } = await stack.pool.query(
      `select c.tool from tool_calls c where c.session_key like 'replay-%' and c.attempts > 0`,
    );
    assert.deepEqual(called, []);
  });
});
