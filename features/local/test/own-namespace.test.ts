import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { loadConfig } from '#config';
import { namespaceOf } from '../temporal/own-namespace.ts';

describe('the namespace of an installation', () => {
  const folders = ['a', 'b'].map((name) => mkdtempSync(join(tmpdir(), `tempoclaw-namespace-${name}-`)));
  after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  const configIn = (stateDir: string | undefined, env: Record<string, string> = {}) =>
    loadConfig({ cwd: tmpdir(), flags: { stateDir }, env });

  test('is its own on a server of its own, and the same at each start', () => {
    const [one, other] = folders.map((folder) => namespaceOf(configIn(folder)));
    assert.match(one ?? '', /^tempoclaw-[0-9a-f]{12}$/);
    assert.notEqual(one, other);
    assert.equal(namespaceOf(configIn(folders[0])), one);
  });

  test('is that of the settings where these name it, or a server', () => {
    assert.equal(namespaceOf(configIn(folders[0], { TEMPORAL_NAMESPACE: 'mine' })), 'mine');
    assert.equal(namespaceOf(configIn(folders[0], { TEMPORAL_ADDRESS: '127.0.0.1:1' })), 'default');
  });
});
