/** Runs the code of the README, and the example that it names. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CACHE, ENVIRONMENT } from '../support/environment.ts';

async function node(...args: string[]): Promise<{ stdout: string; stderr: string; code: number | null }> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...ENVIRONMENT, CACHE_FOLDER: CACHE },
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, code };
}

describe('the example', { timeout: 240_000 }, () => {
  test('runs a command beside both servers, twice on the same data, and passes its exit code on', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'dev-services-example-'));
    // As root, Postgres runs as another user and must be able to pass through.
    chmodSync(folder, 0o711);
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const command = ['sh', '-c', 'echo "$DATABASE_URL $TEMPORAL_ADDRESS"; exit 3'];
    const passwords = new Set<string>();
    for (const _time of ['first', 'second']) {
      const { stdout, stderr, code } = await node('examples/with-services.ts', folder, ...command);
      const found = /^postgres:\/\/postgres:(\w+)@127\.0\.0\.1:\d+\/postgres 127\.0\.0\.1:\d+\n$/.exec(
        stdout,
      );
      passwords.add(found?.[1] ?? assert.fail(`${stdout}${stderr}`));
      assert.equal(code, 3);
    }
    assert.equal(passwords.size, 1);
  });
});

describe('the README', { timeout: 120_000 }, () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, code = ''] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? [];

  test('says what its example returns', async () => {
    // Each expression with the value in the comment below it.
    const claim = /^(?!import|const)(.+);\n\/\/ (.+)$/gm;
    assert.equal([...code.matchAll(claim)].length, 3);
    const checks = code
      .replaceAll(
        claim,
        (_, expression: string, value: string) => `assert.deepEqual(${expression}, ${value});`,
      )
      // As root, Postgres runs as another user and must be able to pass through.
      .replace(/^const env/m, "(await import('node:fs')).chmodSync(stateDir, 0o711);\nconst env");
    const program = `import assert from 'node:assert/strict';\n${checks}`;
    const { stderr } = await node('--input-type=module-typescript', '--eval', program);
    assert.equal(stderr, '');
  });
});
