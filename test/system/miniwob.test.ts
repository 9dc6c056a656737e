/** Pages of MiniWoB++ (PyPI's `miniwob`), played through the tool by scripts that know them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { childEnvironment } from '#config';
import { browserBench, startSite } from '#test/support/browser-bench.ts';
import { CLICK_ORACLES } from '#test/support/miniwob-clicks.ts';
import { FORM_ORACLES } from '#test/support/miniwob-forms.ts';
import { Play } from '#test/support/miniwob-play.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

const ORACLES = { ...CLICK_ORACLES, ...FORM_ORACLES };
const PACKAGE = 'miniwob==1.1.0';
/** Fewest solved pages of those with an oracle; a random page may be beyond its oracle. */
const MIN = 60;
/** Another try gets another task. */
const TRIES = 2;
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};
const { TEST_PAGES } = process.env;

it(`at least ${MIN} pages of MiniWoB++ are solved through the tool`, { timeout: 600_000 }, async (t) => {
  const folder = await temporaryFolder(t);
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', folder, PACKAGE];
  await promisify(execFile)('python3', pip, {
    env: childEnvironment({ PIP_DISABLE_PIP_VERSION_CHECK: '1' }),
  });
  const root = join(folder, 'miniwob', 'html');
  const site = await startSite(t, {}, (request, reply) => {
    const path = normalize((request.url ?? '/').split('?')[0] ?? '/');
    readFile(join(root, path)).then(
      (bytes) =>
        reply
          .writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' })
          .end(bytes),
      () => reply.writeHead(404).end(),
    );
    return true;
  });
  const { ask } = await browserBench(t, [site.host]);
  const names = TEST_PAGES ? TEST_PAGES.split(',') : Object.keys(ORACLES);
  const failed: string[] = [];
  const play = async (name: string): Promise<string | undefined> => {
    const one = new Play(ask);
    try {
      await one.begin(`${site.url}/miniwob/${name}.html`);
      await ORACLES[name]?.(one);
      return (await one.isSolved()) ? undefined : `not solved: ${one.task}`;
    } catch (error) {
      return (await one.isSolved().catch(() => false))
        ? undefined
        : `${one.task}: ${String(error).slice(0, 300)}`;
    }
  };
  for (const name of names) {
    let problem: string | undefined = '';
    for (let again = 0; again < TRIES && problem !== undefined; again += 1) problem = await play(name);
    t.diagnostic(
      `${problem === undefined ? 'solved' : 'FAILED'} ${name}${problem === undefined ? '' : `: ${problem}`}`,
    );
    if (problem !== undefined) failed.push(name);
  }
  const solved = names.length - failed.length;
  t.diagnostic(`${solved} of ${names.length} solved; not: ${failed.join(', ') || 'none'}`);
  assert.ok(TEST_PAGES !== undefined || solved >= MIN, `${solved} are solved, without ${failed.join(', ')}`);
});
