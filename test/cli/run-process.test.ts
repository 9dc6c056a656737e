/** `tempoclaw api` and `tempoclaw worker` without the settings of a deployment (IN-6). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { cleanEnvironment } from '#test/start/program.ts';

describe('IN-6 the processes of a deployment', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'deployment-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('say what they need when they lack it', async () => {
    const program = join(import.meta.dirname, '../../bin/tempoclaw.js');
    for (const name of ['api', 'worker']) {
      const env = cleanEnvironment({ TEMPOCLAW_STATE_DIR: join(folder, name) });
      const failed = await promisify(execFile)(process.execPath, [program, name], { cwd: folder, env }).catch(
        (error: { readonly code: number; readonly stderr: string }) => error,
      );
      assert.ok('code' in failed && failed.code !== 0);
      assert.match(failed.stderr, /needs DATABASE_URL and TEMPORAL_ADDRESS/);
    }
  });
});
