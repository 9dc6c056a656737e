/** `tempoclaw tools test --kill` shows what a crash at each point leaves (IN-12, DU-2). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { cleanEnvironment } from '#test/start/program.ts';

const base = mkdtempSync(join(tmpdir(), 'trial-'));
after(() => rmSync(base, { recursive: true, force: true }));

const LOG = join(base, 'log');
const FOUND = `existsSync(log) && readFileSync(log, 'utf8').split('\\n').includes(order)`;

/** A tool that writes its order into a file. */
function writeTool(
  name: string,
  more: string,
  run = `{ appendFileSync(log, order + '\\n'); return 'Done ' + order; }`,
): void {
  mkdirSync(join(base, 'tools'), { recursive: true });
  const source = `import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { tool, z } from 'tempoclaw';
const log = ${JSON.stringify(LOG)};
export default tool({
  description: 'Refunds',
  input: z.object({ order: z.string().describe('Its id') }),
  run: async ({ order }, { secrets }) => ${run},
  ${more}
});`;
  writeFileSync(join(base, 'tools', `${name}.ts`), source);
}

async function testTool(...args: readonly string[]) {
  rmSync(LOG, { force: true });
  const command = ['bin/tempoclaw.js', 'tools', 'test', ...args, '--folder', base];
  const {
    stdout,
    stderr,
    code = 0,
  } = await promisify(execFile)(process.execPath, command, {
    env: cleanEnvironment(),
  }).catch((error) => error);
  return { stdout, stderr, code };
}

/** Each verdict in a line: the point, runs that came to their end, probes, and what the model reads. */
async function killed(name: string) {
  const { stdout, code } = await testTool(name, '{"order":"{n}"}', '--kill', '--json');
  const lines: string[] = JSON.parse(stdout).map(
    ({ point, note, outcome: { ended, probes, result } }: any) =>
      `${point} | ${ended} ended, ${probes} probed | ${result.ok ? result.text : result.code}${note && ` | ${note}`}`,
  );
  return { lines, code };
}

/** The same of a tool that is quick: on a busy machine it may take so long that it is killed in its middle too. */
async function quickKilled(name: string) {
  const { lines, code } = await killed(name);
  return { lines: lines.filter((line) => !line.includes('% of its run')), code };
}

/** How often the tool took effect for each order. */
function effects(): readonly number[] {
  const orders = readFileSync(LOG, 'utf8').trim().split('\n');
  return [...new Set(orders)].map((order) => orders.filter((one) => one === order).length);
}

describe('IN-12 a tool that is tried', () => {
  it('runs once without --kill', async () => {
    writeTool('refund', `replay: 'once'`);
    assert.deepEqual(await testTool('refund', '{"order":"A"}'), { stdout: 'Done A\n', stderr: '', code: 0 });
    assert.match((await testTool('refund', '{"order":1}')).stdout, /^InvalidArgs: /);
  });

  it('takes effect once at each point when its probe finds what has happened', async () => {
    writeTool('refund', `replay: 'once', probe: ({ order }) => ${FOUND} ? 'Done ' + order : undefined`);
    const { lines, code } = await quickKilled('refund');
    assert.deepEqual(
      lines.map((line) => line.replace(/ \d+$/, '')),
      [
        'not killed | 1 ended, 0 probed | Done',
        'killed before it runs | 1 ended, 1 probed | Done',
        'killed after it has run | 1 ended, 1 probed | Done',
      ],
    );
    assert.equal(code, 0);
    assert.ok(effects().every((count) => count === 1));
  });

  it('is reported when its probe does not find what has happened', async () => {
    writeTool('refund', `replay: 'once', probe: () => undefined`);
    const { lines, code } = await quickKilled('refund');
    assert.match(
      lines.at(-1) ?? '',
      /2 ended, 1 probed \| Done \d+ \| it ran to its end 2 times: its probe returned nothing/,
    );
    assert.equal(code, 1);
    assert.equal(effects().at(-1), 2);
  });

  it('has an unknown outcome after a kill when it has no probe', async () => {
    writeTool('refund', `replay: 'once'`);
    const { lines, code } = await quickKilled('refund');
    assert.deepEqual(lines.slice(1), [
      'killed before it runs | 0 ended, 0 probed | OutcomeUnknown | nobody can know; a probe would find out',
      'killed after it has run | 1 ended, 0 probed | OutcomeUnknown | nobody can know; a probe would find out',
    ]);
    assert.equal(code, 0);
  });

  it('is also killed in the middle of its run when that takes long enough', async () => {
    const run = `{ await new Promise((done) => setTimeout(done, 400)); appendFileSync(log, order + '\\n'); return 'Done'; }`;
    writeTool('refund', `replay: 'idempotent'`, run);
    const { lines } = await killed('refund');
    assert.deepEqual(
      lines.map((line) => line.split(' | ')[0]),
      [
        'not killed',
        'killed before it runs',
        'killed at 25 % of its run',
        'killed at 50 % of its run',
        'killed at 75 % of its run',
        'killed after it has run',
      ],
    );
    assert.match(lines.at(-1) ?? '', /it ran to its end 2 times, as replay: 'idempotent' allows/);
  });

  it('gets its secrets from a file, and says which are missing', async () => {
    writeTool(
      'refund',
      `replay: 'read', secrets: ['shop-key']`,
      `'The key is ' + secrets['shop-key'].length`,
    );
    assert.match((await testTool('refund', '{"order":"A"}')).stderr, /needs secrets: shop-key/);
    writeFileSync(join(base, 'secrets'), '# of the shop\nshop-key=abc=123\n');
    const { stdout } = await testTool('refund', '{"order":"A"}', '--secrets', join(base, 'secrets'));
    assert.equal(stdout, 'The key is 7\n');
  });

  it('names the tools that there are, and what is wrong with the one that is meant', async () => {
    writeTool('refund', `replay: 'once'`);
    assert.match((await testTool('other')).stderr, /has no tool other.*\n.*It has refund/);
    writeFileSync(join(base, 'tools/broken.ts'), 'export default 1;');
    assert.match(
      (await testTool('broken')).stderr,
      /tools\/broken\.ts: its default export must be made with tool/,
    );
    assert.match((await testTool('refund', '[1]')).stderr, /must be a JSON object/);
  });
});
