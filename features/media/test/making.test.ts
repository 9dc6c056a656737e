/**
 * Making media in turns: timers wait for long jobs, which are cancelled with their turn, paid for once, and counted.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createBudgetLedger } from '#store/budgets/budget-ledger.ts';
import { historyText } from '#test/support/histories.ts';
import { workflowIdOf } from '#test/support/live-worker.ts';
import { type MediaServer, PNG, startMediaServer } from '#test/support/media-server.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const VIDEO = 'create_video {"prompt":"An otter","duration":4}';

describe('TL media in a turn', () => {
  let server: MediaServer;
  let stack: Stack;
  before(async () => {
    server = await startMediaServer();
    stack = await startStack({
      env: server.env,
      agents: [
        { key: 'poor', budgets: [{ scope: 'turn', usd: 0.3, on_limit: 'stop' }] },
        { key: 'looks', model: 'rehearsal/inspect' },
      ],
    });
  });
  after(async () => {
    await stack.stop();
    await server.close();
  });

  async function begin(session: string, text = VIDEO, input: object = {}) {
    const before = server.jobs.size;
    const { turn_id } = await stack.worker.say(session, text, input);
    const job = await stack.worker.until('the job', () => [...server.jobs.values()][before]);
    return { turn: turn_id, job };
  }

  async function end(turn: string) {
    await stack.worker.ended(turn);
    const [call] = await stack.worker.calls(turn);
    assert.ok(call);
    return call;
  }

  const typesOf = async (session: string): Promise<string[]> => {
    const run = stack.worker.client.workflow.getHandle(workflowIdOf(stack.worker, session));
    const { events } = await run.fetchHistory();
    return (events ?? []).flatMap(
      ({ activityTaskScheduledEventAttributes: task, timerStartedEventAttributes }) =>
        task ? [task.activityType?.name ?? ''] : timerStartedEventAttributes ? ['timer'] : [],
    );
  };

  it('between two looks at a job there is a timer, and no activity', async () => {
    const { turn, job } = await begin('video');
    await stack.worker.until('a look', () => server.lines(`GET /v2/query/video_generation/${job.id}`)[1]);
    job.state = 'done';
    const call = await end(turn);
    assert.equal(call.ok, true, call.result ?? '');
    const path = /^Made by minimax\/MiniMax-H3: (\S+\.mp4) /.exec(call.result ?? '')?.[1] ?? '';
    const file = await stack.ask('GET', `/v1/agents/main/workspace/${path}`);
    assert.equal(file.status, 200, JSON.stringify(file.body));
    const types = (await typesOf('video')).join(' ');
    assert.match(types, /create_video timer create_video timer create_video/);
    assert.equal(server.lines('POST /v2/video_generation').length, 1);
  });

  it('DU-7 what it has cost is the turn’s, and is told apart', async () => {
    const { turn, job } = await begin('cost');
    job.state = 'done';
    await end(turn);
    const { body } = await stack.ask('GET', '/v1/usage?by=model,kind');
    const row = body.data.find(({ model }: { model: string }) => model === 'minimax/MiniMax-H3');
    assert.equal(row?.kind, 'media', JSON.stringify(body));
    const { rows } = await stack.pool.query('select cost_usd from turns where tenant_id = $1 and id = $2', [
      stack.tenant,
      turn,
    ]);
    assert.equal(Number(rows[0].cost_usd), 0.32);
  });

  it('DU-7 what has no room in a budget is not ordered', async () => {
    const before = server.seen.length;
    const { turn_id } = await stack.worker.say('poor', VIDEO, { agent: 'poor' });
    const call = await end(turn_id);
    assert.equal(call.code, 'BudgetExceeded');
    assert.match(call.result ?? '', /may need \$0\.32\. Nothing was ordered of minimax\/MiniMax-H3\.$/);
    assert.equal(server.seen.length, before);
  });

  it('DU-4 a stop between two looks cancels the job at its provider', async () => {
    const { turn, job } = await begin('stop');
    await stack.worker.until('a look', () => server.lines(`GET /v2/query/video_generation/${job.id}`)[0]);
    await stack.worker.temporal.stop(stack.tenant, 'stop', { turn_id: turn, level: 'now', by: 'ann' });
    const call = await end(turn);
    assert.equal(call.code, 'Cancelled');
    assert.equal(job.state, 'cancelled');
  });

  it('DU-4 a stop while the order is on its way waits for its id, and cancels by it', async () => {
    const answered = Promise.withResolvers<void>();
    server.onRequest = (line, when) =>
      line.startsWith('POST /v2/video') && when === 'after' ? answered.promise : undefined;
    const { turn, job } = await begin('early');
    await stack.worker.temporal.stop(stack.tenant, 'early', { turn_id: turn, level: 'now', by: 'ann' });
    await stack.worker.state('early');
    server.onRequest = undefined;
    answered.resolve();
    assert.equal((await end(turn)).code, 'Cancelled');
    assert.equal(job.state, 'cancelled');
  });

  it('a video begins with an artifact as it does with a file, and another user’s is not there for it', async () => {
    const put = async (query: string): Promise<string> => {
      const response = await fetch(`${stack.url}/v1/artifacts${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.key}` },
        body: new Blob([new Uint8Array(PNG)]),
      });
      return ((await response.json()) as { id: string }).id;
    };
    const text = (id: string) =>
      `create_video ${JSON.stringify({ prompt: 'It dives', image_path: `artifact:${id}` })}`;
    const { turn, job } = await begin('from-artifact', text(await put('')));
    job.state = 'done';
    assert.equal((await end(turn)).ok, true);
    const ordered = server.seen.findLast(({ line }) => line.startsWith('POST /v2/video_generation'));
    const url = `data:image/png;base64,${PNG.toString('base64')}`;
    assert.deepEqual(ordered?.body.content[1].image_url, { url });
    const before = server.jobs.size;
    const { turn_id } = await stack.worker.say('of-another', text(await put('?user=ann')), { user: 'bob' });
    assert.equal((await end(turn_id)).code, 'FileNotFound');
    assert.equal(server.jobs.size, before);
  });

  it('DU-7 what was made is counted once though its worker was lost before it could say so', async () => {
    const { turn, job } = await begin('lost');
    job.state = 'done';
    const call = await end(turn);
    const ledger = createBudgetLedger(stack.pool, () => undefined);
    const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
    const once = `${call.id}.minimax/MiniMax-H3`;
    const use = { kind: 'media', model: 'minimax/MiniMax-H3', usage, usd: 0.32, once } as const;
    await ledger.noteUses({ tenant: stack.tenant, session: 'lost', turn }, [use]);
    const { rows } = await stack.pool.query(
      `select cost_usd::float as cost, (select count(*)::int from model_uses where session_key = t.session_key and kind = 'media') as uses
         from turns t where tenant_id = $1 and id = $2`,
      [stack.tenant, turn],
    );
    assert.deepEqual(rows, [{ cost: 0.32, uses: 1 }]);
  });

  it('a picture stands with its call, by the name that a seed had for the tool', async () => {
    const { turn_id } = await stack.worker.say('picture', 'image {"prompt":"An otter"}');
    const call = await end(turn_id);
    assert.equal(call.tool, 'create_image');
    assert.match(
      call.result ?? '',
      /^Made by openai\/gpt-image-1\.5: \S+ \(64x48 pixels, \d+ bytes\)\n\[image: image\/png, 64x48 pixels, \/v1\/tool-calls\/\S+\/images\/1\]$/,
    );
    const { status } = await stack.ask('GET', `/v1/tool-calls/${call.id}/images/1`);
    assert.equal(status, 200);
    const { body } = await stack.ask('GET', `/v1/turns/${turn_id}/tool-calls`);
    const [path] = body.data[0].changed_files;
    assert.match(path, /^generated\//);
    assert.ok(call.result?.includes(`: ${path} (`), `${path} in ${call.result}`);
  });

  it('SC-3 what is kept of an order is sealed, and no key is in a row or a history', async () => {
    const { turn, job } = await begin('sealed');
    const { rows } = await stack.pool.query<{ kept: string }>(
      `select encode(outside, 'escape') as kept from tool_calls where tenant_id = $1 and turn_id = $2`,
      [stack.tenant, turn],
    );
    assert.ok(rows[0]?.kept);
    assert.ok(!rows[0].kept.includes(job.id));
    job.state = 'done';
    await end(turn);
    const text = await historyText(stack.worker.client, workflowIdOf(stack.worker, 'sealed'));
    assert.doesNotMatch(text, /key-of-minimax/);
  });
});
