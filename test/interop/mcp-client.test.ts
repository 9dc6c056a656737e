/** MC-1: the worker's client of MCP servers passes the protocol's conformance suite in both revisions. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { childEnvironment } from '#config';
import { CLIENT, SUITE } from './mcp-conformance.ts';

const run = promisify(execFile);
const OURS = fileURLToPath(new URL('mcp-conformance-client.ts', import.meta.url));

describe('MC-1 the client of MCP servers', () => {
  let folder: string;
  let program: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tempoclaw-mcp-'));
    program = await SUITE.install();
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function suite(...args: readonly string[]): Promise<string> {
    const options = { timeout: 100_000, maxBuffer: 1e8, env: childEnvironment({}) };
    // It ends with 1 when anything fails, which the checks report better.
    const ended = await run(process.execPath, [program, ...args], options).catch((error: unknown) => {
      assert.ok(error instanceof Error && 'stdout' in error && 'code' in error && error.code === 1);
      return { stdout: String(error.stdout) };
    });
    return ended.stdout;
  }

  for (const revision of ['2025-11-25', '2026-07-28'] as const)
    it(`meets what MCP ${revision} requires of a client, but for what is listed`, async () => {
      const [, clients = ''] = (await suite('list')).split(/^Client scenarios.*$/m);
      const [ours = ''] = clients.split(/^\S/m);
      const scenarios = [...ours.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)].flatMap(
        ([, name = '', revisions = '']) =>
          revisions.split(',').includes(revision) && CLIENT.leftOut(name) === undefined ? [name] : [],
      );
      assert.ok(scenarios.includes('tools_call'));
      const out = join(folder, revision);
      const command = `${process.execPath} --disable-warning=ExperimentalWarning ${OURS}`;
      // They run one after the other: all at once, they would exceed each other's time limits.
      for (const scenario of scenarios)
        await suite(
          'client',
          '--command',
          command,
          '--scenario',
          scenario,
          '--spec-version',
          revision,
          '-o',
          out,
        );
      const failed: string[] = [];
      let passed = 0;
      for (const place of await readdir(out)) {
        const checks = JSON.parse(await readFile(join(out, place, 'checks.json'), 'utf8'));
        for (const { id, status } of checks) {
          if (status === 'FAILURE') failed.push(`${place}: ${id}`);
          if (status === 'SUCCESS') passed += 1;
        }
      }
      assert.deepEqual(failed, []);
      assert.ok(passed >= CLIENT.passes[revision], `${passed} checks passed`);
    });
});
