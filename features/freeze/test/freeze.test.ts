/** DU-11: a freeze holds calls back before they start, and they go on, each once, when it is lifted. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFeedView } from '#cli/feed-view.ts';
import { createOutput } from '#cli/output.ts';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('DU-11 freezes', () => {
  let stack: Stack;
  let other: LiveWorker;
  before(async () => {
    stack = await startStack({
      agents: [
        { key: 'free', tools: {} },
        { key: 'other', tools: {} },
      ],
    });
    other = await startLiveWorker({ beside: stack.worker });
  });
  after(async () => {
    await other?.close();
    await stack?.stop();
  });

  const create = async (scope: object): Promise<string> => {
    const made = await stack.ask('POST', '/v1/freezes', { body: { reason: 'something is wrong', ...scope } });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    // A notice reaches the workers in milliseconds.
    await sleep(300);
    return made.body.id;
  };
  const lift = async (id: string): Promise<void> =>
    assert.equal((await stack.ask('POST', `/v1/freezes/${id}/lift`, { body: {} })).status, 200);
  const say = async (session: string, text: string, agent = 'free') =>
    (await stack.worker.say(session, text, { agent })).turn_id;
  const heldEvents = async (session: string) =>
    (await stack.worker.events(session)).filter(({ type }) => type === 'turn.held');
  const untilHeld = (session: string) =>
    stack.worker.until(`a held turn of ${session}`, async () => (await heldEvents(session))[0]);
  const effects = (note: string): number =>
    [...stack.worker.probes.effects, ...other.probes.effects].filter((effect) => effect.note === note).length;

  for (const tool of ['poke', 'mark', 'nudge', 'peek'])
    it(`hold back ${tool} until they are lifted, and tell its turn once why`, async () => {
      const id = await create({ tools: [tool] });
      const turn = await say(tool, `${tool} {"note":"${tool}"}`);
      const { data, turn_id } = await untilHeld(tool);
      assert.deepEqual([turn_id, data], [turn, { freeze_id: id, reason: 'something is wrong' }]);
      const free = await say(`${tool}-beside`, 'nudge {"note":"beside"}', 'other');
      if (tool !== 'nudge') assert.equal((await stack.worker.ended(free)).status, 'completed');
      await sleep(500);
      assert.equal(effects(tool), 0);
      await lift(id);
      assert.equal((await stack.worker.ended(turn)).status, 'completed');
      assert.equal((await heldEvents(tool)).length, 1);
      const [call] = await stack.worker.calls(turn);
      assert.deepEqual([call?.ok, call?.result], [true, `${tool} ${tool}`]);
      await stack.worker.ended(free);
    });

  it('hold back the model calls of an agent, and of no other', async () => {
    const id = await create({ agent: 'free' });
    const turn = await say('model', 'peek {"note":"model"}');
    await untilHeld('model');
    assert.equal((await stack.worker.ended(await say('another', 'hello', 'other'))).status, 'completed');
    assert.equal((await stack.worker.calls(turn)).length, 0);
    await lift(id);
    assert.equal((await stack.worker.ended(turn)).status, 'completed');
  });

  it('hold back the turns of one revision, and not those of the next', async () => {
    const id = await create({ agent: 'free', revision: 1 });
    const turn = await say('first', 'poke {"note":"first"}');
    await untilHeld('first');
    const changed = await stack.ask('PATCH', '/v1/agents/free', { body: { description: 'better' } });
    assert.equal(changed.status, 200);
    assert.equal(
      (await stack.worker.ended(await say('second', 'poke {"note":"second"}'))).status,
      'completed',
    );
    await lift(id);
    assert.equal((await stack.worker.ended(turn)).status, 'completed');
    assert.deepEqual([effects('first'), effects('second')], [1, 1]);
  });

  it('hold back the next call of a turn that runs already, and let its running call end', async () => {
    const turn = await say('runs', 'hold {"note":"runs"}\nthen\npoke {"note":"next"}');
    await stack.worker.until(
      'the held call',
      () => stack.worker.probes.held.get('runs') ?? other.probes.held.get('runs'),
    );
    const id = await create({});
    for (const { probes } of [stack.worker, other]) probes.release('runs');
    await untilHeld('runs');
    assert.equal(effects('next'), 0);
    await lift(id);
    assert.equal((await stack.worker.ended(turn)).status, 'completed');
    assert.equal(effects('next'), 1);
  });

  it('hold a call for as long as any of them names it', async () => {
    const [one, two] = [await create({ tools: ['poke'] }), await create({ agent: 'free' })];
    const turn = await say('both', 'poke {"note":"both"}');
    await untilHeld('both');
    await lift(one);
    await sleep(500);
    assert.equal(effects('both'), 0);
    await lift(two);
    assert.equal((await stack.worker.ended(turn)).status, 'completed');
  });

  it('let a held turn be steered, and stopped without its call', async () => {
    const id = await create({ tools: ['group:other'] });
    const turn = await say('stopped', 'poke {"note":"stopped"}');
    await untilHeld('stopped');
    await stack.worker.say('stopped', 'never mind', { mode: 'steer' });
    const answer = await stack.ask('POST', '/v1/sessions/stopped/stop', { body: { level: 'now' } });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    assert.equal((await stack.worker.ended(turn)).status, 'stopped');
    await lift(id);
    await sleep(300);
    assert.equal(effects('stopped'), 0);
  });

  it('are no delay for calls of a worker that has not heard of the notice for two seconds', async () => {
    await stack.pool.query(
      `insert into freezes (tenant_id, id, reason, tools, created_by) values ($1, 'unheard', 'unheard', '{poke}', 'a test')`,
      [stack.tenant],
    );
    await stack.pool.query(
      `insert into changes (tenant_id, kind) values ($1, 'freezes')
       on conflict (tenant_id, kind) do update set version = changes.version + 1, changed_at = now()`,
      [stack.tenant],
    );
    await sleep(2_500);
    const turn = await say('unheard', 'poke {"note":"unheard"}');
    await untilHeld('unheard');
    assert.equal(effects('unheard'), 0);
    await lift('unheard');
    assert.equal((await stack.worker.ended(turn)).status, 'completed');
  });

  it('IN-6 tell who follows the turn in a terminal', async () => {
    const id = await create({ tools: ['poke'] });
    const turn = await say('watched', 'poke {"note":"watched"}');
    await untilHeld('watched');
    const lines: string[] = [];
    const sink = {
      text: () => undefined,
      line: (line: string) => void lines.push(line),
      end: () => undefined,
    };
    const show = createFeedView({ sink, output: createOutput(process.stdout), answer: true });
    for (const event of await stack.worker.events('watched')) show(event);
    assert.ok(
      lines.some((text) => /held back until it is lifted: something is wrong/.test(text)),
      lines.join('\n'),
    );
    await lift(id);
    await stack.worker.ended(turn);
  });

  it('are listed with who made and lifted them, and lifting again changes nothing', async () => {
    const id = await create({ agent: 'other' });
    await lift(id);
    const [first] = (await stack.ask('GET', '/v1/freezes')).body.data;
    await lift(id);
    const [again] = (await stack.ask('GET', '/v1/freezes?limit=1')).body.data;
    assert.equal(first.id, id);
    assert.ok(first.lifted_at && first.lifted_by && first.created_by);
    assert.deepEqual(again, first);
  });

  it('are refused when they name nothing, and need an admin', async () => {
    const refuse = async (body: object, status: number, detail: RegExp, key = stack.key) => {
      const answer = await stack.ask('POST', '/v1/freezes', { body, key });
      assert.equal(answer.status, status, JSON.stringify(answer.body));
      assert.match(JSON.stringify(answer.body), detail);
    };
    await refuse({}, 400, /reason/);
    await refuse({ reason: 'x', revision: 1 }, 400, /needs an agent/);
    await refuse({ reason: 'x', agent: 'fre' }, 422, /no agent fre; did you mean free/);
    await refuse(
      { reason: 'x', agent: 'free', revision: 99 },
      422,
      /body\/revision.*free has no revision 99/,
    );
    await refuse({ reason: 'x', tools: ['group:nothing'] }, 400, /no group/);
    await refuse({ reason: 'x' }, 403, /admin/, await stack.makeKey(['read', 'run']));
    for (const id of ['none', 'a%00b'])
      assert.equal((await stack.ask('POST', `/v1/freezes/${id}/lift`, { body: {} })).status, 404, id);
  });
});
