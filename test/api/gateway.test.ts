/** The gateway over HTTP: what runs, the settings in force, and a reload of them in every process. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('TL gateway', () => {
  let stack: Stack;
  let other: LiveWorker;
  before(async () => {
    const settings = 'models: { providers: { acme: { baseUrl: "http://127.0.0.1:9", apiKey: canary-key } } }';
    stack = await startStack({ settings });
    other = await startLiveWorker({ beside: stack.worker, settings });
  });
  after(async () => {
    await other?.close();
    await stack.stop();
  });

  const write = async (yaml: string): Promise<void> => {
    for (const { settingsFile } of [stack.worker, other]) await writeFile(settingsFile, yaml);
  };
  const reload = (key?: string) =>
    stack.ask('POST', '/v1/gateway/reload', { body: {}, ...(key !== undefined && { key }) });
  const setting = async (path: string) =>
    (await stack.ask('GET', `/v1/gateway/config?path=${path}`)).body.value;
  const caller = () => ({ tenant: stack.tenant, scopes: ['admin'] });

  it('tells what runs', async () => {
    const body = await stack.worker.until('all that runs', async () => {
      const answer = await stack.ask('GET', '/v1/gateway');
      assert.equal(answer.status, 200);
      const { postgres, temporal, workers } = answer.body;
      return postgres === 'ok' && temporal === 'ok' && workers.length > 0 ? answer.body : undefined;
    });
    assert.equal(body.task_queue, stack.worker.taskQueue);
    assert.ok(Number.isInteger(body.uptime_seconds));
  });

  it('shows what each worker does now, what waits, and when the sweep ran', async () => {
    const health = async () => (await stack.ask('GET', '/v1/gateway/health')).body;
    const { turn_id } = await stack.worker.say('watched', 'exec {"command":"sleep 60"}');
    const busy = await stack.worker.until('the tool that runs', async () => {
      const { workers } = await health();
      return workers.length === 2 && workers.some(({ running }: { running: object }) => 'exec' in running)
        ? workers
        : undefined;
    });
    assert.deepEqual(
      busy.map(({ running }: { running: { exec?: number } }) => running.exec ?? 0).toSorted(),
      [0, 1],
    );
    await stack.ask('POST', '/v1/sessions/watched/stop', { body: { level: 'now' } });
    await stack.worker.ended(turn_id);
    await stack.worker.until('nothing that runs', async () =>
      (await health()).workers.every(({ running }: { running: object }) => !('exec' in running))
        ? true
        : undefined,
    );
    const sweep = () =>
      stack.worker.client.workflow.execute('sweep', {
        workflowId: `sweep-${stack.tenant}`,
        taskQueue: stack.worker.taskQueue,
      });
    await sweep();
    const found = await health();
    assert.deepEqual(
      found.sweep.map(({ part, failed }: { part: string; failed: number }) => [part, failed]),
      [
        ['prune_rows', 0],
        ['reap_boxes', 0],
        ['sweep_lost_work', 0],
      ],
    );
    assert.deepEqual(
      found.queues.map(({ queue, kind }: { queue: string; kind: string }) => [queue, kind]),
      ['workflow', 'activity'].map((kind) => [stack.worker.taskQueue, kind]),
    );
    assert.deepEqual([found.postgres, found.temporal], ['ok', 'ok']);
    assert.ok(found.database_bytes > 0);
  });

  it('shows settings without secrets, and says which there are not', async () => {
    assert.deepEqual(await setting('models.providers.acme'), {
      type: 'openai-compatible',
      apiKey: 'set',
      baseUrl: 'http://127.0.0.1:9',
    });
    assert.doesNotMatch(JSON.stringify(await setting('')), /canary-key/);
    assert.equal((await stack.ask('GET', '/v1/gateway/config?path=api.nothing')).status, 404);
  });

  it('a reload reaches each worker, changes what the next call may do, and disturbs no turn', async () => {
    const waiting = await stack.worker.say('waits', 'poke {"note":"tea"}\nthen\nDone.');
    const approval = await stack.worker.approvalOf('waits');
    await write('tools: { deny: [datetime] }\nworker: { maxCachedWorkflows: 9 }\n');
    const { status, body } = await reload();
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body.applied, ['tools.deny']);
    assert.ok(body.restart.includes('worker.maxCachedWorkflows'));
    assert.ok(body.restart.includes('models.providers'));
    assert.deepEqual(await setting('tools.deny'), ['datetime']);
    await stack.worker.until('the other worker', () => {
      const tools = other.gateway.config(caller(), 'tools') as { readonly deny?: readonly string[] };
      return tools.deny?.includes('datetime') ? true : undefined;
    });
    const denied = await stack.worker.say('asks', 'datetime {}');
    await stack.worker.ended(denied.turn_id);
    const [call] = await stack.worker.calls(denied.turn_id);
    assert.deepEqual([call?.verdict, call?.ok], ['deny', false]);
    const decided = await stack.ask('POST', `/v1/approvals/${approval}/decision`, {
      body: { decision: 'approve' },
    });
    assert.equal(decided.status, 200, JSON.stringify(decided.body));
    assert.equal((await stack.worker.ended(waiting.turn_id)).status, 'completed');
  });

  it('a file that cannot be used is refused with what is wrong and where; nothing of it is applied', async () => {
    await write('tools: { deny: [] }\nexec: { security: nonsense }\n');
    const { status, body } = await reload();
    assert.equal(status, 422);
    assert.match(JSON.stringify(body), /tempoclaw\.yaml.*exec\.security/s);
    assert.deepEqual(await setting('tools.deny'), ['datetime']);
  });

  it('is for admins of the operator’s tenant', async () => {
    const runs = await stack.makeKey(['read', 'run', 'approve']);
    const { key: foreign } = await stack.makeTenant();
    for (const key of [runs, foreign]) {
      assert.equal((await reload(key)).status, 403);
      for (const path of ['', '/config', '/health'])
        assert.equal((await stack.ask('GET', `/v1/gateway${path}`, { key })).status, 403);
    }
  });
});
