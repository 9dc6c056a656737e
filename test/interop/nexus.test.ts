/** IN-11: a workflow in Python, the one of docs/nexus.md, has an agent answer over Nexus. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { childEnvironment } from '#config';
import { startCaller } from '#features/nexus/test/caller.ts';
import { startLiveWorker } from '#test/support/live-worker.ts';
import { pythonWithTemporal } from '#test/support/python.ts';
import { createTestDatabase } from '#test/support/test-database.ts';

// The SDK's threads can outlive its client and abort an interpreter that ends (temporalio/sdk-python#300).
const MAIN = `
import asyncio, json, os, sys
from temporalio.client import Client
from temporalio.worker import Worker
from agents import AskAgent

async def main(address, namespace, *args):
    client = await Client.connect(address, namespace=namespace)
    async with Worker(client, task_queue="python", workflows=[AskAgent]):
        print(json.dumps(await client.execute_workflow(AskAgent.run, args=args, id=args[0], task_queue="python")), flush=True)

asyncio.run(main(*sys.argv[1:]))
os._exit(0)
`;

// This may be omitted only if Python itself is missing, and never on CI.
const python = await pythonWithTemporal().catch((error: Error) => error);
const skip =
  python instanceof Error && process.env['CI'] !== 'true'
    ? `no Python with Temporal: ${python.message}`
    : false;

describe('IN-11 Nexus from Python', { skip }, () => {
  it('gets the answer of an agent', async () => {
    assert.ok(typeof python === 'string', String(python));
    const page = await readFile(new URL('../../docs/nexus.md', import.meta.url), 'utf8');
    const folder = await mkdtemp(join(tmpdir(), 'tempoclaw-nexus-'));
    await writeFile(join(folder, 'agents.py'), /```python\n([\s\S]+?)```/.exec(page)?.[1] ?? '');
    await writeFile(join(folder, 'main.py'), MAIN);
    const tenant = `t${randomBytes(5).toString('hex')}`;
    const endpoint = `python-${tenant}`;
    const database = await createTestDatabase();
    const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? assert.fail('run it by npm run test:system');
    const caller = await startCaller(address);
    const worker = await startLiveWorker({
      settings: JSON.stringify({ nexus: { endpoints: { [endpoint]: { tenant } } } }),
      beside: { tenant, databaseUrl: database.url },
    });
    try {
      await caller.connect(endpoint, worker.taskQueue);
      const args = ['main.py', address, caller.namespace, endpoint, 'Walrus.'];
      const options = { cwd: folder, env: childEnvironment({}), timeout: 60_000 };
      const { stdout } = await promisify(execFile)(python, args, options);
      const { status, text } = JSON.parse(stdout);
      assert.deepEqual([status, text], ['completed', 'Walrus.']);
    } finally {
      await caller.stop();
      await worker.close();
      await database.drop();
      await rm(folder, { recursive: true });
    }
  });
});
