/** IN-10 in a shared session each message runs with the tools, rules and credentials of who said it; on the whole stack. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, type Stack, startStack } from '#test/support/stack.ts';

describe('IN-10 people who share a session', () => {
  let stack: Stack;
  let ann: string;
  let bob: string;
  before(async () => {
    const rules = [
      { tool: 'nudge', user: 'bob', decision: 'deny' },
      { tool: 'mark', user: 'ann', decision: 'deny' },
      { tool: 'poke', decision: 'ask', exclude_requester: true },
      { tool: 'once_hold', decision: 'ask' },
    ] as const;
    stack = await startStack({
      env: { TEMPOCLAW_SHARED_SESSIONS: 'true' },
      agents: [{ key: 'desk', type: 'open', model: 'rehearsal/follow', tools: { rules } }],
    });
    const scopes = ['read', 'run', 'approve'] as const;
    ann = await stack.makeKey(scopes, { user: 'ann' });
    bob = await stack.makeKey(scopes, { user: 'bob' });
  });
  after(() => stack.stop());

  const send = (session: string, key: string, text: string, more: object = {}): Promise<Answer> =>
    stack.ask('POST', `/v1/sessions/${session}/messages`, { key, body: { text, agent: 'desk', ...more } });

  /** The calls of the message's turn, once it has ended. */
  async function says(session: string, key: string, text: string, more: object = {}) {
    const { body } = await send(session, key, text, more);
    await stack.worker.ended(body.turn_id);
    return stack.worker.calls(body.turn_id);
  }

  async function userOf(turn: string): Promise<string | null> {
    return (await stack.ask('GET', `/v1/turns/${turn}`)).body.user;
  }

  it('each has the rules of who speaks, whoever began the session and spoke last', async () => {
    const verdicts: (string | undefined)[] = [];
    for (const [key, tool] of [
      [ann, 'nudge'],
      [bob, 'nudge'],
      [bob, 'mark'],
      [ann, 'mark'],
      [ann, 'nudge'],
    ] as const)
      verdicts.push((await says('room', key, `${tool} {"note":"in the room"}`))[0]?.verdict);
    assert.deepEqual(verdicts, ['allow', 'deny', 'allow', 'deny', 'allow']);
    const { body } = await stack.ask('GET', '/v1/sessions/room/turns');
    assert.deepEqual(
      body.data.map(({ user }: { user: string }) => user),
      ['ann', 'ann', 'bob', 'bob', 'ann'],
    );
  });

  it('a service that speaks for nobody has the rights of nobody, and not of who began the session', async () => {
    await says('of-ann', ann, 'Hello.');
    const service = await stack.makeKey(['read', 'run']);
    const [call] = await says('of-ann', service, 'mark {"note":"of nobody"}');
    assert.equal(call?.verdict, 'allow', 'the rule for ann is not for this turn');
  });

  it('DU-4 a message that steers or is collected never gets into the turn of somebody else', async () => {
    const running = await send('steered', ann, 'hold {"note":"steered"}');
    await stack.worker.probes.untilHeld('steered');
    const own = await send('steered', ann, 'nudge {"note":"of ann"}', { mode: 'steer' });
    assert.deepEqual([own.body.turn_id, own.body.step], [running.body.turn_id, 2]);
    const others = [
      await send('steered', bob, 'nudge {"note":"of bob"}', { mode: 'steer' }),
      await stack.ask('POST', '/v1/sessions/steered/steer', {
        key: bob,
        body: { text: 'nudge {"note":"of bob"}', turn_id: running.body.turn_id },
      }),
    ];
    const collected = [];
    for (const [key, note] of [
      [ann, 'one'],
      [bob, 'two'],
      [bob, 'three'],
    ] as const)
      collected.push((await send('steered', key, `Collected ${note}.`, { mode: 'collect' })).body.turn_id);
    assert.notEqual(collected[0], collected[1]);
    assert.equal(collected[1], collected[2]);
    stack.worker.probes.release('steered');
    for (const { body } of others) {
      assert.equal(body.step, undefined);
      assert.notEqual(body.turn_id, running.body.turn_id);
      await stack.worker.ended(body.turn_id);
      assert.equal(await userOf(body.turn_id), 'bob');
      assert.equal((await stack.worker.calls(body.turn_id))[0]?.verdict, 'deny');
    }
    await stack.worker.ended(running.body.turn_id);
    const notes = stack.worker.probes.effects.map(({ note }) => note);
    assert.deepEqual([notes.includes('of ann'), notes.includes('of bob')], [true, false]);
    for (const [turn, user] of [
      [collected[0], 'ann'],
      [collected[1], 'bob'],
    ]) {
      await stack.worker.ended(turn);
      assert.equal(await userOf(turn), user);
    }
  });

  it('a turn that a person’s other key steers has no scope that this key lacks', async () => {
    const narrow = await stack.makeKey(['run'], { user: 'ann' });
    const { body } = await send('narrowed', ann, 'hold {"note":"narrowed"}');
    await stack.worker.probes.untilHeld('narrowed');
    const steered = await send('narrowed', narrow, 'Go on.', { mode: 'steer' });
    assert.equal(steered.body.turn_id, body.turn_id);
    stack.worker.probes.release('narrowed');
    await stack.worker.ended(body.turn_id);
    const { rows } = await stack.pool.query("select context -> 'roles' as roles from turns where id = $1", [
      body.turn_id,
    ]);
    assert.deepEqual(rows[0].roles, ['run']);
  });

  it('AP-4 an approval is of who speaks: the others decide, or the speaker alone, as the rule says', async () => {
    await says('asked', ann, 'Hello.');
    const decide = (key: string, id: string) =>
      stack.ask('POST', `/v1/approvals/${id}/decision`, { key, body: { decision: 'approve' } });
    const { body } = await send('asked', bob, 'once_hold {"note":"by bob"}');
    const own = await stack.worker.approvalOf('asked');
    assert.ok((await decide(ann, own)).status >= 403, 'it is not of who began the session');
    assert.equal((await decide(bob, own)).status, 200);
    await stack.worker.probes.untilHeld('by bob');
    stack.worker.probes.release('by bob');
    await stack.worker.ended(body.turn_id);

    const second = await send('asked', bob, 'poke {"note":"not by bob"}');
    const excluded = await stack.worker.approvalOf('asked');
    const refused = await decide(bob, excluded);
    assert.deepEqual([refused.status, refused.body.code], [403, 'Forbidden'], JSON.stringify(refused.body));
    assert.equal((await decide(stack.key, excluded)).status, 403, 'it counts people');
    await stack.ask('POST', '/v1/sessions/asked/stop', { body: { level: 'now' } });
    await stack.worker.ended(second.body.turn_id);
  });

  it('what an agent gives away is done for who spoke, and steered by nobody else', async () => {
    await says('gives', ann, 'Hello.');
    const child = (task: string): string => `spawn ${JSON.stringify({ action: 'run', task })}`;
    await says('gives', bob, child('nudge {"note":"below"}'));
    await says('gives', ann, child('nudge {"note":"below of ann"}'));
    const done = stack.worker.probes.effects.flatMap(({ note }) => (note.startsWith('below') ? [note] : []));
    assert.deepEqual(done, ['below of ann']);
    const begun = await send('gives', ann, 'spawn {"task":"hold {\\"note\\":\\"anns\\"}"}');
    await stack.worker.ended(begun.body.turn_id);
    await stack.worker.probes.untilHeld('anns');
    const { body } = await stack.ask('GET', '/v1/sessions/gives/subagents?status=running');
    const { id } = body.data[0];
    const steer = `spawn ${JSON.stringify({ action: 'steer', id, message: 'mark {"note":"for ann"}' })}`;
    const [refused] = await says('gives', bob, steer);
    assert.match(refused?.result ?? '', /PermissionDenied: .*works for another person/);
    const request = { key: bob, body: { message: 'Stop that.' } };
    assert.equal((await stack.ask('POST', `/v1/subagents/${id}/steer`, request)).status, 403);
    stack.worker.probes.release('anns');
  });

  it('the use of models counts for who spoke', async () => {
    await says('counted', ann, 'Hello.');
    await says('counted', bob, 'Hello.');
    const { body } = await stack.ask('GET', '/v1/usage?by=user');
    const users = body.data.map(({ user }: { user: string }) => user);
    assert.ok(users.includes('ann') && users.includes('bob'), JSON.stringify(users));
  });
});
