import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { runningWith } from '#test/support/processes.ts';

const SCRIPT = new URL('../../scripts/test.ts', import.meta.url).pathname;

describe('npm test', () => {
  it('runs nothing if a name fits no test file', () => {
    const names = ['test/scripts/check-lock.test.ts', 'no-such-test', 'test/no-such-folder'];
    const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...names], { encoding: 'utf8' });
    assert.equal(stderr, 'There are no tests for no-such-test test/no-such-folder.\n');
    assert.equal(stdout, '');
    assert.equal(status, 1);
  });

  it('leaves no process behind when it is interrupted, not even one that is deaf to signals', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-deaf-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'deaf.test.ts');
    // It is also in the command line of each process of the run.
    const name = `busy ${process.pid}`;
    writeFileSync(
      file,
      `import { it } from 'node:test';
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
it('${name}', async () => {
  console.log('begun');
  await new Promise((resolve) => setTimeout(resolve, 500));
  for (const until = Date.now() + 60_000; Date.now() < until; ) await undefined;
});`,
    );
    const env = { ...process.env };
    // Otherwise Node believes that this is a part of its own run.
    delete env['NODE_TEST_CONTEXT'];
    const args = [SCRIPT, `--test-name-pattern=${name}`, file];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const exit = once(child, 'exit');
    for await (const piece of child.stdout) if (String(piece).includes('begun')) child.kill('SIGINT');
    await exit;
    for (let tries = 0; tries < 20 && runningWith(name).length > 0; tries += 1) await setTimeout(50);
    assert.deepEqual(runningWith(name), []);
  });
});
