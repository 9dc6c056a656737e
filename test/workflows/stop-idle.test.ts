/**
 * SA-1, DU-4: stopping all of a session in which no turn runs ends what its turns have left running, and hits no turn.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fetchHistory } from '#test/support/histories.ts';
import { recordingItsEnd } from '#test/support/held-end.ts';
import { type LiveWorker, workflowIdOf } from '#test/support/live-worker.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { observeStatements } from '#test/support/statements.ts';

describe('DU-4 stopping all of an idle session', () => {
  let stack: Stack;
  let live: LiveWorker;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tempoclaw-idle-'));
    stack = await startStack({
      agents: [{ key: 'runs', tools: {}, exec: { security: 'full', ask: 'off' } }],
    });
    live = stack.worker;
  });
  after(async () => {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const runOf = (session: string) => live.client.workflow.getHandle(workflowIdOf(live, session));

  /** Leaves a background command in a session in which nothing else runs. */
  async function leaving(session: string, command: string): Promise<void> {
    const call = `exec ${JSON.stringify({ command, background: true })}`;
    await live.ended((await live.say(session, `${call}\nthen\nLeft.`, { agent: 'runs' })).turn_id);
    await runOf(session).result();
  }

  async function sleeping(session: string): Promise<string> {
    const seconds = uniqueSeconds();
    await leaving(session, `sleep ${seconds}`);
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0), 'the command runs');
    return seconds;
  }

  /**
   * Ignores SIGTERM, so it is ended after the grace. `told` says that SIGTERM came. It writes nothing, because the
   * reader of its output does end.
   */
  async function stubborn(session: string): Promise<{ told: () => boolean; mark: string }> {
    const [mark, file] = [uniqueSeconds(), join(folder, session)];
    const command = `exec >/dev/null 2>&1; trap 'touch ${file}.told' TERM; touch ${file}; while :; do sleep 0.1; done; echo ${mark}`;
    await leaving(session, command);
    assert.ok(await eventually(() => existsSync(file)));
    return { told: () => existsSync(`${file}.told`), mark };
  }

  const stopAll = (session: string) =>
    stack.ask('POST', `/v1/sessions/${session}/stop`, { body: { level: 'all' } });

  /** Activity types of the local activities of the session's newest run, in order. */
  async function localActivities(session: string): Promise<string[]> {
    const { events } = (await fetchHistory(live.client, workflowIdOf(live, session))) as {
      events: readonly {
        markerRecordedEventAttributes?: {
          markerName: string;
          details?: Record<string, { payloads: { data: string }[] }>;
        };
      }[];
    };
    return events.flatMap(({ markerRecordedEventAttributes: marker }) => {
      if (marker?.markerName !== 'core_local_activity') return [];
      const data = marker.details?.['data']?.payloads[0]?.data ?? '';
      const { activity_type } = JSON.parse(Buffer.from(data, 'base64').toString()) as {
        activity_type: string;
      };
      return [activity_type];
    });
  }

  it('over HTTP: its background commands end, those of other sessions go on', async () => {
    const [mine, other] = [await sleeping('mine'), await sleeping('other')];
    const stopped = await stopAll('mine');
    assert.deepEqual(
      [stopped.status, stopped.body],
      [202, { session_key: 'mine', turn_id: null, level: 'all' }],
    );
    assert.ok(await eventually(() => runningWith(mine).length === 0), 'the command is gone');
    assert.notDeepEqual(runningWith(other), []);
    assert.deepEqual(await runOf('mine').result(), {
      turn_id: '',
      status: 'stopped',
      preview: 'ended what the session had left running',
    });
  });

  it('again, and with nothing left, it is accepted; now is refused', async () => {
    await live.ended((await live.say('nothing', 'Hi.')).turn_id);
    for (const level of ['all', 'all', 'now'])
      assert.equal(
        (await stack.ask('POST', '/v1/sessions/nothing/stop', { body: { level } })).status,
        level === 'all' ? 202 : 409,
      );
    await runOf('nothing').result();
    assert.equal((await live.turns('nothing')).length, 1);
  });

  it('over HTTP, a turn that begins while a stop reads the session goes on when the answer is that none runs', async (t) => {
    const session = 'just-begins';
    await live.ended((await live.say(session, 'Before.')).turn_id);
    await runOf(session).result();
    const begin = async (): Promise<string> => {
      const { turn_id } = await live.say(session, 'hold {"note":"just-begins"}');
      await live.probes.untilHeld(session);
      return turn_id;
    };
    let begun: Promise<string> | undefined;
    observeStatements(t, stack.pool, async ({ text, values }) => {
      const isRead = text.includes('ended_at from turns') && values.includes(session);
      if (isRead && !begun) await (begun = begin());
    });
    const { status } = await stack.ask('POST', `/v1/sessions/${session}/stop`, { body: {} });
    assert.equal(status, 409);
    live.probes.release(session);
    assert.ok(begun, 'the stop reads turns');
    assert.equal((await live.ended(await begun)).status, 'completed');
  });

  it('a message that comes meanwhile is a turn after it', async () => {
    const { told, mark } = await stubborn('meanwhile');
    await stopAll('meanwhile');
    assert.ok(await eventually(told), 'the command is being ended');
    const { turn_id } = await live.say('meanwhile', 'hold {"note":"meanwhile"}', { agent: 'runs' });
    await live.probes.untilHeld('meanwhile');
    assert.deepEqual(runningWith(mark), []);
    live.probes.release('meanwhile');
    assert.equal((await live.ended(turn_id)).status, 'completed');
  });

  it('of a turn whose end is being recorded: it is carried out before the next one', async () => {
    const session = 'at-the-end';
    await recordingItsEnd(live, session, (turn_id) =>
      live.temporal.stop(live.tenant, session, { turn_id, level: 'all', by: 'ann' }),
    );
    await runOf(session).result();
    assert.deepEqual((await localActivities(session)).slice(-2), ['end_turn', 'stop_session']);
  });

  it('of a turn whose end is being recorded: what waits behind it goes too', async () => {
    const session = 'behind-the-end';
    let next = '';
    await recordingItsEnd(
      live,
      session,
      (turn_id) => live.temporal.stop(live.tenant, session, { turn_id, level: 'all', by: 'ann' }),
      async () => ({ turn_id: next } = await live.say(session, 'Next.')),
    );
    assert.equal((await live.ended(next)).status, 'stopped');
    await runOf(session).result();
    assert.deepEqual((await localActivities(session)).slice(-2), ['end_turn', 'stop_session']);
  });

  it('hits no other turn that runs or waits, nor what it has started', async () => {
    const session = 'busy';
    const seconds = await sleeping(session);
    const [before] = await live.turns(session);
    const { turn_id } = await live.say(session, 'hold {"note":"busy"}\nthen\nHeld.', { agent: 'runs' });
    await live.probes.untilHeld('busy');
    const next = await live.say(session, 'Next.');
    const late = { level: 'all', turn_id: before?.id ?? '', by: 'ann' } as const;
    await live.temporal.stopIdle(live.tenant, session, late, { agent: 'runs', summary: 'stop' });
    assert.equal((await live.state(session))?.turn_id, turn_id);
    live.probes.release('busy');
    for (const turn of [turn_id, next.turn_id]) assert.equal((await live.ended(turn)).status, 'completed');
    assert.notDeepEqual(runningWith(seconds), []);
  });

  it('in the end of a turn, of another one: it changes nothing', async () => {
    const session = 'of-another';
    const seconds = await sleeping(session);
    const [before] = await live.turns(session);
    await recordingItsEnd(live, session, () =>
      live.temporal.stop(live.tenant, session, { turn_id: before?.id ?? '', level: 'all', by: 'ann' }),
    );
    await runOf(session).result();
    assert.equal((await localActivities(session)).at(-1), 'end_turn');
    assert.notDeepEqual(runningWith(seconds), []);
  });
});
