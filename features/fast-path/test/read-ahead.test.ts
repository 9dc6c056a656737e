/** DU-1: read-only calls are recorded with the answer that requests them, and otherwise stay the same. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { activitiesOf } from '#test/support/histories.ts';
import { isPlainEngine } from '#test/support/engine.ts';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';
import { eventually } from '#test/support/processes.ts';

describe('DU-1 calls that only look', { skip: isPlainEngine() }, () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker();
  });
  after(() => live.close());

  /** Whether the answer of the first step and each of its calls were last written by one transaction. */
  async function inOneCommit(turn: string): Promise<boolean> {
    const { rows } = await live.pool.query<{ one: boolean }>(
      `select bool_and(c.xmin = m.xmin) as one from messages m
         join tool_calls c on c.tenant_id = m.tenant_id and c.turn_id = m.turn_id and c.step = m.step
       where m.tenant_id = $1 and m.turn_id = $2 and m.step = 1 and m.role = 'assistant'`,
      [live.tenant, turn],
    );
    return rows[0]?.one ?? false;
  }

  it('are recorded in its commit, with their events in order, and the model reads their results', async () => {
    await live.ended((await live.say('looks', 'write_file {"path":"seen.txt","content":"words"}')).turn_id);
    // It skips moments when the machine is so busy that the rules are a second old by then.
    const found = await eventually(async () => {
      const { turn_id } = await live.say(
        'looks',
        'datetime {"timezone":"UTC"}\nread_file {"path":"seen.txt"}',
      );
      assert.equal((await live.ended(turn_id)).status, 'completed');
      const calls = await live.calls(turn_id);
      assert.match(calls[0]?.result ?? '', /UTC/);
      assert.match(calls[1]?.result ?? '', /words/);
      const events = (await live.events('looks')).filter((event) => event.turn_id === turn_id);
      for (const tool of ['datetime', 'read_file'])
        assert.deepEqual(
          events.filter(({ data }) => data['tool'] === tool).map(({ type }) => type),
          ['tool.started', 'tool.completed'],
        );
      return inOneCommit(turn_id);
    });
    assert.ok(found);
  });

  it('are activities under their own names in Temporal as any other', async () => {
    const { turn_id } = await live.say('activities', 'datetime {"timezone":"UTC"}');
    await live.ended(turn_id);
    const id = workflowIdOf(live, 'activities');
    await live.client.workflow.getHandle(id).result();
    const ran = await activitiesOf(live.client, id);
    assert.ok(ran.some(({ type, local }) => type === 'datetime' && local));
  });

  it('are run once more, later, when they take long: the answer is not held back', async () => {
    const { turn_id } = await live.say('slow', 'glance {"note":"slow"}');
    await live.until('its answer', async () => {
      const [call] = await live.calls(turn_id);
      return call?.state === 'requested' ? true : undefined;
    });
    live.probes.release('slow');
    assert.equal((await live.ended(turn_id)).status, 'completed');
    assert.equal((await live.calls(turn_id))[0]?.result, 'glance slow');
    assert.equal(await inOneCommit(turn_id), false);
  });

  it('run nothing ahead beside a call with an effect', async () => {
    const { turn_id } = await live.say('both', 'datetime {"timezone":"UTC"}\nnudge {"note":"both"}');
    assert.equal((await live.ended(turn_id)).status, 'completed');
    assert.deepEqual(
      (await live.calls(turn_id)).map(({ ok }) => ok),
      [true, true],
    );
    assert.equal(live.probes.effects.filter(({ note }) => note === 'both').length, 1);
    assert.equal(await inOneCommit(turn_id), false);
  });
});
