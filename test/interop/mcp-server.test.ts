/** MC-5: other clients at the MCP server: the SDK's over stdio, Python's, and the protocol's conformance suite. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import { childEnvironment } from '#config';
import { defineTool, type Tool } from '#policy/define-tool.ts';
import { toolError, type ToolResult } from '#domain/tool.ts';
import { textsOf } from '#test/support/mcp-client.ts';
import { pythonWith } from '#test/support/python.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { SUITE, UNMET } from './mcp-conformance.ts';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
const PYTHON_CLIENT = fileURLToPath(new URL('mcp-client.py', import.meta.url));
const PYTHON_SDK = 'mcp==2.3.0';

/** A tool that the suite calls. */
function suiteTool(
  name: string,
  input: Tool['input'],
  answer: (input: Record<string, unknown>, signal: AbortSignal) => Promise<ToolResult>,
): Tool {
  return defineTool<Record<string, unknown>>({
    name,
    description: `Test tool ${name}.`,
    group: 'other',
    replay: 'readonly',
    input: input as z.ZodType<Record<string, unknown>>,
    limits: { duration: 'long', timeoutSeconds: 30 },
    run: (_deps, input, call) => answer(input, call.signal),
  });
}

async function pause(seconds: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new Error('stopped'));
    });
  });
}

const text = async (words: string): Promise<ToolResult> => ({ ok: true, text: words });
const TOOLS = [
  suiteTool('test_simple_text', z.object({}), () => text('This is a simple text response for testing.')),
  suiteTool('test_tool_with_progress', z.object({}), () => text('done')),
  suiteTool('test_error_handling', z.object({}), async () =>
    toolError('ExecutionFailed', 'This tool intentionally returns an error for testing'),
  ),
  suiteTool('greet', z.object({ name: z.string().describe('Who') }), ({ name }) =>
    text(`Hello, ${String(name)}!`),
  ),
  suiteTool(
    'slow_compute',
    z.object({
      seconds: z.number().describe('How long'),
      label: z.string().optional().describe('A word to know it by'),
    }),
    async ({ seconds }, signal) => {
      await pause(Number(seconds), signal);
      return text(`slept ${String(seconds)} s`);
    },
  ),
  suiteTool('failing_job', z.object({}), async (_input, signal) => {
    await pause(1.5, signal);
    return toolError('ExecutionFailed', 'It failed, as it should');
  }),
];

describe('MC-5 other clients at the MCP server', () => {
  let stack: Stack;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tempoclaw-mcp-'));
    stack = await startStack({ tools: TOOLS });
  });
  after(async () => {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function connectStdio(
    args: readonly string[],
    key: string,
    mode: 'auto' | 'legacy',
  ): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const env = { PATH: process.env['PATH'] ?? '', TEMPOCLAW_URL: stack.url, TEMPOCLAW_API_KEY: key };
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [MAIN, 'mcp', ...args], env, cwd: folder }),
    );
    return client;
  }

  for (const mode of ['auto', 'legacy'] as const)
    it(`\`tempoclaw mcp\` serves the SDK's client over stdio, with progress (${mode})`, async (t) => {
      const client = await connectStdio(
        mode === 'auto' ? [] : ['serve', '--agent', 'main', '--wait', '60'],
        stack.key,
        mode,
      );
      t.after(() => client.close());
      assert.ok((await client.listTools()).tools.some(({ name }) => name === 'ask_main'));
      const received: string[] = [];
      const request = await client.callTool(
        { name: 'ask_main', arguments: { message: `once_hold {"note":"stdio ${mode}"}` } },
        {
          // It ends when its progress has arrived, and not before.
          onprogress({ message = '' }) {
            received.push(message);
            if (message === `runs once_hold: stdio ${mode}`) stack.worker.probes.release(`stdio ${mode}`);
          },
        },
      );
      assert.match(textsOf(request).join('\n'), new RegExp(`once_hold stdio ${mode}[^]*session: mcp-`));
      assert.ok(received.includes(`runs once_hold: stdio ${mode}`), received.join());
      const abort = new AbortController();
      const held = client.callTool({ name: 'hold', arguments: { note: mode } }, { signal: abort.signal });
      await stack.worker.probes.untilHeld(mode);
      abort.abort();
      await assert.rejects(held);
      stack.worker.probes.release(mode);
      assert.deepEqual(textsOf(await client.callTool({ name: 'peek', arguments: { note: 'after' } })), [
        'peek after',
      ]);
    });

  it('over stdio, a wrong key and an API that is away are errors with words', async () => {
    await assert.rejects(
      connectStdio([], `tc_${'x'.repeat(43)}`, 'legacy'),
      /not known, was revoked or has expired/,
    );
    const away = connectStdio(['--url', 'http://127.0.0.1:9'], stack.key, 'legacy');
    await assert.rejects(away, /TempoClaw did not answer/);
  });

  it("serves Python's client over HTTP and stdio", async () => {
    const python = await pythonWith(PYTHON_SDK);
    const args = [PYTHON_CLIENT, stack.url, stack.key, process.execPath, MAIN, 'mcp'];
    const { stdout } = await run(python, args, { env: childEnvironment({}), cwd: folder, timeout: 100_000 });
    const seen = JSON.parse(stdout);
    for (const way of ['http', 'stdio']) {
      const { tools, peek, ask: message, progress, resources } = seen[way];
      assert.ok(tools.includes('read_file') && tools.includes('ask_main'), way);
      assert.deepEqual([peek, resources], ['peek python', 0], way);
      assert.match(message, /mark python/, way);
      assert.ok(progress.includes('runs mark: python'), `${way}: ${progress.join()}`);
    }
  });

  /** The suite sends no key: this adds it, and lets a call become a task after a second. */
  async function startDoor(): Promise<{ readonly url: string; close(): void }> {
    const api = new URL(stack.url);
    const door = createServer((request, response) => {
      const headers = { ...request.headers, authorization: `Bearer ${stack.key}` };
      const to = { host: api.hostname, port: api.port, method: request.method, path: '/mcp?wait=1', headers };
      const passed = ask(to, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      request.pipe(passed);
      response.on('close', () => passed.destroy());
    });
    door.listen(0, '127.0.0.1');
    await once(door, 'listening');
    return {
      url: `http://localhost:${(door.address() as AddressInfo).port}/mcp`,
      close() {
        door.closeAllConnections();
        door.close();
      },
    };
  }

  for (const revision of ['2025-11-25', '2026-07-28'] as const)
    it(`meets what MCP ${revision} requires of all that is offered, and nothing else fails than is listed`, async () => {
      const program = await SUITE.install();
      const door = await startDoor();
      const out = join(folder, revision);
      const args = [program, 'server', '--url', door.url, '--requirements', revision, '--output-dir', out];
      // It ends with 1 when anything fails.
      await run(process.execPath, args, {
        timeout: 200_000,
        maxBuffer: 1e8,
        env: childEnvironment({}),
      }).catch((error: { readonly code?: unknown }) => assert.equal(error.code, 1));
      door.close();
      const failed: string[] = [];
      let passed = 0;
      for (const scenario of await readdir(out)) {
        const checks = JSON.parse(await readFile(join(out, scenario, 'checks.json'), 'utf8'));
        for (const { id, status } of checks) {
          if (status === 'FAILURE') failed.push(id);
          if (status === 'SUCCESS') passed += 1;
        }
      }
      assert.deepEqual([...new Set(failed)].sort(), Object.keys(UNMET[revision]).sort());
      assert.ok(passed >= SUITE.passes[revision], `${passed} checks passed`);
    });
});
