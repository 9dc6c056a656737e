/** SH-2, AP-4: the offers of an approval besides the one call, and its sandbox, are shown, stored and run as shown. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type HostWall, withoutWall } from '@tempoclaw/sandbox';
import { type Stack, startStack } from '#test/support/stack.ts';

const ASKS = { ask: [{ tool: 'poke' }] };

describe('SH-2 what “always” would store', () => {
  let stack: Stack;
  let folder: string;
  const wall: { -readonly [Key in keyof HostWall]: HostWall[Key] } = {
    ...withoutWall(),
    wall: 'files and network',
  };
  const path = process.env['PATH'];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tempoclaw-programs-'));
    process.env['PATH'] = `${folder}/early:${folder}/late:${path}`;
    stack = await startStack({
      wall,
      agents: [
        { key: 'two', tools: { ask: [{ tool: 'exec', quorum: 2 }] } },
        { key: 'boxed', sandbox: 'required' },
        { key: 'asks', sandbox: 'off', tools: ASKS },
        { key: 'edits', sandbox: 'off', tools: ASKS },
        { key: 'turns', sandbox: 'off', tools: ASKS },
        { key: 'older', sandbox: 'off', tools: ASKS },
      ],
    });
    await program('late', 'greet');
  });
  after(async () => {
    await stack.stop();
    process.env['PATH'] = path;
    await rm(folder, { recursive: true, force: true });
  });

  async function program(place: 'early' | 'late', name: string): Promise<void> {
    await mkdir(join(folder, place), { recursive: true });
    await writeFile(join(folder, place, name), `#!/bin/sh\necho ${place} "$@"\n`, { mode: 0o755 });
  }
  /** Requests a call over HTTP, and returns the approval as it is shown. */
  async function asked(tool: string, args: unknown, agent = 'main') {
    const { status, body } = await stack.ask('POST', `/v1/tools/${tool}/invoke`, { body: { args, agent } });
    assert.equal(status, 202, JSON.stringify(body));
    return (await stack.ask('GET', `/v1/approvals/${body.approval_id}`)).body;
  }
  const exec = (command: string, agent?: string) => asked('exec', { command }, agent);
  const decide = (id: string, body: unknown, key = stack.key) =>
    stack.ask('POST', `/v1/approvals/${id}/decision`, { body, key });
  async function resultOf(turnId: string) {
    await stack.worker.ended(turnId);
    const [call] = await stack.worker.calls(turnId);
    return call ?? assert.fail();
  }
  const setSandbox = async (agent: string, sandbox: unknown) => {
    const { status } = await stack.ask('PATCH', `/v1/agents/${agent}`, { body: { sandbox } });
    assert.equal(status, 200);
  };

  it('is shown wherever the approval is, and is stored as it was shown', async () => {
    const approval = await exec("greet 'a  b' now");
    const greet = `${folder}/late/greet`;
    assert.deepEqual(approval.always, {
      allows: `${greet} 'a  b' now`,
      program: greet,
      file: null,
      args: ['a  b', 'now'],
      refused: null,
    });
    const { body: list } = await stack.ask('GET', '/v1/approvals?status=pending');
    const listed = list.data.find((one: { id: string }) => one.id === approval.id);
    assert.deepEqual(listed.always, approval.always);
    const events = await stack.worker.events(approval.session_key);
    const requested = events.find((event) => event.type === 'approval.requested');
    assert.equal(requested?.data['always'], approval.always.allows);
    const handle = stack.worker.client.workflow.getHandle(approval.workflow_id);
    // Its row exists a moment before its workflow.
    const metadata = await stack.worker.until('the workflow', () =>
      handle.query<{ currentDetails: string }>('__temporal_workflow_metadata').catch(() => undefined),
    );
    assert.match(metadata.currentDetails, new RegExp(`approve_always.*${greet} 'a b' now`));

    assert.equal((await decide(approval.id, { decision: 'approve_always' })).status, 200);
    const { body: stored } = await stack.ask('GET', '/v1/exec-allowlist');
    assert.deepEqual(
      stored.data.map((entry: any) => [entry.allows, entry.approval_id]),
      [[approval.always.allows, approval.id]],
    );
    const again = await stack.ask('POST', '/v1/tools/exec/invoke', {
      body: { args: { command: "greet 'a  b' now" } },
    });
    assert.equal(again.status, 200, JSON.stringify(again.body));
  });

  it('SH-6: says where it would run; with no whole wall there, a script of the agent is asked about each time', async () => {
    assert.equal((await exec('greet there')).runs, 'walled_host');
    const boxed = await exec('greet there', 'boxed');
    assert.equal(boxed.runs, 'container');
    assert.equal((await asked('poke', { note: 'x' }, 'asks')).runs, null);
    const script = { command: 'python3 -u script.py' };
    const unasked = await stack.ask('POST', '/v1/tools/exec/invoke', { body: { args: script } });
    assert.equal(unasked.status, 200, JSON.stringify(unasked.body));
    wall.wall = 'files';
    try {
      const approval = await asked('exec', script);
      assert.equal(approval.runs, 'host');
      assert.match(approval.always.refused, /runs files of the workspace/);
      assert.equal((await decide(approval.id, { decision: 'approve' })).status, 200);
      assert.equal((await resultOf(approval.turn_id)).code, 'ExecutionFailed');
    } finally {
      wall.wall = 'files and network';
    }
  });

  it('is not stored when the name starts another file by then: the call may still run once', async () => {
    await program('late', 'swapped');
    const approval = await exec('swapped now');
    assert.equal(approval.always.program, `${folder}/late/swapped`);
    await program('early', 'swapped');
    const refused = await decide(approval.id, { decision: 'approve_always' });
    assert.equal(refused.status, 422);
    assert.match(
      refused.body.detail,
      /would not allow any more what was shown .*late\/swapped now.*early\/swapped/,
    );
    assert.equal((await decide(approval.id, { decision: 'approve' })).status, 200);
    assert.equal((await resultOf(approval.turn_id)).ok, true);
    const { body } = await stack.ask('GET', '/v1/exec-allowlist');
    assert.ok(!body.data.some((entry: any) => entry.allows.includes('swapped')));
  });

  it('is not offered, with the reason, where it could be more than was seen', async () => {
    const ann = await stack.makeKey(['approve'], { user: 'ann' });
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    const cases: [string, string, RegExp][] = [
      ["sh -c 'greet now'", 'main', /sh runs whatever it is given/],
      ['greet now && greet again', 'main', /more than one command/],
      [`greet ${secret}`, 'main', /holds a secret/],
      [`greet ${'word '.repeat(500)}now`, 'main', /too long/],
      ['greet now please', 'two', /need no quorum/],
      ['greet now please', 'boxed', /sandbox, whose programs are its image’s/],
    ];
    for (const [command, agent, reason] of cases) {
      const { always, id } = await exec(command, agent);
      assert.equal(always.allows, null, command);
      assert.match(always.refused, reason);
      const { status, body } = await decide(id, { decision: 'approve_always' }, ann);
      assert.equal(status, 422, command);
      assert.match(body.detail, reason);
      await decide(id, { decision: 'reject' }, ann);
    }
  });

  it('AP-4 what was approved for one sandbox does not run in another', async () => {
    const approval = await asked('poke', { note: 'moved' }, 'asks');
    assert.deepEqual(approval.sandbox, { mode: 'off' });
    await setSandbox('asks', { mode: 'preferred', network: true });
    assert.equal((await decide(approval.id, { decision: 'approve' })).status, 200);
    const call = await resultOf(approval.turn_id);
    assert.equal(call.code, 'PermissionDenied');
    assert.match(call.result ?? '', /sandbox setting of agent asks has changed .* has not run/);
    assert.deepEqual(
      stack.worker.probes.effects.filter(({ note }) => note === 'moved'),
      [],
    );

    const anew = await asked('poke', { note: 'anew' }, 'asks');
    assert.equal(anew.sandbox.mode, 'preferred');
    assert.equal(anew.sandbox.network, true);
    assert.notEqual(anew.digest, approval.digest);
    // These are the same settings in other words.
    await setSandbox('asks', { mode: 'preferred', network: true, pids: 256 });
    assert.equal((await decide(anew.id, { decision: 'approve' })).status, 200);
    assert.equal((await resultOf(anew.turn_id)).ok, true);
  });

  it('AP-4 edited arguments are bound to the sandbox that was shown', async () => {
    const approval = await asked('poke', { note: 'first' }, 'edits');
    await setSandbox('edits', 'preferred');
    const edit = await decide(approval.id, { decision: 'edit', args: { note: 'second' } });
    assert.equal(edit.status, 200);
    const call = await resultOf(approval.turn_id);
    assert.match(call.result ?? '', /sandbox setting of agent edits has changed/);
    const other = await asked('poke', { note: 'third' }, 'edits');
    assert.equal((await decide(other.id, { decision: 'edit', args: { note: 'fourth' } })).status, 200);
    assert.equal((await resultOf(other.turn_id)).result, 'poke fourth');
  });

  it('AP-4 a turn that began before the setting was changed asks for the setting that its calls run under', async () => {
    const { turn_id } = await stack.worker.say(
      'turns',
      'peek {"note":"one"}\nthen\npoke {"note":"two"}\nthen\npoke {"note":"three"}',
      { agent: 'turns' },
    );
    const first = await stack.worker.approvalOf('turns');
    await setSandbox('turns', 'preferred');
    await decide(first, { decision: 'reject' });
    const second = await stack.worker.until('the second approval', async () => {
      const id = await stack.worker.approvalOf('turns');
      return id === first ? undefined : id;
    });
    assert.equal((await stack.ask('GET', `/v1/approvals/${second}`)).body.sandbox.mode, 'preferred');
    await decide(second, { decision: 'approve' });
    await stack.worker.ended(turn_id);
    assert.equal((await stack.worker.calls(turn_id)).at(-1)?.result, 'poke three');
  });
});
