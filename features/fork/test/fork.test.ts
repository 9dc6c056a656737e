/** DU-6: a session is forked at any of its steps, with its files, and the original stays as it is. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';
import { createForker, type Forker, write } from './support.ts';

const STEPS = [
  write('plan.md', 'one'),
  'poke {"note":"first"}',
  write('plan.md', 'two'),
  'mark {"note":"a"}\nmark {"note":"b"}',
  'All is done.',
];

describe('DU-6 forks', () => {
  let stack: Stack;
  let forker: Forker;
  before(async () => {
    stack = await startStack({
      agents: [
        { key: 'free', tools: {} },
        { key: 'second', tools: {} },
        { key: 'careful', tools: { deny: ['poke'] } },
      ],
    });
    forker = createForker(stack);
  });
  after(() => stack?.stop());

  const effects = (note: string): number =>
    stack.worker.probes.effects.filter((effect) => effect.note === note).length;
  const callOf = async (turn: string, step: number, index = 0): Promise<string> => {
    const found = await stack.pool.query(
      'select id from tool_calls where turn_id = $1 and step = $2 and index = $3',
      [turn, step, index],
    );
    return found.rows[0].id;
  };

  it('at each step end as the original does when nothing is changed, and run only what comes after', async () => {
    await forker.send('each', [write('old.md', 'before')]);
    const { turn_id: turn } = await forker.send('each', STEPS);
    const original = await forker.transcript('each');
    const was = await forker.rows('each');
    const [pokes, marks] = [effects('first'), effects('a')];
    for (let step = 1; step <= STEPS.length; step += 1) {
      const fork = await forker.fork('each', { turn_id: turn, step });
      assert.deepEqual(await forker.transcript(fork.session_key), original, `step ${step}`);
      assert.equal(await forker.file(fork.session_key, 'plan.md'), 'two');
      assert.equal(await forker.file(fork.session_key, 'old.md'), 'before');
      const { rows } = await stack.pool.query(
        `select count(*) filter (where started_at is not null)::int as ran, count(*) filter (where copied_of is not null)::int as copied,
           count(*) filter (where copied_of is not null and (started_at is not null or attempts > 0))::int as wrong
         from tool_calls where session_key = $1`,
        [fork.session_key],
      );
      const copied = [0, 1, 2, 3, 5][step - 1] ?? 0;
      assert.deepEqual(rows, [{ ran: 5 - copied, copied: copied + 1, wrong: 0 }], `step ${step}`);
    }
    assert.equal(effects('first') - pokes, 2, 'the forks at steps 1 and 2 run it');
    assert.equal(effects('a') - marks, 4, 'the forks at steps 1 to 4 run it');
    assert.equal(await forker.rows('each'), was, 'no row of the original has changed');
  });

  it('cost nothing for what is copied, and are said in the feed and by GET', async () => {
    const { turn_id: turn } = await forker.send('cost', STEPS);
    const { body: before } = await stack.ask('GET', '/v1/sessions/cost');
    assert.equal(before.forked_from, null);
    const { session_key: key, copied } = await forker.fork('cost', { turn_id: turn });
    assert.deepEqual([copied.turns, copied.calls], [1, 5]);
    const { body } = await stack.ask('GET', `/v1/sessions/${key}`);
    assert.deepEqual(body.forked_from, { session: 'cost', turn_id: turn, step: null });
    assert.equal(body.status, 'idle');
    const uses = await stack.pool.query('select count(*)::int as n from model_uses where session_key = $1', [
      key,
    ]);
    assert.equal(uses.rows[0].n, 0);
    const { body: turns } = await stack.ask('GET', `/v1/sessions/${key}/turns`);
    const { body: steps } = await stack.ask('GET', `/v1/turns/${turns.data[0].id}/steps`);
    for (const step of steps.data) assert.ok(step.started_at <= step.ended_at, 'a copied step takes no time');
    assert.deepEqual(
      turns.data.map(({ status, usage }: any) => [status, usage.input_tokens, usage.cost_usd]),
      [['completed', 0, null]],
    );
    const events = await stack.worker.events(key);
    assert.deepEqual(
      events.map(({ type, data }) => [type, data]),
      [['session.forked', { session: 'cost', turn_id: turn, step: null }]],
    );
    const { body: undo } = await stack.ask('GET', `/v1/turns/${turns.data[0].id}/undo`);
    assert.ok(
      undo.calls.every(({ action }: any) => action === 'nothing'),
      JSON.stringify(undo.calls),
    );
    const { body: list } = await stack.ask('GET', '/v1/sessions/cost/forks');
    assert.deepEqual(
      list.data.map(({ session_key, status }: any) => [session_key, status]),
      [[key, 'done']],
    );
  });

  it('have the files as they were at the step, and say what was not put back', async () => {
    const { turn_id: turn } = await forker.send('files', [
      write('deep/a.txt', 'first'),
      'exec {"command":"echo more >> deep/a.txt"}',
      write('deep/a.txt', 'second'),
      write('new.txt', 'new'),
      'read_file {"path":"new.txt"}',
    ]);
    const fork = await forker.fork('files', { turn_id: turn, step: 2, answer: { text: 'Enough.' } });
    const { put_back, not_put_back: left, not_put_back_total: total } = fork.copied;
    assert.deepEqual([put_back, total, left[0].tool], [2, 1, 'exec']);
    assert.match(left[0].reason, /not known/);
    const { session_key: key } = fork;
    assert.equal(await forker.file(key, 'deep/a.txt'), 'firstmore\n');
    assert.equal(await forker.file(key, 'new.txt'), undefined);
    await forker.send(key, [write('deep/a.txt', 'of the fork')]);
    assert.equal(await forker.file(key, 'deep/a.txt'), 'of the fork');
    assert.equal(await forker.file('files', 'deep/a.txt'), 'second');
    assert.equal(await forker.file('files', 'new.txt'), 'new');
    const again = await forker.fork(key, { turn_id: fork.turn_id, step: 1, answer: { text: 'Nothing.' } });
    assert.equal(
      await forker.file(again.session_key, 'deep/a.txt'),
      undefined,
      'a copied call is put back too',
    );
  });

  it('DU-6 have what edits have replaced as it was', async () => {
    await forker.send('edited', [write('edited.txt', 'one one'), write('other.txt', 'b a b')]);
    const { turn_id: turn } = await forker.send('edited', [
      'edit {"path":"edited.txt","old_string":"one","new_string":"two","replace_all":true}',
      'edit {"path":"other.txt","old_string":"a","new_string":"b"}',
    ]);
    const { session_key: key, copied } = await forker.fork('edited', {
      turn_id: turn,
      step: 1,
      answer: { text: 'No.' },
    });
    assert.deepEqual([copied.put_back, copied.not_put_back_total], [2, 0]);
    assert.equal(await forker.file(key, 'edited.txt'), 'one one');
    assert.equal(await forker.file(key, 'other.txt'), 'b a b');
  });

  it('take another answer, whose calls run under the rules, and end with it when it has none', async () => {
    const { turn_id: turn } = await forker.send('answer', STEPS);
    const ends = await forker.fork('answer', { turn_id: turn, step: 3, answer: { text: 'Stop here.' } });
    assert.equal((await forker.ended(ends.turn_id)).text, 'Stop here.');
    const calls = [{ tool: 'poke', args: { note: 'other' } }];
    const goesOn = await forker.fork('answer', { turn_id: turn, step: 3, answer: { text: 'Poke.', calls } });
    assert.equal(effects('other'), 1);
    assert.equal((await forker.ended(goesOn.turn_id)).status, 'completed');
    const careful = await forker.fork('answer', {
      turn_id: turn,
      step: 3,
      agent: 'careful',
      answer: { text: 'Poke.', calls: [{ tool: 'poke', args: { note: 'denied' } }] },
    });
    const [, , third] = await stack.worker.calls(careful.turn_id);
    assert.deepEqual([third?.tool, third?.verdict, effects('denied')], ['poke', 'deny', 0]);
  });

  it('run a step with other arguments of one of its calls', async () => {
    const { turn_id: turn } = await forker.send('args', STEPS);
    const marks = effects('a');
    const fork = await forker.fork('args', {
      call: { id: await callOf(turn, 4, 1), args: { note: 'changed' } },
    });
    assert.deepEqual(fork.forked_from, { session: 'args', turn_id: turn, step: 4 });
    assert.deepEqual([effects('changed'), effects('a') - marks], [1, 1]);
    const { body } = await stack.ask('GET', `/v1/turns/${turn}/compare/${fork.turn_id}`);
    assert.equal(body.first.step, 4);
  });

  it('go on with another agent, which has the files', async () => {
    const { turn_id: turn } = await forker.send('agent', STEPS);
    const fork = await forker.fork('agent', { turn_id: turn, step: 5, agent: 'second' });
    assert.equal(fork.agent, 'second');
    assert.equal((await forker.ended(fork.turn_id)).agent, 'second');
    assert.equal(await forker.file(fork.session_key, 'plan.md', 'second'), 'two');
  });

  it('put a message in place of the turn’s at step 1, steer with it later, and begin a turn with it at the end', async () => {
    const { turn_id: turn } = await forker.send('message', STEPS);
    const first = await forker.fork('message', {
      turn_id: turn,
      step: 1,
      message: 'poke {"note":"instead"}',
    });
    assert.equal(effects('instead'), 1);
    assert.equal((await forker.transcript(first.session_key)).length, 3);
    const later = await forker.fork('message', {
      turn_id: turn,
      step: 5,
      message: 'poke {"note":"steered"}',
    });
    assert.equal(effects('steered'), 1);
    assert.equal((await forker.ended(later.turn_id)).status, 'completed');
    const end = await forker.fork('message', { message: 'poke {"note":"next"}' });
    assert.equal(effects('next'), 1);
    assert.equal(
      (await forker.transcript(end.session_key)).length,
      (await forker.transcript('message')).length + 3,
    );
  });
});
