/** `dev` and `deploy` of a folder with tools in Python (IN-12). */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { RunInfo } from '#cli/run-state.ts';
import { cleanEnvironment } from '#test/start/program.ts';
import { eventually, runningWith } from '#test/support/processes.ts';
import { addPackageTo, skipWithoutPython } from '#test/support/python.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/tempoclaw.js', import.meta.url));
const ANY_PORTS = {
  TEMPOCLAW_PORT: '0',
  TEMPOCLAW_TEMPORAL_PORT: '0',
  TEMPOCLAW_TEMPORAL_UI_PORT: '0',
  TEMPOCLAW_DATABASE_PORT: '0',
};
const LOOKUP = `from typing import Annotated

from tempoclaw import tool


@tool(replay="read")
def lookup(order: Annotated[str, "Id of the order"]):
    """Look up an order."""
    return f"Order {order} is on its way."
`;

const skip = await skipWithoutPython();

describe('IN-12 tempoclaw dev with tools in Python', { skip, timeout: 400_000 }, () => {
  let folder: string;
  let dev: ChildProcess;
  let output = '';
  before(async () => {
    folder = join(mkdtempSync(join(tmpdir(), 'dev-')), 'py-shop');
    for (const name of ['tools', 'agents']) mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, 'tools/lookup.py'), LOOKUP);
    writeFileSync(join(folder, 'agents/shop.md'), '---\nmodel: rehearsal/follow\n---\nYou help.\n');
    await addPackageTo(folder);
    dev = spawn(process.execPath, [PROGRAM, 'dev'], {
      cwd: folder,
      env: cleanEnvironment(ANY_PORTS),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [dev.stdout, dev.stderr])
      stream?.on('data', (data: Buffer) => {
        output += data.toString();
      });
    assert.ok(await eventually(() => output.includes('Follows the changes'), 200_000), output);
  });
  after(async () => {
    for (const pid of runningWith(folder)) process.kill(pid, 'SIGKILL');
    await rm(join(folder, '..'), { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });

  // Tests read fields of answers of every shape.
  async function ask(method: string, path: string, body?: object): Promise<any> {
    const run = JSON.parse(readFileSync(join(folder, '.tempoclaw/run.json'), 'utf8')) as RunInfo;
    const key = readFileSync(run.api_key_file, 'utf8').trim();
    const response = await fetch(`${run.api}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return response.json();
  }
  const revision = async (): Promise<number> =>
    (await ask('GET', '/v1/tool-hosts/py-shop')).tools[0].revision;
  async function answer(session: string): Promise<string> {
    const message = { agent: 'shop', text: 'lookup {"order":"A1"}' };
    return (await ask('POST', `/v1/sessions/${session}/messages?wait=60`, message)).text;
  }

  it('runs a tool, takes up its change, and keeps the one before when a change is wrong', async () => {
    assert.match(await answer('one'), /Order A1 is on its way/);
    const file = join(folder, 'tools/lookup.py');
    const hosts = (): number => runningWith(`tempoclaw.host serve ${folder}`).length;
    writeFileSync(file, LOOKUP.replace('on its way', 'delivered'));
    assert.ok(await eventually(async () => (await revision()) === 2 && hosts() === 1), output);
    assert.match(await answer('two'), /Order A1 is delivered/);
    writeFileSync(file, LOOKUP.replace('return f', 'return return f'));
    assert.ok(await eventually(() => output.includes('tools/lookup.py:9: SyntaxError')), output);
    assert.ok(output.includes('The tools before this change go on.'));
    assert.match(await answer('three'), /Order A1 is delivered/);
  });

  it('deploys tools in Python as those in TypeScript', async () => {
    writeFileSync(join(folder, 'tools/lookup.py'), LOOKUP.replace('Look up', 'Find'));
    assert.ok(await eventually(async () => (await revision()) === 3), output);
    const deploy = async (): Promise<readonly unknown[]> => {
      const command = [PROGRAM, 'deploy', folder, '--plan', '--json'];
      const options = { cwd: folder, env: cleanEnvironment() };
      const { stdout } = await promisify(execFile)(process.execPath, command, options);
      return JSON.parse(stdout).changes;
    };
    assert.deepEqual(await deploy(), []);
    dev.kill('SIGINT');
    await once(dev, 'exit');
    assert.ok(await eventually(() => runningWith(folder).length === 0), runningWith(folder).join(' '));
  });
});
