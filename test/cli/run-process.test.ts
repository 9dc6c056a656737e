/** `tempoclaw api` and `tempoclaw worker` without the settings of a deployment (IN-6). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { startFailure } from '#cli/start-failure.ts';
import { ForeignNamespace } from '#domain/installation.ts';
import { freePort } from '#test/support/free-port.ts';
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
      assert.doesNotMatch(failed.stderr, /\n +at /);
    }
  });

  it('say what they cannot reach and which setting names it, and show no stack', async () => {
    const closed = await freePort();
    const postgres = await connectTo(closed);
    const named = Object.assign(new Error('no such database'), { code: '3D000' });
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const again = createServer().listen(taken.address() as AddressInfo);
    const [listening] = (await once(again, 'error')) as [Error];
    taken.close();
    const transport = Object.assign(new Error('tcp connect error'), { name: 'TransportError' });
    for (const [error, message, remedy] of [
      [postgres, /^Postgres cannot be used: connect ECONNREFUSED /, /DATABASE_URL/],
      [new AggregateError([postgres, postgres]), /^Postgres cannot be used: connect ECONN/, /DATABASE_URL/],
      [named, /^Postgres cannot be used: no such database/, /DATABASE_URL/],
      [listening, /^No port: listen EADDRINUSE/, /TEMPOCLAW_PORT/],
      [transport, /^Temporal cannot be reached: tcp connect error/, /TEMPORAL_ADDRESS/],
    ] as const) {
      const failure = startFailure(error);
      assert.match(failure?.message ?? '', message);
      assert.match(failure?.remedy ?? '', remedy);
    }
    assert.match(startFailure(new ForeignNamespace('acme', undefined))?.message ?? '', /namespace acme/);
    for (const bug of [
      new TypeError('x is not a function'),
      'text',
      Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'write' }),
    ])
      assert.equal(startFailure(bug), undefined);
  });
});

async function connectTo(port: number): Promise<Error> {
  const [error] = (await once(connect(port, '127.0.0.1'), 'error')) as [Error];
  return error;
}
