/**
 * Temporal's samples of agents in TypeScript with TempoClaw's plugin, as their authors have them: a project of its own
 * with the packages from npm and the built plugin, a scripted model, workers that are killed.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { access, appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { childEnvironment, userCacheDir } from '#config';
import { type Stack, startStack } from '#test/support/stack.ts';
import { AGENT_PACKAGES, SAMPLES } from './agent-samples.ts';

const run = promisify(execFile);

/** The project's folder, installed once in the user's cache. */
async function projectWithPackages(): Promise<string> {
  const folder = join(userCacheDir(), 'test-guarded-agents-1');
  const isThere = await access(folder).then(
    () => true,
    () => false,
  );
  if (isThere) return folder;
  // It is made aside and moved into place, so that a partial one is never used.
  const part = `${folder}.${process.pid}`;
  await mkdir(part, { recursive: true });
  await writeFile(join(part, 'package.json'), '{"type":"module","private":true}');
  const options = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--save-exact'];
  await run('npm', [...options, ...AGENT_PACKAGES], {
    cwd: part,
    env: childEnvironment({}),
    timeout: 300_000,
  });
  await rename(part, folder).catch(() => rm(part, { recursive: true }));
  return folder;
}

/** Books what the last word of the prompt says, and then says what the tool has said. */
function startModel(): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { messages } = JSON.parse(await readText(request));
    const last = messages.at(-1);
    const text = typeof last.content === 'string' ? last.content : (last.content?.[0]?.text ?? '');
    const place = JSON.stringify({ place: text.split(' ').at(-1) });
    const call = { id: 'call_1', type: 'function', function: { name: 'bookTrip', arguments: place } };
    const message =
      last.role === 'tool'
        ? { role: 'assistant', content: `The tool says: ${text}` }
        : { role: 'assistant', content: null, tool_calls: [call] };
    const finish_reason = last.role === 'tool' ? 'stop' : 'tool_calls';
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    response.setHeader('content-type', 'application/json');
    const choices = [{ index: 0, message, finish_reason }];
    response.end(
      JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'scripted', choices, usage }),
    );
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

describe('agents of Temporal’s samples with TempoClawPlugin', { timeout: 900_000 }, () => {
  let stack: Stack;
  let model: Server;
  let project: string;
  let key: string;
  before(async () => {
    project = await projectWithPackages();
    await run(process.execPath, [
      'scripts/build-library.ts',
      'temporal',
      join(project, 'node_modules/@tempoclaw/temporal'),
    ]);
    model = await startModel();
    stack = await startStack();
    const rules = [
      { tool: 'bookTrip', args: { place: 'moon*' }, decision: 'deny', reason: 'no trips to the moon' },
      { tool: 'bookTrip', args: { place: 'mars*' }, decision: 'ask' },
    ];
    await stack.ask('POST', '/v1/agents', {
      body: { key: 'travel', model: 'rehearsal/follow', tools: { rules } },
    });
    key = await stack.makeKey(['run']);
  });
  after(async () => {
    await stack?.stop();
    model?.close();
  });

  for (const [name, files] of Object.entries(SAMPLES))
    describe(name, () => {
      const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
      const taskQueue = `${name}-${randomUUID()}`;
      let folder: string;
      let effects: string;
      let connection: Connection;
      let worker: ChildProcess | undefined;

      async function startWorker(): Promise<void> {
        const env = {
          ...childEnvironment({}),
          ADDRESS: address,
          TASK_QUEUE: taskQueue,
          EFFECTS: effects,
          MODEL_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`,
          TEMPOCLAW_URL: stack.url,
          TEMPOCLAW_API_KEY: key,
        };
        worker = fork(join(folder, 'worker.js'), {
          env,
          cwd: folder,
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        });
        await Promise.race([
          once(worker, 'message'),
          once(worker, 'exit').then(() => Promise.reject(new Error('the worker did not start'))),
        ]);
      }
      async function killWorker(): Promise<void> {
        if (!worker || worker.exitCode !== null) return;
        const gone = once(worker, 'exit');
        worker.kill('SIGKILL');
        await gone;
      }
      const start = (prompt: string) =>
        new Client({ connection }).workflow.start('agent', {
          taskQueue,
          args: [prompt],
          workflowId: `agent-${randomUUID()}`,
        });
      const booked = async (place: string) =>
        (await readFile(effects, 'utf8')).split('\n').filter((line) => line === place).length;
      const callOf = async ({ workflowId }: { readonly workflowId: string }) =>
        (await stack.ask('GET', `/v1/guarded-calls?workflow_id=${workflowId}`)).body.data[0];

      before(async () => {
        folder = join(project, taskQueue);
        effects = join(folder, 'effects');
        await mkdir(folder);
        for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
        await writeFile(effects, '');
        connection = await Connection.connect({ address });
        await startWorker();
      });
      after(async () => {
        await killWorker();
        await connection?.close();
        await rm(folder, { recursive: true, force: true });
      });

      it('is guarded by at most ten lines', () => {
        const changed =
          Object.values(files)
            .join('\n')
            .match(/\/\/ guard$/gm) ?? [];
        assert.ok(changed.length > 0 && changed.length <= 10, `${changed.length} lines`);
      });

      it('PO-3 runs a tool that is allowed, and its model reads why another is denied', async () => {
        assert.equal(await (await start('Book paris')).result(), 'The tool says: booked paris');
        const denied = await start('Book moon-1');
        assert.match(String(await denied.result()), /no trips to the moon/);
        assert.equal(await booked('moon-1'), 0);
        assert.equal((await callOf(denied)).outcome, 'not_run');
      });

      it('AP-1 waits for a person through a kill of its worker', async () => {
        const trip = await start('Book mars-1');
        const { approval_id } = await stack.worker.until('the question', async () => {
          const call = await callOf(trip);
          return call?.decision === 'waiting' ? call : undefined;
        });
        await killWorker();
        const body = { decision: 'approve' };
        assert.equal(
          (await stack.ask('POST', `/v1/approvals/${approval_id}/decision`, { body })).status,
          200,
        );
        await startWorker();
        assert.equal(await trip.result(), 'The tool says: booked mars-1');
        assert.equal(await booked('mars-1'), 1);
        assert.equal((await callOf(trip)).outcome, 'ok');
      });

      it('DU-2 never runs a tool twice whose worker was killed after its effect, and its model reads that', async () => {
        const trip = await start('Book slow-1');
        await stack.worker.until('the effect', async () => ((await booked('slow-1')) > 0 ? true : undefined));
        await killWorker();
        await appendFile(effects, 'go on\n');
        await startWorker();
        assert.match(String(await trip.result()), /may have taken effect/);
        assert.equal(await booked('slow-1'), 1);
        assert.equal((await callOf(trip)).outcome, 'unknown');
      });
    });
});
