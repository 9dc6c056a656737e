/** IN-11: workflows in Python and Go, those of docs/nexus.md, have an agent answer over Nexus. */
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
import { buildGo, whyNoGo } from '#test/support/go.ts';
import { startLiveWorker } from '#test/support/live-worker.ts';
import { pythonWithTemporal } from '#test/support/python.ts';
import { createTestDatabase } from '#test/support/test-database.ts';

// The SDK's threads can outlive its client and abort an interpreter that ends (temporalio/sdk-python#300).
const PYTHON_MAIN = `
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

const GO_MAIN = `
package main

import (
	"context"
	"encoding/json"
	"os"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

func main() {
	answers := os.Stdout
	os.Stdout = os.Stderr
	c, err := client.Dial(client.Options{HostPort: os.Args[1], Namespace: os.Args[2]})
	check(err)
	w := worker.New(c, "go", worker.Options{})
	w.RegisterWorkflow(AskAgent)
	check(w.Start())
	defer w.Stop()
	options := client.StartWorkflowOptions{ID: os.Args[3], TaskQueue: "go"}
	run, err := c.ExecuteWorkflow(context.Background(), options, AskAgent, os.Args[3], os.Args[4])
	check(err)
	var turn Turn
	check(run.Get(context.Background(), &turn))
	check(json.NewEncoder(answers).Encode(turn))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
`;

// This may be omitted only if Python itself is missing, and never on CI.
const python = await pythonWithTemporal().catch((error: Error) => error);
const noPython =
  python instanceof Error && process.env['CI'] !== 'true'
    ? `no Python with Temporal: ${python.message}`
    : false;
const noGo = await whyNoGo();
const page = await readFile(new URL('../../docs/nexus.md', import.meta.url), 'utf8');
const codeIn = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]+?)\`\`\``).exec(page)?.[1] ?? '';

describe('IN-11 Nexus from other languages', () => {
  it('gets the answer of an agent in Python', { skip: noPython }, async () => {
    assert.ok(typeof python === 'string', String(python));
    const answer = await askFrom(async (folder) => {
      await writeFile(join(folder, 'agents.py'), codeIn('python'));
      await writeFile(join(folder, 'main.py'), PYTHON_MAIN);
      return [python, 'main.py'];
    });
    assert.deepEqual([answer.status, answer.text], ['completed', 'Walrus.']);
  });

  it('gets the answer of an agent in Go', { skip: noGo }, async () => {
    const answer = await askFrom(async (folder) => {
      await buildGo(folder, { 'agents.go': codeIn('go'), 'main.go': GO_MAIN });
      return ['./program'];
    });
    assert.deepEqual(answer, { status: 'completed', text: 'Walrus.' });
  });
});

/** `prepare` fills a folder, and returns the command that asks an agent and prints its answer as JSON. */
async function askFrom(
  prepare: (folder: string) => Promise<readonly [string, ...string[]]>,
): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(join(tmpdir(), 'tempoclaw-nexus-'));
  const [command, ...args] = await prepare(folder);
  const tenant = `t${randomBytes(5).toString('hex')}`;
  const endpoint = `endpoint-${tenant}`;
  const database = await createTestDatabase();
  const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? assert.fail('run it by npm run test:system');
  const caller = await startCaller(address);
  const worker = await startLiveWorker({
    settings: JSON.stringify({ nexus: { endpoints: { [endpoint]: { tenant } } } }),
    beside: { tenant, databaseUrl: database.url },
  });
  try {
    await caller.connect(endpoint, worker.taskQueue);
    const options = { cwd: folder, env: childEnvironment({}), timeout: 60_000 };
    const { stdout } = await promisify(execFile)(
      command,
      [...args, address, caller.namespace, endpoint, 'Walrus.'],
      options,
    );
    return JSON.parse(stdout) as Record<string, unknown>;
  } finally {
    await caller.stop();
    await worker.close();
    await database.drop();
    await rm(folder, { recursive: true });
  }
}
