/** Runs the code of the README, and the example that it names. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'node:test';

describe('the example', () => {
  test('hides the secrets of a log and the values of variables', () => {
    const script = fileURLToPath(new URL('../examples/scrub-log.ts', import.meta.url));
    const { stdout, status } = spawnSync(process.execPath, [script, 'DATABASE_PASSWORD'], {
      env: { DATABASE_PASSWORD: 'correct horse' },
      input: 'login with correct horse\npassword=hunter2hunter2\nready\n',
      encoding: 'utf8',
    });
    assert.equal(status, 0);
    assert.equal(stdout, 'login with [REDACTED]\npassword=[REDACTED]\nready\n');
  });
});

describe('the README', () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, code = ''] = /^```ts\n(.*?)^```$/ms.exec(text) ?? [];

  test('says what its example returns', () => {
    // Each expression with the value in the comment below it.
    const claims = [...code.matchAll(/^(?!import|const)(.+);\n\/\/ (.+)$/gm)];
    assert.equal(claims.length, 5);
    const checks = code.replaceAll(
      /^(?!import|const)(.+);\n\/\/ (.+)$/gm,
      (_, expression: string, value: string) => `assert.deepEqual(${expression}, ${value});`,
    );
    const program = `import assert from 'node:assert/strict';\n${checks}`;
    const { stderr, status } = spawnSync(
      process.execPath,
      ['--input-type=module-typescript', '--eval', program],
      {
        cwd: fileURLToPath(new URL('..', import.meta.url)),
        encoding: 'utf8',
      },
    );
    assert.equal(status, 0, stderr);
  });
});
