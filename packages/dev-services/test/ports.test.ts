import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { isPortFree, nextFreePort } from '../src/ports.ts';

describe('ports', () => {
  const server = createServer();
  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  after(() => server.close());

  test('a port in use is passed over for the next free one', async () => {
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    assert.equal(await isPortFree(address.port, '127.0.0.1'), false);
    const next = await nextFreePort(address.port);
    assert.ok(next > address.port);
    assert.equal(await isPortFree(next, '127.0.0.1'), true);
  });

  test('a port that another part has been given is not given again', async () => {
    const free = await nextFreePort(0);
    assert.notEqual(await nextFreePort(free, '127.0.0.1', new Set([free])), free);
  });
});
