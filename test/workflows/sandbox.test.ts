/** SH-3, SH-5: whole turns of agents whose commands run in boxes. */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { createEngine } from '@tempoclaw/sandbox';
import { engineTests, findEngine } from '#test/support/container-engine.ts';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';

const found = await findEngine();
const { test, stop } = engineTests(found);
after(stop);

describe('SH-3 turns of an agent in a box', () => {
  let live: LiveWorker | undefined;
  before(async () => {
    if ('skip' in found) return;
    live = await startLiveWorker({
      env: { TEMPOCLAW_SANDBOX: 'off', TEMPOCLAW_DOCKER_HOST: found.engine.address },
      settings: 'sandbox: { idleMinutes: 1 }',
      agents: [
        { key: 'boxed', type: 'open', model: 'rehearsal/follow', sandbox: 'required', exec: { ask: 'off' } },
        {
          key: 'lost',
          type: 'open',
          model: 'rehearsal/follow',
          sandbox: { mode: 'required', image: 'no-such-image' },
          exec: { ask: 'off' },
        },
      ],
    });
  });
  after(() => live?.close());

  const turn = async (agent: string, session: string, text: string) => {
    assert.ok(live);
    const { turn_id } = await live.say(session, text, { agent });
    await live.ended(turn_id);
    return (await live.calls(turn_id)).map(({ result }) => result?.trim());
  };

  test('commands and file tools meet in /workspace, and nothing leaves it', async () => {
    const results = await turn(
      'boxed',
      'box-1',
      [
        'exec {"command":"echo made >made.txt; pwd; id -u; cat /proc/self/status | grep CapEff"}',
        'then',
        'read_file {"path":"/workspace/made.txt"}',
        'then',
        'workspace_dir {}',
      ].join('\n'),
    );
    assert.match(results[0] ?? '', /^\/workspace\n[1-9]\d*\nCapEff:\s0{16}$/);
    assert.match(results[1] ?? '', /made/);
    assert.equal(results[2], '/workspace');
  });

  test('a box that cannot be had is a result for the model, and nothing runs', async () => {
    const [result] = await turn('lost', 'box-2', 'exec {"command":"echo ran"}');
    assert.match(result ?? '', /^SandboxUnavailable: the engine has no image no-such-image.*has not run$/);
  });

  test('stopping the turn ends what runs in the box', async () => {
    assert.ok(live);
    const seconds = uniqueSeconds();
    const text = `exec {"command":"(setsid sleep ${seconds} &); sleep ${seconds}"}`;
    const { turn_id } = await live.say('box-3', text, { agent: 'boxed' });
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 1, 30_000));
    await live.temporal.stop(live.tenant, 'box-3', { turn_id, level: 'now' });
    await live.ended(turn_id);
    assert.ok(await eventually(() => runningWith(seconds).length === 0));
  });

  test('stopping all of an idle session ends its commands and its own box, no other', async () => {
    assert.ok(live && 'engine' in found);
    const { temporal, tenant, client } = live;
    const engine = createEngine(found.engine.address);
    const labels = [`tempoclaw.tenant=${tenant}`];
    const boxes = async (): Promise<string[]> =>
      (
        await engine.ask((docker) => docker.listContainers({ all: true, filters: { label: labels } }))
      ).flatMap(({ Names }) => Names);
    const before = await boxes();
    const [seconds, other] = [uniqueSeconds(), uniqueSeconds()];
    const turns = new Map<string, string>();
    for (const [session, remaining] of [
      ['box-4', seconds],
      ['box-5', other],
    ] as const) {
      const text = `exec ${JSON.stringify({ command: `sleep ${remaining}`, background: true })}\nthen\nLeft.`;
      const { turn_id } = await live.say(session, text, { agent: 'boxed' });
      await live.ended(turn_id);
      turns.set(session, turn_id);
      assert.ok(await eventually(() => runningWith(`sleep ${remaining}`).length > 0));
    }
    const made = (await boxes()).filter((name) => !before.includes(name));
    assert.equal(made.length, 2);
    const run = client.workflow.getHandle(workflowIdOf(live, 'box-4'));
    await run.result();
    const stop = { level: 'all', turn_id: turns.get('box-4') ?? '', by: 'ann' } as const;
    await temporal.stopIdle(tenant, 'box-4', stop, { agent: 'boxed', summary: 'stop' });
    await run.result();
    assert.equal(runningWith(seconds).length, 0);
    assert.equal((await boxes()).filter((name) => made.includes(name)).length, 1);
    assert.notDeepEqual(runningWith(`sleep ${other}`), []);
  });
});
