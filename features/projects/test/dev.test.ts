/** From nothing to a tool of one's own that is called, approved and survives kills: `init`, `dev` (IN-12). */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import type { RunInfo } from '#cli/run-state.ts';
import { cleanEnvironment } from '#test/start/program.ts';
import { eventually, runningWith } from '#test/support/processes.ts';
import { templateOf } from '../template.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/tempoclaw.js', import.meta.url));
const ANY_PORTS = {
  TEMPOCLAW_PORT: '0',
  TEMPOCLAW_TEMPORAL_PORT: '0',
  TEMPOCLAW_TEMPORAL_UI_PORT: '0',
  TEMPOCLAW_DATABASE_PORT: '0',
};

describe('IN-12 tempoclaw dev', { timeout: 300_000 }, () => {
  let folder: string;
  let dev: ChildProcess;
  let output = '';
  before(async () => {
    folder = join(mkdtempSync(join(tmpdir(), 'dev-')), 'my-agents');
    const init = spawn(process.execPath, [PROGRAM, 'init', folder], { stdio: 'ignore' });
    assert.deepEqual(await once(init, 'exit'), [0, null]);
    await start();
  });
  after(async () => {
    for (const pid of runningWith(folder)) process.kill(pid, 'SIGKILL');
    await rm(join(folder, '..'), { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });

  async function start(): Promise<void> {
    output = '';
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
  }
  const run = (): RunInfo => JSON.parse(readFileSync(join(folder, '.tempoclaw/run.json'), 'utf8')) as RunInfo;
  // Tests read fields of answers of every shape.
  async function ask(method: string, path: string, body?: object): Promise<any> {
    const { api, api_key_file: file } = run();
    const key = readFileSync(file, 'utf8').trim();
    const response = await fetch(`${api}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return response.json();
  }
  const host = (): number[] => runningWith(`tools serve ${folder}`);
  async function refund(session: string, order: string): Promise<string> {
    const text = `refund ${JSON.stringify({ order })}`;
    const { turn_id: turn } = await ask('POST', `/v1/sessions/${session}/messages`, { agent: 'shop', text });
    let approval: string | undefined;
    assert.ok(
      await eventually(async () => {
        const { data } = await ask('GET', `/v1/approvals?turn_id=${turn}`);
        approval = data[0]?.id;
        return approval !== undefined;
      }),
    );
    await ask('POST', `/v1/approvals/${approval}/decision`, { decision: 'approve' });
    return turn;
  }
  async function answerOf(turn: string): Promise<string> {
    let text: string | null = null;
    assert.ok(
      await eventually(async () => {
        ({ text } = await ask('GET', `/v1/turns/${turn}`));
        return text !== null;
      }),
    );
    return String(text);
  }
  const refunds = (): string => {
    const file = join(folder, 'refunds.log');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };

  it('runs a tool of the folder after a person has agreed', async () => {
    assert.match(await answerOf(await refund('one', 'A17')), /Order A17 is refunded/);
    assert.equal(refunds(), 'A17\n');
  });

  it('takes up a changed tool, and keeps the one before when a change is wrong', async () => {
    const file = join(folder, 'tools/refund.ts');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll('is refunded.', 'is paid back.'));
    const isNew = async (): Promise<boolean> =>
      (await ask('GET', '/v1/tool-hosts/my-agents')).tools[0].revision === 2 && host().length === 1;
    assert.ok(await eventually(isNew), output);
    writeFileSync(file, 'export default (');
    assert.ok(await eventually(() => output.includes('tools/refund.ts: ')), output);
    assert.ok(output.includes('The tools before this change go on.'));
    assert.match(await answerOf(await refund('two', 'B2')), /Order B2 is paid back/);
  });

  it('runs a refund once, though its process is killed before it, and starts the process again', async () => {
    const file = join(folder, 'tools/refund.ts');
    const delay = 'await new Promise((done) => setTimeout(done, existsSync("slow") ? 0 : 5_000));';
    const original = templateOf('my-agents')['tools/refund.ts'] ?? assert.fail();
    const slow = original.replace('run({ order }) {', `async run({ order }) {\n    ${delay}`);
    assert.ok(slow.includes(delay));
    const revision = async (): Promise<number> =>
      (await ask('GET', '/v1/tool-hosts/my-agents')).tools[0].revision;
    const before = await revision();
    writeFileSync(file, slow);
    assert.ok(await eventually(async () => (await revision()) > before && host().length === 1), output);
    const turn = await refund('three', 'C3');
    const [pid = 0] = host();
    await new Promise((done) => setTimeout(done, 1_500));
    process.kill(pid, 'SIGKILL');
    writeFileSync(join(folder, 'slow'), '');
    assert.match(await answerOf(turn), /Order C3 is refunded/);
    assert.deepEqual(refunds().split('\n'), ['A17', 'B2', 'C3', '']);
    assert.match(output, /The process of the tools has ended; it starts again/);
  });

  it('takes up each change of an editor that saves by renaming, and a file that is gone', async () => {
    mkdirSync(join(folder, 'hooks'));
    const file = join(folder, 'hooks/guard.ts');
    const save = (text: string): void => {
      writeFileSync(`${file}.saved`, text);
      renameSync(`${file}.saved`, file);
    };
    const hookOf = (tool: string): string =>
      `import { hook } from 'tempoclaw';\nexport default hook({ event: 'pre_tool_use', tools: ['${tool}'], run() {} });\n`;
    const guarded = async (): Promise<unknown> => (await ask('GET', '/v1/agents/shop')).hooks?.[0]?.tools[0];
    for (const tool of ['one', 'two', 'three']) {
      save(hookOf(tool));
      assert.ok(await eventually(async () => (await guarded()) === tool), `${tool}\n${output}`);
    }
    rmSync(file);
    assert.ok(await eventually(async () => (await guarded()) === undefined), output);
  });

  it('starts again while what a killed one has left still ends', async () => {
    dev.kill('SIGKILL');
    await once(dev, 'exit');
    await start();
    assert.ok(await eventually(() => host().length === 1), output);
    assert.match(await answerOf(await refund('again', 'D4')), /Order D4 is refunded/);
  });

  it('leaves nothing that it has started when it is killed', async () => {
    dev.kill('SIGKILL');
    await once(dev, 'exit');
    assert.ok(await eventually(() => runningWith(folder).length === 0), runningWith(folder).join(' '));
  });

  it('ends all of it with Ctrl-C, also while the tools start again', async () => {
    await start();
    assert.ok(await eventually(() => host().length === 1), output);
    writeFileSync(join(folder, 'tools/refund.ts'), templateOf('my-agents')['tools/refund.ts'] ?? '');
    assert.ok(await eventually(() => host().length === 2), output);
    dev.kill('SIGINT');
    assert.ok(await eventually(() => dev.exitCode !== null || dev.signalCode !== null), output);
    assert.deepEqual(runningWith(folder), []);
  });
});
