/** CU-2 in effect: what the program gets, on the host and in a container, in the way calls run. */
import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { runnableTool } from '../activities/run-custom-tool.ts';
import type { Environment } from '../policy/tool-environment.ts';
import { createAddedTools } from '../activities/added-tools.ts';
import type { RunningCall, Tool } from '#policy/define-tool.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import type { Parameters } from '../rules/check-parameters.ts';
import type { CustomToolDefinition } from '../rules/definition.ts';
import { sandboxOf } from '#domain/sandbox.ts';
import { engineTests, findEngine, testBoxes } from '#test/support/container-engine.ts';
import { type Bench, toolBench } from '#test/support/tool-call.ts';

const NAME: Parameters = {
  type: 'object',
  properties: { name: { type: 'string', description: 'A text' } },
  required: ['name'],
};

function definition(overrides: Partial<CustomToolDefinition>): CustomToolDefinition {
  return {
    id: '00000000-0000-4000-8000-000000000000',
    name: 'sample',
    description: 'A sample.',
    parameters: NAME,
    command: 'true',
    working_dir: null,
    timeout_seconds: 20,
    agent_id: null,
    enabled: true,
    replay: 'once',
    revision: 1,
    ...overrides,
  };
}

function custom(ended: Partial<CustomToolDefinition>, env: Environment = {}): Tool {
  return runnableTool(definition(ended), async () => env);
}

interface Case {
  readonly id: string;
  readonly class: string;
  readonly template: string;
  readonly args: Record<string, unknown>;
  readonly outcome: string;
  readonly expect_argv?: readonly string[];
}

const vectors = new URL('../../../test/vectors/template-injection.json', import.meta.url);
const { cases } = JSON.parse(await readFile(vectors, 'utf8')) as { cases: readonly Case[] };

/** Runs each case; the program writes what it got into a file of the workspace, byte for byte. */
async function runCases(bench: Bench, overrides: Partial<RunningCall> = {}): Promise<void> {
  await mkdir(bench.workspace, { recursive: true });
  await writeFile(join(bench.workspace, 'argv'), `printf '%s\\0' "$@" > seen\n`);
  for (const { id, template, args, outcome, expect_argv } of cases) {
    if (!outcome.startsWith('single') && !outcome.startsWith('rejected')) continue;
    const tool = custom({ command: template.replace(/^argv /, 'sh ./argv ') });
    const result = await bench.run(tool, args, overrides);
    const seen = await readFile(join(bench.workspace, 'seen'), 'utf8').catch(() => undefined);
    await rm(join(bench.workspace, 'seen'), { force: true });
    if (outcome === 'single_argument') {
      assert.equal(result.ok, true, `${id}: ${result.ok ? '' : result.message}`);
      assert.deepEqual(seen?.split('\0').slice(0, -1), expect_argv, id);
    } else if (id !== 'ti-045') {
      assert.equal(result.ok ? null : result.code, 'InvalidArgs', id);
      assert.equal(seen, undefined, `${id} has not run`);
    }
  }
}

describe('CU-2 what reaches the program', () => {
  test('on the host: each argument as it is, or nothing at all', async (t) => runCases(await toolBench(t)));

  test('names that are no parameters are refused, and change no object', async (t) => {
    const bench = await toolBench(t);
    const args = JSON.parse(
      '{"name":"x","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    );
    const result = await bench.run(custom({ command: 'echo {{.name}}' }), args);
    assert.equal(result.ok ? null : result.code, 'InvalidArgs');
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  test('the schema is checked before, with all that is wrong said at once', async (t) => {
    const bench = await toolBench(t);
    const parameters: Parameters = {
      type: 'object',
      properties: {
        host: { type: 'string', description: 'Host', pattern: '^[a-z.]+$' },
        count: { type: 'integer', description: 'Count', minimum: 1, default: 3 },
        loud: { type: 'boolean', description: 'Loud' },
      },
      required: ['host'],
    };
    const tool = custom({ parameters, command: 'echo {{.host}} {{.count}} {{.loud}}' });
    assert.deepEqual(await bench.run(tool, { host: 'a.b', count: '5', loud: 'true' }), {
      ok: true,
      text: 'a.b 5 true',
    });
    assert.deepEqual(await bench.run(tool, { host: 'a.b', loud: null }), { ok: true, text: 'a.b 3' });
    const wrong = await bench.run(tool, { host: 'A B', count: 0, more: 1 });
    const message = wrong.ok ? '' : wrong.message;
    for (const words of [
      /host: must match pattern/,
      /count: must be >= 1/,
      /more: there is no such parameter/,
    ])
      assert.match(message, words);
  });

  test('a pattern that would keep a backtracking engine busy for years is judged in linear time', async (t) => {
    const bench = await toolBench(t);
    const parameters: Parameters = {
      type: 'object',
      properties: { name: { type: 'string', description: 'x', pattern: '^(a+)+$' } },
      required: ['name'],
    };
    const tool = custom({ parameters, command: 'echo {{.name}}' });
    const result = await bench.run(tool, { name: `${'a'.repeat(50_000)}!` });
    assert.equal(result.ok ? null : result.code, 'InvalidArgs');
  });

  test('its variables are its own: the worker’s are not there, PATH is', async (t) => {
    const bench = await toolBench(t);
    process.env['CANARY_OF_THE_WORKER'] = 'x';
    t.after(() => delete process.env['CANARY_OF_THE_WORKER']);
    const env = { API_KEY: 'canary-key-of-the-tool', PLAIN: 'short' };
    const tool = custom({ parameters: { type: 'object', properties: {} }, command: 'env' }, env);
    const result = await bench.run(tool, {});
    const lines = (result.ok ? result.text : '').split('\n');
    assert.ok(lines.includes('API_KEY=[REDACTED]'), 'a value does not come back in the output');
    assert.ok(lines.includes('PLAIN=short'), 'what is too short to be a secret does');
    assert.ok(lines.some((line) => line.startsWith('PATH=/')));
    assert.ok(!lines.some((line) => line.includes('CANARY_OF_THE_WORKER')));
  });

  test('variables that cannot be opened are the call’s failure, and nothing runs', async (t) => {
    const bench = await toolBench(t);
    const failing = runnableTool(
      definition({ parameters: { type: 'object', properties: {} }, command: 'touch ran' }),
      () => Promise.reject(new Error('there is no secret "x"')),
    );
    await assert.rejects(bench.run(failing, {}), /no secret/);
    await assert.rejects(readFile(join(bench.workspace, 'ran')));
  });

  test('a stored template that is refused by now ends its calls instead of trying them for ever', async () => {
    const row = { ...definition({ command: 'echo "{{.name}}"' }), is_deleted: false, sealed: null };
    const client = { query: async () => ({ rows: [row] }), release: () => undefined };
    const added = createAddedTools({
      pool: { totalCount: 1, connect: async () => client } as unknown as Pool,
      sealer: {} as Sealer,
      resolve: async (_tenant, text) => text,
    });
    const found = await added.find({ tenant: 't', call: 'c' });
    assert.match(found?.tool.gone ?? '', /sample cannot be used.*outside of quotes/);
  });
});

const boxes = engineTests(await findEngine());
after(boxes.stop);
describe('SH-3 a custom tool in a container', () => {
  boxes.test('gets the same arguments, and its variables', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    const sandbox = sandboxOf({ mode: 'required' }, undefined);
    assert.ok(sandbox);
    const boxed = { sandbox, mount: '/workspace' };
    await runCases(bench, boxed);
    const parameters: Parameters = { type: 'object', properties: {} };
    const tool = custom(
      { parameters, command: 'pwd; test "$KEY" = canary-in-the-box && echo same' },
      {
        KEY: 'canary-in-the-box',
      },
    );
    assert.deepEqual(await bench.run(tool, {}, boxed), { ok: true, text: '/workspace\nsame' });
  });
});
