/** Runs the code of the README, and the example that it names. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

function codeOf(language: string): string {
  return new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(readme)?.[1] ?? '';
}

test('the example prints what the README shows', () => {
  const script = fileURLToPath(new URL('../examples/judge-lines.ts', import.meta.url));
  const input = 'ls -la\nrm -rf /\n';
  const { stdout, status } = spawnSync(process.execPath, [script], { input, encoding: 'utf8', env: {} });
  assert.equal(status, 0);
  assert.equal(stdout, codeOf('text'));
});

describe('the code of the README', () => {
  test('returns what it says', () => {
    // An expression, and its value as a comment below it.
    const claim = /^(\w+\(.*\)[.\w]*);\n\/\/ (.+)$/gm;
    const code = codeOf('ts');
    assert.equal([...code.matchAll(claim)].length, 7);
    const checks = code.replaceAll(claim, 'assert.deepEqual($1, $2);');
    const { stderr, status } = spawnSync(
      process.execPath,
      ['--input-type=module-typescript', '--eval', `import assert from 'node:assert/strict';\n${checks}`],
      { cwd: fileURLToPath(new URL('..', import.meta.url)), encoding: 'utf8', env: {} },
    );
    assert.equal(status, 0, stderr);
  });
});
