/**
 * `npm start` at a real terminal: what it shows, the death of each of its parts, `demo crash`, `chat`, Ctrl-C and a
 * closed window.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { startCli } from '#test/cli/support/run-cli.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { type Clone, cloneRepository, type Program } from './program.ts';

const COLUMNS = 60;
const PARTS = { worker: 'The worker', api: 'The API', temporal: 'Temporal', postgres: 'Postgres' } as const;
type Part = keyof typeof PARTS;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('npm start at a terminal', () => {
  let clone: Clone;
  let program: Program;
  before(async () => {
    clone = await cloneRepository();
    program = await clone.startAtTerminal(COLUMNS);
  });
  after(() => clone?.remove());

  const shown = (): string => stripVTControlCharacters(program.printed()).replaceAll('\r', '');
  const pidOf = (part: Part): number => program.info().pids[part] ?? assert.fail(`no ${part}`);
  const atTerminal = (...args: string[]) =>
    startCli(args, { cwd: clone.folder, terminal: true, columns: COLUMNS });
  const timesBack = (part: Part): number => shown().split(`${PARTS[part]} runs again`).length - 1;

  async function isBack(part: Part, before: { pid: number; times: number }): Promise<void> {
    const back = await eventually(
      () => timesBack(part) > before.times && pidOf(part) !== before.pid,
      120_000,
    );
    assert.ok(back, shown());
  }

  async function works(session: string): Promise<void> {
    const path = `/v1/sessions/${session}/messages?wait=60`;
    const { body } = await program.ask('POST', path, { text: 'list files' });
    assert.equal(body.status, 'completed', JSON.stringify(body));
  }

  it('ends its steps and says where everything is, no line wider than the terminal', () => {
    const text = shown();
    const announced = text.slice(text.indexOf('TempoClaw is up'));
    assert.match(announced, new RegExp(`API +${String(program.run.api)}\n`));
    for (const line of announced.split('\n')) assert.ok(line.length <= COLUMNS, line);
  });

  it('demo crash kills the worker, sees the new one, and ends', async () => {
    const demo = atTerminal('demo', 'crash');
    const { code, stdout } = await demo.ended;
    assert.equal(code, 0, stdout);
    assert.match(stdout, /kill -9 \d+[\s\S]*started a new worker, pid \d+[\s\S]*What that proves/);
    const proof = stripVTControlCharacters(stdout.slice(stdout.indexOf('What the ledger says')));
    // A word alone on its line, such as an address, is not broken.
    for (const line of proof.split(/\r?\n/))
      assert.ok(line.length <= COLUMNS || !line.trim().includes(' '), line);
  });

  for (const part of ['api', 'temporal', 'postgres'] as const)
    it(`after kill -9 of its ${part} that comes back, the others stay, and turns go on`, async () => {
      const old = program.info().pids;
      const before = { pid: pidOf(part), times: timesBack(part) };
      process.kill(before.pid, 'SIGKILL');
      await isBack(part, before);
      for (const [name, pid] of Object.entries(program.info().pids))
        if (name !== part) assert.equal(pid, old[name], name);
      await works(`after-${part}`);
    });

  it('a worker and an API that hang are noticed, killed and replaced, and the command of the worker is ended', async () => {
    const seconds = uniqueSeconds();
    const open = { exec: { security: 'full', ask: 'off' }, model: 'rehearsal/follow' };
    await program.ask('POST', '/v1/agents', { key: 'runs', type: 'open', ...open });
    const text = `exec ${JSON.stringify({ command: `sleep ${seconds}` })}`;
    const { body } = await program.ask('POST', '/v1/sessions/hangs/messages', { agent: 'runs', text });
    assert.ok(await eventually(() => runningWith(seconds).length > 0));
    const hung = (['worker', 'api'] as const).map((part) => ({
      part,
      pid: pidOf(part),
      times: timesBack(part),
    }));
    for (const { pid } of hung) process.kill(pid, 'SIGSTOP');
    for (const { part, ...before } of hung) await isBack(part, before);
    assert.match(shown(), /The worker has not answered for 15 s; killing it/);
    assert.ok(await eventually(() => runningWith(seconds).length === 0), 'the command runs on');
    const ended = await eventually(async () => {
      const turn = await program.ask('GET', `/v1/turns/${body.turn_id}`);
      return turn.body.status === 'completed';
    });
    assert.ok(ended, 'the turn does not go on');
    const calls = await program.ask('GET', `/v1/turns/${body.turn_id}/tool-calls`);
    assert.deepEqual(
      calls.body.data.map((call: { code: string }) => call.code),
      ['OutcomeUnknown'],
    );
  });

  it('chat talks with it at another terminal', async () => {
    const chat = atTerminal('chat', '--session', 'talk');
    await chat.sees(/› /);
    const from = chat.stdout().length;
    chat.type('list files\r');
    await chat.sees(/✔ list_files[\s\S]*› /, from);
    chat.type('/quit\r');
    assert.equal((await chat.ended).code, 0);
  });

  it('Ctrl-C ends every part and says so', async () => {
    const { pids } = program.info();
    await program.interrupt();
    for (const [name, pid] of Object.entries(pids))
      assert.ok(await eventually(() => !isAlive(pid)), `${name}, pid ${pid}, is still there`);
    assert.match(shown(), /Ending \(SIGINT\)[\s\S]*Ended\. Everything is kept in \.tempoclaw\./);
    assert.doesNotMatch(shown(), /Error|\n {4}at /);
  });

  it('closing the terminal ends every part', async () => {
    const again = await clone.startAtTerminal(120);
    const { pids } = again.info();
    again.closeTerminal();
    for (const [name, pid] of Object.entries(pids))
      assert.ok(await eventually(() => !isAlive(pid)), `${name}, pid ${pid}, is still there`);
  });
});
