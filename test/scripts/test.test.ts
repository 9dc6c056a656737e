import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';

const SCRIPT = new URL('../../scripts/test.ts', import.meta.url).pathname;

describe('npm test', () => {
  it('runs nothing if a name fits no test file', () => {
    const names = ['test/scripts/check-lock.test.ts', 'no-such-test', 'test/no-such-folder'];
    const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...names], { encoding: 'utf8' });
    assert.equal(stderr, 'There are no tests for no-such-test test/no-such-folder.\n');
    assert.equal(stdout, '');
    assert.equal(status, 1);
  });
});
