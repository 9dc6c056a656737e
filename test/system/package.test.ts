/** The npm package in an empty folder, beside its dependencies: from nothing to a tool of one's own (IN-12). */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { cleanEnvironment } from '#test/start/program.ts';
import { eventually, runningWith } from '#test/support/processes.ts';

const run = promisify(execFile);
const ANY_PORTS = {
  TEMPOCLAW_PORT: '0',
  TEMPOCLAW_TEMPORAL_PORT: '0',
  TEMPOCLAW_TEMPORAL_UI_PORT: '0',
  TEMPOCLAW_DATABASE_PORT: '0',
};

describe('IN-12 the npm package', { timeout: 900_000 }, () => {
  let base: string;
  let folder: string;
  let dev: ChildProcess | undefined;
  before(async () => {
    base = await mkdtemp(join(tmpdir(), 'package-'));
    folder = join(base, 'empty');
    const packages = join(folder, 'node_modules');
    await mkdir(join(packages, '.bin'), { recursive: true });
    // What npm would install from a registry.
    const root = resolve('node_modules');
    for (const name of await readdir(root))
      if (!name.startsWith('.') && name !== '@tempoclaw')
        await symlink(join(root, name), join(packages, name));
    const staged = join(packages, 'tempoclaw');
    await run(process.execPath, ['scripts/build-package.ts', staged]);
    await symlink(join(staged, 'bin/tempoclaw.js'), program());
    await writeFile(join(folder, 'package.json'), '{"private":true}');
  });
  after(async () => {
    for (const pid of runningWith(base)) process.kill(pid, 'SIGKILL');
    await rm(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });

  const program = (): string => join(folder, 'node_modules/.bin/tempoclaw');
  const tempoclaw = (...args: readonly string[]) =>
    run(program(), args, { cwd: folder, env: cleanEnvironment() });

  it('has a command that says its version and makes a folder', async () => {
    assert.equal((await tempoclaw('--version')).stdout.trim(), '0.1.0');
    assert.match((await tempoclaw('init', 'my-agents')).stdout, /my-agents\/tools\/refund\.ts/);
  });

  it('has types for a tool of one’s own', async () => {
    const types = await readFile(join(folder, 'node_modules/tempoclaw/types/sdk.d.ts'), 'utf8');
    assert.match(types, /export declare function tool</);
  });

  it('runs the folder, its page and its tool, which a person approves', async () => {
    let output = '';
    dev = spawn(program(), ['dev', 'my-agents'], {
      cwd: folder,
      env: cleanEnvironment(ANY_PORTS),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [dev.stdout, dev.stderr])
      stream?.on('data', (data: Buffer) => {
        output += data.toString();
      });
    assert.ok(await eventually(() => output.includes('Follows the changes'), 300_000), output);
    const state = join(folder, 'my-agents/.tempoclaw');
    const { api, api_key_file: file } = JSON.parse(await readFile(join(state, 'run.json'), 'utf8'));
    const key = (await readFile(file, 'utf8')).trim();
    // Tests read fields of answers of every shape.
    const ask = async (method: string, path: string, body?: object): Promise<any> => {
      const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) };
      const response = await fetch(`${api}${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      return response.json();
    };
    const page = await fetch(`${api}/`, { headers: { accept: 'text/html' } });
    assert.match(await page.text(), /<!doctype html>/);
    const text = 'refund {"order":"A17"}';
    const { turn_id: turn } = await ask('POST', '/v1/sessions/one/messages', { agent: 'shop', text });
    let approval: string | undefined;
    const isAsked = async (): Promise<boolean> => {
      approval = (await ask('GET', `/v1/approvals?turn_id=${turn}`)).data[0]?.id;
      return approval !== undefined;
    };
    assert.ok(await eventually(isAsked), output);
    await ask('POST', `/v1/approvals/${approval}/decision`, { decision: 'approve' });
    const refunds = join(folder, 'my-agents/refunds.log');
    assert.ok(
      await eventually(() =>
        readFile(refunds, 'utf8').then(
          (log) => log === 'A17\n',
          () => false,
        ),
      ),
      output,
    );
  });

  it('ends everything with Ctrl-C', async () => {
    assert.ok(dev?.pid);
    process.kill(-dev.pid, 'SIGINT');
    await once(dev, 'exit');
    assert.ok(await eventually(() => runningWith(base).length === 0), runningWith(base).join(' '));
  });
});
