/**
 * DU-1, DU-4: what ends at once runs within the workflow task. What does not continues as an activity, started once and
 * stopped as usual.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer, type TestServer } from '#test/activities/model/provider-server.ts';
import { activitiesOf, type RunActivity } from '#test/support/histories.ts';
import { isPlainEngine } from '#test/support/engine.ts';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';

/** Far longer than the workflow task waits. */
const SLOW_MS = 2_000;

/** The session whose second answer never comes. */
const NEVER_ANSWERED = 'word-stopped';

interface SlowSecond extends TestServer {
  /** Requests by the session's word, and those whose client disconnected before the answer. */
  readonly asked: Map<string, number>;
  readonly dropped: Set<string>;
}

/** OpenAI's chat protocol: the first answer comes at once and requests `peek`, the second one late. */
async function startSlowSecond(): Promise<SlowSecond> {
  const requests = new Map<string, number>();
  const dropped = new Set<string>();
  const server = await startServer(async ({ body }, response) => {
    const messages = body['messages'] as readonly { role: string; content: unknown }[];
    const word = /word-\w+/.exec(JSON.stringify(messages))?.[0] ?? '';
    requests.set(word, (requests.get(word) ?? 0) + 1);
    response.on('close', () => {
      if (!response.writableFinished) dropped.add(word);
    });
    const chunk = (delta: object, end: string | null): string =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (messages.at(-1)?.role === 'tool') {
      if (word === NEVER_ANSWERED) return;
      await sleep(SLOW_MS);
      response.write(chunk({ role: 'assistant', content: 'Late.' }, null));
      response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
      return;
    }
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'peek', arguments: '{"note":"p"}' },
    };
    response.write(chunk({ role: 'assistant', content: '', tool_calls: [call] }, null));
    response.end(`${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
  });
  return Object.assign(server, { asked: requests, dropped });
}

describe('DU-1 steps that are over at once', { skip: isPlainEngine() }, () => {
  let live: LiveWorker;
  let model: SlowSecond;
  before(async () => {
    model = await startSlowSecond();
    live = await startLiveWorker({
      settings: `models: { providers: { chat: { type: openai, api: chat, apiKey: planted, baseUrl: '${model.url}' } } }\n`,
      scripts: {
        'second-fails': `rules:
  - when: { step: 0 }
    reply: { calls: [{ tool: peek, args: { note: a } }] }
  - when: { user: for good }
    reply: { error: { status: 401, message: No. } }
  - when: { attempt: { below: 3 } }
    reply: { error: { status: 503, message: Later. } }
  - reply: { text: At last. }
`,
        limited: `rules:
  - when: { step: 0 }
    reply: { calls: [{ tool: peek, args: { note: a } }] }
  - reply: { text: In time., error: { status: 429, message: Slow down., retry_after: 1200ms, times: 1 } }
`,
        unknown: `rules:
  - reply: { text: 'Asked {{attempt}} time.' }
`,
        paced: `delay: 90ms
rules:
  - when: { step: { below: 12 } }
    reply: { calls: [{ tool: peek, args: { note: '{{step}}' } }] }
  - reply: { text: Paced. }
`,
      },
      agents: [
        { key: 'fails', model: 'rehearsal/second-fails' },
        { key: 'late', model: 'chat/gpt-4.1-mini' },
        { key: 'limited', model: 'rehearsal/limited' },
        { key: 'unknown', model: 'rehearsal/unknown' },
        { key: 'paced', model: 'rehearsal/paced' },
        { key: 'runs', exec: { security: 'full', ask: 'off' } },
      ],
    });
  });
  after(async () => {
    await live?.close();
    await model?.close();
  });

  /** The row of a turn's end exists a moment before the history does. */
  async function ran(session: string): Promise<readonly RunActivity[]> {
    const id = workflowIdOf(live, session);
    await live.client.workflow.getHandle(id).result();
    return activitiesOf(live.client, id);
  }
  const run = (command: string): string => `exec ${JSON.stringify({ command })}`;

  it('a model that answers at once is asked within the workflow task, the first time excepted', async () => {
    // This fails only if the machine is so busy that nothing is quick.
    const found = await eventually(async () => {
      const session = `quick-${performance.now().toFixed()}`;
      const script = 'peek {"note":"1"}\nthen\npeek {"note":"2"}\nthen\nDone.';
      const { turn_id } = await live.say(session, script);
      const row = await live.ended(turn_id);
      assert.deepEqual([row.status, row.text, row.steps], ['completed', 'Done.', 3]);
      const calls = (await ran(session)).filter(({ type }) => type === 'call_model');
      assert.equal(calls[0]?.local, false);
      return calls.slice(1).every(({ local }) => local);
    });
    assert.ok(found);
  });

  it('for who waits also the first time, once this worker knows it to be quick', async () => {
    const found = await eventually(async () => {
      const session = `first-${performance.now().toFixed()}`;
      const { turn_id } = await live.say(session, 'Hello.', {}, { inline_model: true });
      assert.equal((await live.ended(turn_id)).status, 'completed');
      const [call, another] = (await ran(session)).filter(({ type }) => type === 'call_model');
      return call?.local === true && another === undefined;
    });
    assert.ok(found);
  });

  it('one that this worker does not know is left to an activity at once, and asked once', async () => {
    const { turn_id } = await live.say('unknown', 'Hello.', { agent: 'unknown' }, { inline_model: true });
    const row = await live.ended(turn_id);
    assert.deepEqual([row.status, row.text, row.steps], ['completed', 'Asked 1 time.', 1]);
    const calls = (await ran('unknown')).filter(({ type }) => type === 'call_model');
    assert.deepEqual(
      calls.map(({ local }) => local),
      [true, false],
    );
  });

  it('a call that takes longer after all goes on as an activity, and the model is asked once', async () => {
    const found = await eventually(async () => {
      const word = `word-${performance.now().toFixed()}`;
      const { turn_id } = await live.say(word, word, { agent: 'late' });
      const row = await live.ended(turn_id);
      assert.deepEqual([row.status, row.text, row.steps], ['completed', 'Late.', 2]);
      assert.equal(model.asked.get(word), 2);
      const calls = (await ran(word)).filter(({ type }) => type === 'call_model');
      return calls.length === 3 && calls[1]?.local === true && calls[2]?.local === false;
    });
    assert.ok(found);
  });

  it('DU-4: a stop reaches a call that goes on, and the model is hung up on', async () => {
    const word = NEVER_ANSWERED;
    const { turn_id } = await live.say(word, word, { agent: 'late' });
    await live.until('the second question', () => (model.asked.get(word) === 2 ? true : undefined));
    await live.temporal.stop(live.tenant, word, { turn_id, level: 'now', by: 'ann' });
    assert.equal((await live.ended(turn_id)).status, 'stopped');
    assert.ok(await eventually(async () => model.dropped.has(word)));
    assert.equal(model.asked.get(word), 2);
  });

  it('MO: a quick model that fails is tried on as any other, and says so when that is no use', async () => {
    const mended = await live.say('mended', 'Again.', { agent: 'fails' });
    const row = await live.ended(mended.turn_id);
    assert.deepEqual([row.status, row.text], ['completed', 'At last.']);
    const refused = await live.say('refused', 'Refuse for good.', { agent: 'fails' });
    const { status, error } = await live.ended(refused.turn_id);
    assert.deepEqual([status, error?.code], ['failed', 'ModelFailed']);
    assert.match(error?.message ?? '', /No\./);
  });

  it('MO-1: a quick model that asks to be left alone is left alone as long as it asks', async () => {
    const startedAt = performance.now();
    const { turn_id } = await live.say('limited', 'Go.', { agent: 'limited' });
    const row = await live.ended(turn_id);
    assert.deepEqual([row.status, row.text], ['completed', 'In time.']);
    assert.ok(performance.now() - startedAt >= 1_200);
    const calls = (await ran('limited')).filter(({ type }) => type === 'call_model');
    assert.equal(calls[1]?.local, true, 'it began within the workflow task');
  });

  it('DU-4: a chain of quick calls ends its workflow task twice a second, by a call that is an activity, and asks for none twice', async () => {
    const found = await eventually(async () => {
      const session = `paced-${performance.now().toFixed()}`;
      const { turn_id } = await live.say(session, 'Go.', { agent: 'paced' });
      const row = await live.ended(turn_id);
      assert.deepEqual([row.status, row.text, row.steps], ['completed', 'Paced.', 13]);
      const calls = (await ran(session)).filter(({ type }) => type === 'call_model');
      const { rows } = await live.pool.query(
        `select 1 from model_uses where tenant_id = $1 and session_key = $2 and kind = 'unused'`,
        [live.tenant, session],
      );
      assert.equal(rows.length, 0);
      const ways = calls.slice(1).map(({ local }) => local);
      return ways.includes(true) && ways.includes(false);
    });
    assert.ok(found);
  });

  it('a command that is over at once runs within the workflow task', async () => {
    const found = await eventually(async () => {
      const session = `brief-${performance.now().toFixed()}`;
      const { turn_id } = await live.say(session, run('echo brief'), { agent: 'runs' });
      await live.ended(turn_id);
      assert.match((await live.calls(turn_id))[0]?.result ?? '', /brief/);
      const commands = (await ran(session)).filter(({ type }) => type === 'exec');
      assert.equal(commands[0]?.local, true);
      return commands.length === 1;
    });
    assert.ok(found);
  });

  it('DU-2: one that a quick answer asks for begins with the record of that answer, and is run once', async () => {
    const found = await eventually(async () => {
      const session = `early-${performance.now().toFixed()}`;
      const file = `${session}.txt`;
      const script = `peek {"note":"1"}\nthen\n${run(`echo early >> ${file}; cat ${file}`)}`;
      const { turn_id } = await live.say(session, script, { agent: 'runs' });
      assert.equal((await live.ended(turn_id)).status, 'completed');
      const call = (await live.calls(turn_id)).at(-1);
      assert.deepEqual([call?.ok, call?.result?.match(/early/g)?.length], [true, 1]);
      const started = (await live.events(session)).filter(({ type }) => type === 'tool.started');
      assert.equal(started.filter(({ data }) => data['call_id'] === call?.id).length, 1);
      const { rows } = await live.pool.query(
        `select c.started_at = m.created_at as together from tool_calls c
           join messages m on m.tenant_id = c.tenant_id and m.turn_id = c.turn_id and m.step = c.step and m.role = 'assistant'
         where c.tenant_id = $1 and c.id = $2`,
        [live.tenant, call?.id],
      );
      return rows[0]?.together === true;
    });
    assert.ok(found);
  });

  it('DU-2: one that takes longer is run once, goes on as an activity and gives all its output', async () => {
    const command = 'echo begun >> runs.txt; sleep 2; wc -l < runs.txt; echo over';
    const { turn_id } = await live.say('lasting', run(command), { agent: 'runs' });
    assert.equal((await live.ended(turn_id)).status, 'completed');
    const [call] = await live.calls(turn_id);
    assert.match(call?.result ?? '', /^\s*1\nover/m);
    assert.deepEqual(
      (await ran('lasting')).filter(({ type }) => type === 'exec').map(({ local }) => local),
      [true, false],
    );
    const started = (await live.events('lasting')).filter(({ type }) => type === 'tool.started');
    assert.equal(started.length, 1);
  });

  it('DU-4: a stop ends one that goes on, with all that it started', async () => {
    const seconds = uniqueSeconds();
    const script = `peek {"note":"1"}\nthen\n${run(`sleep ${seconds} & wait`)}`;
    const { turn_id } = await live.say('ended', script, { agent: 'runs' });
    await live.until('the activity', async () =>
      (await activitiesOf(live.client, workflowIdOf(live, 'ended'))).some(
        ({ type, local }) => type === 'exec' && !local,
      )
        ? true
        : undefined,
    );
    await live.temporal.stop(live.tenant, 'ended', { turn_id, level: 'now', by: 'ann' });
    assert.equal((await live.ended(turn_id)).status, 'stopped');
    assert.equal((await live.calls(turn_id)).at(-1)?.code, 'Cancelled');
    assert.deepEqual(runningWith(seconds), []);
  });
});

describe('DU-1 a worker that may run little at once', { skip: isPlainEngine() }, () => {
  it('runs all commands that are asked for together, each once', async (t) => {
    const live = await startLiveWorker({
      env: { TEMPOCLAW_MAX_CONCURRENT_ACTIVITIES: '2' },
      agents: [{ key: 'runs', exec: { security: 'full', ask: 'off' } }],
    });
    t.after(() => live.close());
    const commands = ['a', 'b', 'c', 'd', 'e'].map(
      (name) => `exec ${JSON.stringify({ command: `echo ${name} >> many.txt; sleep 1; echo ${name}` })}`,
    );
    const last = 'exec {"command":"sort many.txt | tr -d \\"\\\\n\\""}';
    const { turn_id } = await live.say('many', `${commands.join('\n')}\nthen\n${last}`, { agent: 'runs' });
    assert.equal((await live.ended(turn_id)).status, 'completed');
    const calls = await live.calls(turn_id);
    assert.deepEqual(
      calls.map(({ ok }) => ok),
      calls.map(() => true),
    );
    assert.match(calls.at(-1)?.result ?? '', /^abcde/);
  });
});
