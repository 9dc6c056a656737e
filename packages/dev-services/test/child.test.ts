/** What is reported of a child that ended before it was ready. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { ENVIRONMENT } from './support/environment.ts';
import { startChild, waitUntil } from '../src/child.ts';

describe('a child that ends at once', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dev-services-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function endOf(script: string): Promise<string> {
    const child = await startChild({
      name: 'It',
      command: '/bin/sh',
      args: ['-c', script],
      env: ENVIRONMENT,
      logFile: join(folder, 'child.log'),
    });
    return waitUntil(child, () => undefined, 10_000).then(
      () => assert.fail('It did not end.'),
      (error: Error) => error.message,
    );
  }

  test('is told with its last lines', async () => {
    const words = await endOf('seq 100; echo disk full; exit 3');
    assert.match(words, /code 3/);
    assert.match(words, /disk full$/);
    assert.doesNotMatch(words, /\n50\n/);
  });

  test('and when it panicked with what it said before its stack, however long that is', async () => {
    const words = await endOf(
      'echo address already in use; echo "panic: nil pointer"; seq -f "frame %040.0f" 500; exit 2',
    );
    assert.match(words, /address already in use\npanic: nil pointer/);
    assert.doesNotMatch(words, /0500$/);
  });
});
