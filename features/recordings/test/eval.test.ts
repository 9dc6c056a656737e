/** DU-6: evals and recordings of a folder of agents, from nothing: `eval` and `test` start what they need, or use what runs. */
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { templateOf } from '#features/projects/index.ts';
import { cleanEnvironment } from '#test/start/program.ts';
import { runningWith } from '#test/support/processes.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/tempoclaw.js', import.meta.url));
const ENV = cleanEnvironment({
  TEMPOCLAW_PORT: '0',
  TEMPOCLAW_TEMPORAL_PORT: '0',
  TEMPOCLAW_TEMPORAL_UI_PORT: '0',
  TEMPOCLAW_DATABASE_PORT: '0',
});
const PARSE = `import json, sys, xml.etree.ElementTree as t
print(json.dumps([[c.get('name'), c.find('failure') is not None] for c in t.parse(sys.argv[1]).iter('testcase')]))`;

const EVALS = `import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agent, evaluate, fails, judge, scripted } from 'tempoclaw/eval';

const refund = 'refund {"order":"A17"}';
describe('refunds', () => {
  it('are made when the customer asks', async () => {
    const shop = agent('shop', { tools: { refund: scripted(['It is refunded.', { code: 'Timeout', text: 'too slow' }]) }, approvals: { refund: 'approve' } });
    const session = await shop.session();
    const run = await session.send(refund + '\\nthen\\nDone.');
    assert.deepEqual(run.calls.map(({ tool, ok, text }) => [tool, ok, text]), [['refund', true, 'It is refunded.']]);
    assert.equal(run.text, 'Done.');
    const again = await session.send(refund + '\\nthen\\nIt was slow.');
    assert.equal(again.calls[0]?.code, 'Timeout');
    await assert.rejects(session.send(refund), /no answer for refund .*used up.*Nothing ran/s);
  });
  it('are not made when people deny or the service is away', async () => {
    const denied = await agent('shop', { approvals: { '*': 'deny' } }).send(refund);
    assert.equal(denied.calls[0]?.code, 'ApprovalDenied');
    const away = await agent('shop', { tools: { refund: fails('unknown', 'OutcomeUnknown') }, approvals: { '*': 'approve' } }).send(refund);
    assert.equal(away.calls[0]?.text, 'OutcomeUnknown: unknown');
    await assert.rejects(agent('shop').send(refund), /waits for an approval/);
  });
  evaluate('are explained kindly', { repeat: 3, passes: 2 }, async (attempt) => {
    const run = await agent('shop').send(attempt === 2 ? 'No.' : 'Dear friend, gladly.');
    const { passed, score, reason } = await judge(run, { agent: 'judge', rubric: 'Is it kind?' });
    assert.ok(passed, score + ' ' + reason);
  });
});
`;
const FAILING = `import assert from 'node:assert/strict';
import { agent, evaluate, judge } from 'tempoclaw/eval';
evaluate('is <kind> & "short"', { repeat: 2 }, async () => {
  const run = await agent('shop').send('No.');
  assert.ok((await judge(run, { agent: 'judge', rubric: 'Is it kind?' })).passed, 'not kind');
});
evaluate('has a judge that judges', {}, async () => {
  await judge({ text: 'x', calls: [] }, { agent: 'shop', rubric: 'x' });
});
`;
const JUDGE = `rules:
  - when: { user: 'Dear friend' }
    reply: { text: '{"score": 0.9, "reason": "friendly"}' }
  - reply: { text: '{"score": 0.1, "reason": "rude"}' }
`;

describe('DU-6 evals of a folder', { timeout: 400_000 }, () => {
  let folder: string;
  let dev: ChildProcessByStdio<null, Readable, Readable> | undefined;
  before(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'eval-')), 'my-agents');
    const files = {
      ...templateOf('my-agents'),
      'agents/judge.md': '---\nmodel: rehearsal/judge\n---\nYou judge.\n',
      'evals/more.eval.ts': EVALS,
      '.tempoclaw/rehearsal/judge.yaml': JUDGE,
    };
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
  });
  after(async () => {
    dev?.kill('SIGINT');
    if (dev?.exitCode === null) await once(dev, 'exit');
    for (const pid of runningWith(folder)) process.kill(pid, 'SIGKILL');
    await rm(join(folder, '..'), { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });

  async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: folder, env: ENV });
    const exit = new Promise<number>((done) => child.once('exit', (code) => done(code ?? 1)));
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
    return { code, stdout, stderr };
  }

  it('pass against scripted tools, which do not run', async () => {
    const { code, stdout, stderr } = await run('eval');
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /✔ are explained kindly/);
    assert.match(stdout, /✔ refunds the order that the customer names, once/);
    assert.ok(!existsSync(join(folder, 'refunds.log')));
    const none = await run('eval', '--only', 'no such eval');
    assert.equal(none.code, 1);
    assert.match(none.stderr, /No eval has a name that matches no such eval/);
  });

  it('use the installation that runs for the folder', async () => {
    dev = spawn(process.execPath, [PROGRAM, 'dev'], {
      cwd: folder,
      env: ENV,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { stdout: lines } = dev;
    await new Promise<void>((resolve) => {
      lines.on('data', (data: Buffer) => void (String(data).includes('Follows the changes') && resolve()));
      lines.once('end', resolve);
    });
    dev.stderr.resume();
    const { code, stdout, stderr } = await run('eval', '--only', 'explained');
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /✔ are explained kindly/);
    assert.equal(dev.exitCode, null);
  });

  it('fail with what the judge says, for people, JUnit and programs', async () => {
    writeFileSync(join(folder, 'evals/failing.eval.ts'), FAILING);
    const { code, stdout } = await run('eval', '--junit', 'results.xml');
    assert.equal(code, 1);
    assert.match(stdout, /1 runs failed; 2 of 2 must pass\n.*1: not kind/s);
    assert.match(stdout, /The judge shop gave no score/);
    const cases = JSON.parse(
      execFileSync('python3', ['-c', PARSE, join(folder, 'results.xml')], { encoding: 'utf8' }),
    );
    assert.deepEqual(
      cases.filter(([, failed]: [string, boolean]) => failed).map(([name]: [string]) => name),
      ['is <kind> & "short"', 'has a judge that judges'],
    );
    const json = await run('eval', '--json', '--only', 'kind');
    const rows = json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(rows.map(({ name, passed }) => [name, passed]).toSorted(), [
      ['are explained kindly', true],
      ['is <kind> & "short"', false],
    ]);
    assert.match(rows.find(({ passed }) => !passed).error, /not kind/);
  });

  it('stand beside recordings, which name a changed description and what else is wrong', async () => {
    const said = await run('run', '--agent', 'shop', '--session', 'one', 'datetime {}\nthen\nDone.');
    assert.equal(said.code, 0, said.stderr);
    const made = await run(
      'record',
      '--agent',
      'shop',
      '--since',
      '1h',
      '--outcome',
      'completed',
      '--out',
      'recs',
    );
    assert.equal(made.code, 0, made.stderr);
    assert.deepEqual(readdirSync(join(folder, 'recs')), ['one.rec']);
    assert.match((await run('test', 'recs/one.rec')).stdout, /✔ one.rec/);
    const tool = join(folder, 'tools/refund.ts');
    writeFileSync(tool, readFileSync(tool, 'utf8').replace('Refund an order', 'Refund or cancel an order'));
    const recording = readFileSync(join(folder, 'recs/one.rec'), 'utf8');
    writeFileSync(join(folder, 'cut.rec'), recording.slice(0, 1_000));
    writeFileSync(join(folder, 'other.rec'), recording.replace('"recording": 1', '"recording": 2'));
    writeFileSync(join(folder, 'deep.rec'), '['.repeat(100_000));
    const { code, stdout } = await run(
      'test',
      'recs/one.rec',
      'cut.rec',
      'other.rec',
      'deep.rec',
      'none.rec',
      '--junit',
      'r.xml',
    );
    assert.equal(code, 1);
    assert.match(
      stdout,
      /✘ one.rec\n {2}Turn 1, step 1: the tools offered differ: refund: line 1 was "Refund an order" and is "Refund or cancel an order"/,
    );
    assert.match(stdout, /cut.rec: it is not JSON; was it cut off\?/);
    assert.match(stdout, /other.rec: it is not a recording: recording: must be 1/);
    assert.match(stdout, /deep.rec: it nests deeper than 100/);
    assert.match(stdout, /none.rec: ENOENT/);
    const cases = JSON.parse(
      execFileSync('python3', ['-c', PARSE, join(folder, 'r.xml')], { encoding: 'utf8' }),
    );
    assert.equal(cases.length, 5);
    assert.equal((await run('test', 'recs/one.rec', '--update')).code, 0);
    assert.equal((await run('test', 'recs/one.rec')).code, 0);
  });
});
