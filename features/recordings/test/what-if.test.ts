/** DU-6: what recorded sessions would have been under another policy, prompt, model or revision. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runCli, startCli } from '#test/cli/support/run-cli.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { createPlayer, type Player } from './support.ts';

const write = (path: string, content = 'x'): string => `write_file ${JSON.stringify({ path, content })}`;
/** Answers by its instructions: it looks first when they say so. */
const CLERK = `rules:
  - when: { step: 0, system: Look first }
    reply: { text: I look., calls: [{ tool: read_file, args: { path: order.txt } }] }
  - when: { step: { from: 0, below: 2 }, last_tool: read_file }
    reply: { calls: [{ tool: write_file, args: { path: refund.txt, content: A17 } }] }
  - when: { step: 0 }
    reply: { calls: [{ tool: write_file, args: { path: refund.txt, content: A17 } }] }
  - reply: { text: 'Done: {{result}}' }
`;
/** Calls a tool that the sessions never had. */
const LISTS = `rules:
  - when: { step: 0 }
    reply: { calls: [{ tool: list_files, args: { path: '.' } }, { tool: datetime, args: {} }] }
  - reply: { text: 'I have read: {{result}}' }
`;
/** Takes longer than any test. */
const SLOW = `rules:
  - reply: { delay: 5m, text: Done. }
`;
const PRICES = ['clerk', 'lists', 'follow'].map((name) => `    rehearsal/${name}: { input: 1, output: 1 }`);

describe('DU-6 what-if', () => {
  let stack: Stack;
  let player: Player;
  let folder: string;
  before(async () => {
    stack = await startStack({
      agents: [
        { key: 'shop', model: 'rehearsal/follow', instructions: 'Be kind.' },
        { key: 'clerk', model: 'rehearsal/clerk', instructions: 'Refund at once.' },
        { key: 'asks', model: 'rehearsal/follow', tools: { ask: [{ tool: 'write_file' }] } },
      ],
      scripts: { clerk: CLERK, lists: LISTS, slow: SLOW },
      settings: `models:\n  prices:\n${PRICES.join('\n')}\n`,
    });
    player = createPlayer(stack);
    folder = mkdtempSync(join(tmpdir(), 'tempoclaw-what-if-'));
  });
  after(async () => {
    await stack?.stop();
    if (folder) rmSync(folder, { recursive: true });
  });

  const run = (args: readonly string[]) =>
    runCli(['what-if', ...args], { url: stack.url, env: { TEMPOCLAW_API_KEY: stack.key }, cwd: folder });
  /** The report of a run that ends with this code; tests read fields of every shape. */
  const whatIf = async (args: readonly string[], code = 0): Promise<any> => {
    const ended = await run([...args, '--json']);
    assert.equal(ended.code, code, ended.stdout + ended.stderr);
    return JSON.parse(ended.stdout);
  };
  const file = (name: string, content: object): string => {
    writeFileSync(join(folder, name), JSON.stringify(content));
    return name;
  };
  const filesNamed = (name: string): string[] =>
    readdirSync(stack.worker.workspaceRoot, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith(name),
    );
  const count = async (what: string): Promise<number> =>
    Number((await stack.pool.query(`select count(*) as count from ${what}`)).rows[0].count);

  it('counts what another policy of the tenant denies and asks, by what the recordings have answered', async () => {
    await player.send('policy', [`${write('a.txt')}\ndatetime {}`, write('b.txt'), 'Done.']);
    const models = await count(`model_uses where input_tokens > 0`);
    const denies = file('denies.json', { tools: { deny: ['write_file'] } });
    const report = await whatIf(['--agent', 'shop', '--policy', denies]);
    assert.equal(report.models, 'recorded');
    assert.equal(report.changed, 1);
    const { before: was, after: is, sessions } = report;
    assert.deepEqual([was.denied, is.denied, is.approvals, is.not_recorded], [0, 2, 0, 0]);
    assert.deepEqual(is.tools, { write_file: 2, datetime: 1 });
    assert.deepEqual(sessions[0].difference.part, 'policy');
    assert.match(sessions[0].difference.message, /call 1 \(write_file\): the rules said allow and say deny/);
    assert.equal(await count(`model_uses where input_tokens > 0`), models);
    const asks = file('asks.json', { tools: { ask: [{ tool: 'datetime' }] } });
    const asked = await whatIf(['--agent', 'shop', '--policy', asks]);
    assert.deepEqual([asked.after.approvals, asked.after.denied, asked.after.not_recorded], [1, 0, 0]);
    assert.deepEqual((await stack.ask('GET', '/v1/approvals?status=pending')).body.data, []);
    const { sessions: own } = await whatIf(['--agent', 'shop', '--policy', file('same.json', {})]);
    assert.equal(own[0].difference, null);
  });

  it('lets the model answer under other instructions, and gives calls their recorded results', async () => {
    await player.send('clerk', ['Please refund A17.'], 'clerk');
    rmSync(stack.worker.workspaceRoot, { recursive: true });
    const report = await whatIf(['--agent', 'clerk', '--instructions', 'Look first.']);
    assert.equal(report.models, 'called');
    assert.deepEqual(report.before.tools, { write_file: 1 });
    assert.deepEqual(report.after.tools, { read_file: 1, write_file: 1 });
    assert.deepEqual([report.after.not_recorded, report.after.failed, report.after.steps], [1, 0, 3]);
    const [one] = report.sessions;
    assert.match(one.difference.message, /call 1 \(write_file\): write_file is read_file now/);
    assert.ok(report.spent > 0 && report.spent === report.after.cost, JSON.stringify(report));
    const transcript = JSON.stringify(await player.transcript(one.replay));
    assert.match(transcript, /this call is not in the recording, so it has not run/);
    assert.match(transcript, /Done: .*refund\.txt/);
    const same = await whatIf(['--agent', 'clerk', '--revision', '1', '--live']);
    assert.deepEqual([same.changed, same.after.cost], [0, same.before.cost]);
    // Which link shows both runs side by side.
    const [turn] = (await stack.worker.turns('clerk')).map(({ id }) => id);
    const [other] = (await stack.worker.turns(one.replay)).map(({ id }) => id);
    assert.equal(one.link, `${stack.url}/runs/${turn}/compare/${other}`);
    const compared = await stack.ask('GET', `/v1/turns/${turn}/compare/${other}`);
    assert.deepEqual([compared.status, compared.body.first.step], [200, 1]);
  });

  it('runs no tool that another model calls, asks nobody, and sends nothing', async () => {
    await player.send('other', [write('other.txt'), 'Done.']);
    const egress = await count('egress_requests');
    const report = await whatIf(['--agent', 'shop', '--model', 'rehearsal/lists']);
    assert.deepEqual(Object.keys(report.after.tools).toSorted(), ['datetime', 'list_files']);
    // The first session had a call of datetime.
    assert.equal(report.after.not_recorded, 3);
    assert.equal(await count('egress_requests'), egress);
    assert.equal(await count(`tool_calls where session_key like 'replay-%' and attempts > 0`), 0);
    assert.deepEqual(filesNamed('refund.txt'), []);
    assert.equal((await stack.ask('GET', '/v1/agents/shop')).body.revision, 1);
  });

  it('gives calls that people had decided what they decided, if they are asked again', async () => {
    const decisions = {
      approve: {},
      reject: { reason: 'no' },
      edit: { args: { path: 'e.txt', content: 'y' } },
    };
    for (const [decision, more] of Object.entries(decisions)) {
      const { turn_id } = await player.send(`asks-${decision}`, [write('asked.txt'), 'Done.'], 'asks');
      await player.decide(turn_id, { decision, ...more });
    }
    const still = await whatIf(['--agent', 'asks', '--instructions', 'Be brief.']);
    assert.deepEqual([still.changed, still.after.approvals, still.after.denied], [0, 3, 1]);
    const free = await whatIf(['--agent', 'asks', '--file', file('free.json', { tools: {} })]);
    // Nobody is asked: the call that was approved has its result, those that were not have none.
    assert.deepEqual(
      [free.changed, free.after.approvals, free.after.denied, free.after.not_recorded],
      [3, 0, 0, 2],
    );
  });

  it('is a gate: it ends with 1 when a limit is exceeded or cannot be known', async () => {
    const denies = ['--agent', 'shop', '--policy', 'denies.json'];
    const gate = async (limits: string, args: readonly string[] = denies) => {
      const { code, stdout, stderr } = await run([...args, '--fail-when', limits]);
      return { code, text: stdout + stderr };
    };
    const failed = await gate('approvals>0 or denied>2');
    assert.equal(failed.code, 1, failed.text);
    assert.match(failed.text, /✔ approvals>0: is 0, was 0\n✘ denied>2: is 3, was 0/);
    assert.match(failed.text, /2 of 2 sessions differ/);
    assert.match(failed.text, /no tool runs and nobody is asked\. Models are not called/);
    assert.match(failed.text, /denied +0 +3 +\+3/);
    assert.match(failed.text, /\/runs\/\S+\/compare\//);
    assert.equal((await gate('denied>3 or changed>100%')).code, 0);
    const cost = await gate('cost>+10%');
    assert.equal(cost.code, 2);
    assert.match(cost.text, /no model is called for this change, so it uses nothing/);
    const live = ['--agent', 'clerk', '--instructions', 'Look first.'];
    assert.equal((await gate('cost>+1% or steps>+0', live)).code, 1);
    assert.match((await gate('price>1', live)).text, /--fail-when: "price>1" is no limit/);
    assert.match((await gate('cost>5%', live)).text, /cost is no part of a whole/);
  });

  it('starts no further turn once its money is spent, and says what was left out', async () => {
    const report = await whatIf(
      ['--agent', 'shop', '--model', 'rehearsal/lists', '--max-cost', '0.0001', '--junit', 'out.xml'],
      1,
    );
    assert.equal(report.ended_by, 'max-cost');
    assert.equal(report.sessions.length + report.left_out.length, 2);
    assert.match(report.left_out[0].why, /--max-cost was reached/);
    assert.match(readFileSync(join(folder, 'out.xml'), 'utf8'), /<failure message="not replayed to its end/);
  });

  it('stops the turns that run when it is interrupted', async () => {
    const open = `turns where session_key like 'replay-%' and ended_at is null`;
    const { child, ended } = startCli(['what-if', '--agent', 'shop', '--model', 'rehearsal/slow', '--json'], {
      url: stack.url,
      env: { TEMPOCLAW_API_KEY: stack.key },
    });
    await stack.worker.until('a turn', async () => ((await count(open)) > 0 ? true : undefined));
    child.kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 130, stderr);
    const { ended_by: by, sessions, left_out: left } = JSON.parse(stdout);
    assert.deepEqual([by, sessions.length, left.length], ['interrupted', 0, 2]);
    assert.equal(await count(open), 0);
  });

  it('refuses a change that would show nothing, and one that cannot be', async () => {
    const refused = async (args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await run(['--agent', 'shop', ...args]);
      assert.ok(code === 1 || code === 2, stdout + stderr);
      return stderr;
    };
    const replays = await count('replays');
    assert.match(await refused([]), /Say what is to differ/);
    assert.match(await refused(['--model', 'nobody/none']), /nobody/);
    assert.match(
      await refused(['--file', file('box.json', { visible: true })]),
      /visible would change nothing/,
    );
    assert.match(await refused(['--policy', file('bad.json', { toolz: {} })]), /The change is not valid/);
    assert.match(await refused(['--revision', '99']), /no such revision/);
    assert.match(
      await refused(['--policy', 'denies.json', '--since', '1m', '--outcome', 'stopped']),
      /no session to replay/,
    );
    assert.equal(await count('replays'), replays);
    const reader = await stack.makeKey(['read', 'run']);
    const recording = await player.record('policy');
    const body = { mode: 'what-if', recording, change: { policy: {}, models: 'recorded' } };
    assert.equal((await stack.ask('POST', '/v1/replays', { body, key: reader })).status, 403);
    const nothing = { ...body, change: { models: 'recorded' } };
    assert.equal((await stack.ask('POST', '/v1/replays', { body: nothing })).status, 400);
  });

  it('takes recordings from files, and names those that it cannot use', async () => {
    writeFileSync(join(folder, 'one.rec'), JSON.stringify(await player.record('policy')));
    writeFileSync(join(folder, 'cut.rec'), '{"recording": 1, "agent": "shop"');
    writeFileSync(join(folder, 'deep.rec'), `${'['.repeat(5_000)}${']'.repeat(5_000)}`);
    writeFileSync(join(folder, 'clerk.rec'), JSON.stringify(await player.record('clerk')));
    const files = ['one.rec', 'cut.rec', 'deep.rec', 'clerk.rec', 'none.rec'];
    const report = await whatIf([...files, '--policy', 'denies.json'], 1);
    assert.deepEqual(
      report.sessions.map(({ session }: { session: string }) => session),
      ['policy'],
    );
    const why = Object.fromEntries(
      report.left_out.map((one: { session: string; why: string }) => [one.session, one.why]),
    );
    assert.match(why['cut.rec'], /not JSON; was it cut off/);
    assert.match(why['deep.rec'], /nests deeper/);
    assert.match(why['clerk.rec'], /of agent clerk, not shop/);
    assert.match(why['none.rec'], /no such file/);
  });

  it('shows with --live alone what everything as it is now would do', async () => {
    const instruct = async (instructions: string): Promise<void> => {
      const { status } = await stack.ask('PATCH', '/v1/agents/clerk', { body: { instructions } });
      assert.equal(status, 200);
    };
    await player.send('now', ['Please refund A17.'], 'clerk');
    const recording = file('now.rec', await player.record('now'));
    await instruct('Look first.');
    const report = await whatIf([recording, '--live']);
    assert.equal(report.models, 'called');
    assert.deepEqual(report.after.tools, { read_file: 1, write_file: 1 });
    await instruct('Refund at once.');
    assert.equal((await whatIf([recording, '--live'])).changed, 0);
  });
});
