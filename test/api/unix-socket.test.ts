/** The Unix socket, by which programs of this machine reach the API. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('IN-1 the API at a Unix socket', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-socket-'));
  const path = join(folder, 'api.sock');
  let stack: Stack;
  const server = createServer((message, answer) => stack.app.server.emit('request', message, answer));
  before(async () => {
    stack = await startStack();
    await once(server.listen(path), 'listening');
  });
  after(async () => {
    server.close();
    await stack?.stop();
    rmSync(folder, { recursive: true });
  });

  it('refuses a wrong key as at the port, though it has no address to count it for', async () => {
    const asked = request({
      socketPath: path,
      path: '/v1/sessions',
      headers: { authorization: 'Bearer wrong' },
    });
    const [answer] = (await once(asked.end(), 'response')) as [IncomingMessage];
    assert.equal(answer.statusCode, 401);
    assert.equal(((await json(answer)) as { readonly code: string }).code, 'Unauthorized');
  });
});
