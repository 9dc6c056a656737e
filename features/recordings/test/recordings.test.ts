/** DU-6: a session is recorded and replayed as a test, without models and tools. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';
import { unrecordedTalk } from '#features/memory/store/conversation-store.ts';
import { createPlayer, type Player } from './support.ts';

const write = (path: string, content = 'x'): string => `write_file ${JSON.stringify({ path, content })}`;

describe('DU-6 recordings', () => {
  let stack: Stack;
  let player: Player;
  const shop = { key: 'shop', model: 'rehearsal/follow', instructions: 'Be kind.\nBe short.' };
  before(async () => {
    stack = await startStack({
      agents: [shop, { ...shop, key: 'asks', tools: { ask: [{ tool: 'write_file' }] } }],
    });
    player = createPlayer(stack);
  });
  after(() => stack.stop());

  const change = (agent: object) => stack.ask('PATCH', '/v1/agents/shop', { body: agent });
  const filesNamed = (name: string): string[] =>
    readdirSync(stack.worker.workspaceRoot, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith(name),
    );

  it('replays a turn with several calls and a failed one, and runs none of them', async () => {
    await player.send('one', [
      `${write('one.txt')}\n${write('two.txt')}`,
      'read_file {"path":"none.txt"}',
      'Done.',
    ]);
    const recording = await player.record('one');
    assert.deepEqual(
      recording.turns[0]?.steps.map(({ calls }) => calls.map(({ ok }) => ok)),
      [[true, true], [false], []],
    );
    for (const name of ['one.txt', 'two.txt'])
      for (const path of filesNamed(name)) rmSync(join(stack.worker.workspaceRoot, path));
    const { difference, session } = await player.replay(recording);
    assert.equal(difference, null);
    assert.deepEqual([...filesNamed('one.txt'), ...filesNamed('two.txt')], []);
    const read = async (key: string) =>
      (await stack.ask('GET', `/v1/sessions/${key}/messages`)).body.data.map(({ text }: any) => text);
    assert.deepEqual(await read(session), await read('one'));
    const { rows } = await stack.pool.query(
      'select from model_uses where session_key = $1 and input_tokens > 0',
      [session],
    );
    assert.equal(rows.length, 0);
  });

  it('names a changed system prompt, a tool that is no longer offered, and a rule', async () => {
    await player.send('named', [write('named.txt'), 'Done.']);
    const recording = await player.record('named');
    await change({ instructions: 'Be kind.\nBe long.' });
    assert.deepEqual((await player.replay(recording)).difference, {
      turn: 1,
      step: 1,
      part: 'system',
      message: 'the system prompt differs: line 4 was "Be short." and is "Be long."',
    });
    await change({ instructions: shop.instructions, tools: { deny: ['datetime'] } });
    const tools = (await player.replay(recording)).difference;
    assert.equal(tools?.message, 'the tools offered differ: datetime is no longer offered');
    await change({ tools: { ask: [{ tool: 'write_file' }] } });
    const policy = (await player.replay(recording)).difference;
    assert.equal(policy?.part, 'policy');
    assert.match(policy.message, /call 1 \(write_file\): the rules said allow and say ask/);
    const accepted = (await player.replay(recording, 'record')).recording;
    assert.equal((await player.replay(accepted)).difference, null);
    await change({ tools: null });
    assert.equal((await player.replay(recording)).difference, null);
  });

  it('answers for people as they have decided: approved, edited, denied', async () => {
    const decisions = {
      approve: {},
      edit: { args: { path: 'edited.txt', content: 'y' } },
      reject: { reason: 'no' },
    };
    for (const [decision, more] of Object.entries(decisions)) {
      const session = `prompt-${decision}`;
      const { turn_id } = await player.send(session, [write('prompt.txt'), 'Done.'], 'asks');
      await player.decide(turn_id, { decision, ...more });
      const recording = await player.record(session);
      const [call] = recording.turns[0]?.steps[0]?.calls ?? [];
      assert.equal(call?.verdict, 'ask');
      assert.equal(call.approval?.status, decision === 'reject' ? 'denied' : 'approved');
      assert.equal(call.edited?.['path'], decision === 'edit' ? 'edited.txt' : undefined);
      assert.equal((await player.replay(recording)).difference, null, decision);
    }
    const { body } = await stack.ask('GET', '/v1/approvals?status=pending');
    assert.deepEqual(body.data, []);
  });

  it('replays a turn whose model has failed, and names one that now goes on', async () => {
    await change({ model: 'rehearsal/flaky' });
    const failed = await player.send('failed', ['bad request']);
    assert.equal(failed.status, 'failed');
    const recording = await player.record('failed');
    assert.equal((await player.replay(recording)).difference, null);
    await change({ model: shop.model });
    await player.send('goes-on', [write('on.txt'), 'Done.']);
    const other = await player.record('goes-on');
    const [turn] = other.turns;
    assert.ok(turn);
    const short = { ...other, turns: [{ ...turn, steps: turn.steps.slice(0, 1) }] };
    const { difference } = await player.replay(short);
    assert.deepEqual([difference?.part, difference?.step], ['end', 2]);
  });

  it('compares the calls of a model that answers itself, and runs none', async () => {
    await player.send('live', [write('live.txt', 'one'), 'Done.']);
    const recording = await player.record('live');
    for (const path of filesNamed('live.txt')) rmSync(join(stack.worker.workspaceRoot, path));
    assert.equal((await player.replay(recording, 'live')).difference, null);
    const [turn] = recording.turns;
    assert.ok(turn);
    const other = { ...recording, turns: [{ ...turn, message: turn.message.replace('one', 'two') }] };
    const changed = (await player.replay(other, 'live')).difference;
    assert.match(changed?.message ?? '', /call 1 \(write_file\): its arguments were .*one.* and are .*two/);
    const more = {
      ...recording,
      turns: [{ ...turn, message: `${write('live.txt', 'one')}\n${write('more.txt')}` }],
    };
    const missed = (await player.replay(more, 'live')).difference;
    assert.match(missed?.message ?? '', /NotRecorded: turn 1, step 1: the recording has no call 2/);
    assert.deepEqual([...filesNamed('live.txt'), ...filesNamed('more.txt')], []);
  });

  it('tells no webhook, no memory and no backtest of replays', async () => {
    const hook = { url: 'https://hooks.example.test/', events: ['*'] };
    const { body: webhook } = await stack.ask('POST', '/v1/webhooks', { body: hook });
    await player.send('quiet', [write('quiet.txt'), 'Done.']);
    const { session } = await player.replay(await player.record('quiet'));
    const { rows } = await stack.pool.query('select distinct session_key from webhook_deliveries');
    assert.deepEqual(rows, [{ session_key: 'quiet' }]);
    await stack.ask('DELETE', `/v1/webhooks/${webhook.id}`);
    await stack.pool.query(`update sessions set updated_at = now() - interval '1 hour'`);
    const scope = { tenant: stack.tenant, agent: 'shop', user: null };
    for (let talk = await unrecordedTalk(stack.pool, scope); talk; ) {
      assert.doesNotMatch(talk.session, /^replay-/);
      await stack.pool.query('update sessions set recorded = position where key = $1', [talk.session]);
      talk = await unrecordedTalk(stack.pool, scope);
    }
    const settings = { tools: { deny: ['write_file'] } };
    const { body } = await stack.ask('POST', '/v1/policy/backtest', { body: { settings } });
    const judged = body.data.map((one: { session_key: string }) => one.session_key);
    assert.ok(judged.includes('quiet') && !judged.includes(session), JSON.stringify(body));
  });

  it('hides secrets that a recording names, and refuses one that is too deep or too large', async () => {
    await player.send('secret', ['Done.']);
    const recording = await player.record('secret');
    const [turn] = recording.turns;
    assert.ok(turn);
    const [step] = turn.steps;
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    const create = (changed: object) =>
      stack.ask('POST', '/v1/replays', {
        body: { mode: 'compare', recording: { ...recording, turns: [{ ...turn, ...changed }] } },
      });
    const { body } = await create({ message: `use ${secret}` });
    const { rows } = await stack.pool.query('select stand_ins::text as text from replays where id = $1', [
      body.id,
    ]);
    assert.doesNotMatch(rows[0].text, /ghp_a1/);
    let args: object = {};
    for (let depth = 0; depth < 70; depth++) args = { args };
    const call = { tool: 'x', called_as: 'x', args, verdict: 'allow', ok: true, code: null, result: '' };
    const deep = await create({ steps: [{ ...step, calls: [call] }] });
    assert.equal(deep.status, 400, JSON.stringify(deep.body).slice(0, 300));
    const large = await create({
      steps: Array.from({ length: 5 }, () => ({ ...step, text: 'x'.repeat(3_900_000) })),
    });
    assert.equal(large.status, 413);
  });

  it('runs nothing in the session of a replay that is gone', async () => {
    const script = { agent: 'shop', tools: { write_file: [{ text: 'written', times: null }] } };
    const { body } = await stack.ask('POST', '/v1/replays', { body: { mode: 'script', script } });
    await stack.pool.query('delete from replays where id = $1', [body.id]);
    const turn = await player.send(body.session_key, [write('gone.txt')]);
    assert.equal(turn.status, 'failed');
    assert.equal(turn.error.code, 'NotRecorded');
    assert.deepEqual(filesNamed('gone.txt'), []);
  });

  it('refuses a script that says something of what is no tool of the agent', async () => {
    const create = async (script: object) => {
      const body = { mode: 'script', script: { agent: 'shop', ...script } };
      return stack.ask('POST', '/v1/replays', { body });
    };
    const answers = [{ text: 'written' }];
    for (const [script, words] of [
      [{ tools: { wirte_file: answers } }, /body\/script\/tools\/wirte_file: is no tool that shop can have/],
      [{ tools: { edit_file: answers } }, /edit_file: is another name of edit; write that/],
      [{ approvals: { wirte_file: 'deny', '*': 'deny' } }, /body\/script\/approvals\/wirte_file/],
    ] as const) {
      const { status, body } = await create(script);
      assert.equal(status, 422);
      assert.match(body.detail, words);
    }
    // As in a recording of a model that asked for what it did not have.
    const refused = [{ code: 'NotFound', text: 'no such tool' }];
    assert.equal((await create({ tools: { wirte_file: refused, write_file: answers } })).status, 201);
  });

  it('refuses recordings of other versions, and those that are not for here', async () => {
    await player.send('bad', ['Done.']);
    const recording = await player.record('bad');
    const create = async (changed: object) =>
      await stack.ask('POST', '/v1/replays', {
        body: { mode: 'compare', recording: { ...recording, ...changed } },
      });
    assert.equal((await create({ recording: 2 })).status, 400);
    assert.equal((await create({ turns: [] })).status, 400);
    assert.match((await create({ agent: 'nobody' })).body.detail, /no agent nobody here/);
    const reader = await stack.makeKey(['read', 'run']);
    const body = { mode: 'compare', recording };
    assert.equal((await stack.ask('POST', '/v1/replays', { body, key: reader })).status, 403);
    const { key } = await stack.makeTenant();
    assert.equal((await stack.ask('GET', '/v1/sessions/bad/recording', { key })).status, 404);
  });
});
