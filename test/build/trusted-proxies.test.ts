import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { configSchema } from '#config/schema.ts';
import { startApi } from '#test/support/stack.ts';

/** Calls a public route until one sender exceeds its limit; returns how often it answered. */
async function start(t: TestContext, trustedProxies: readonly string[]) {
  const api = await startApi({ settings: { rateLimitPerMinute: 3, trustedProxies } });
  t.after(() => api.stop());
  return async (forwarded: string): Promise<number[]> => {
    const statuses: number[] = [];
    for (let requested = 0; requested < 4; requested += 1) {
      const headers = { 'x-forwarded-for': forwarded };
      const { status } = await api.ask('POST', '/v1/channels/none/inbound', { key: null, headers, body: {} });
      statuses.push(status);
    }
    return statuses;
  };
}

const LIMITED = [401, 401, 401, 429];

describe('IN-4 limits by address', () => {
  it('are each caller’s own behind a proxy that is trusted, by the last address that is none of ours', async (t) => {
    const ask = await start(t, ['127.0.0.0/8', '10.0.0.1']);
    assert.deepEqual(await ask('198.51.100.7'), LIMITED);
    assert.deepEqual(await ask('198.51.100.8, 10.0.0.1'), LIMITED);
    // A client cannot hide behind what it writes before its address.
    assert.deepEqual(await ask('192.0.2.1, 198.51.100.7'), [429, 429, 429, 429]);
  });

  it('are of the connection where nobody is trusted, whatever its headers say', async (t) => {
    const ask = await start(t, []);
    assert.deepEqual(await ask('198.51.100.7'), LIMITED);
    assert.deepEqual(await ask('198.51.100.8'), [429, 429, 429, 429]);
  });

  it('trust addresses and prefixes, not names', () => {
    const read = (trustedProxies: string[]) => configSchema.safeParse({ api: { trustedProxies } }).success;
    assert.ok(read(['10.0.0.4', '10.1.0.0/16', '::1', 'fd00::/8']));
    for (const wrong of ['proxy.internal', '10.0.0.0/33', 'true', '']) assert.ok(!read([wrong]), wrong);
  });
});
