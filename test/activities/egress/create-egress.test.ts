/** R5: whose outgoing requests are recorded. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEgress } from '#activities/egress/create-egress.ts';
import { egressResult } from '#activities/egress/egress-result.ts';
import type { NewEgressRow } from '#store/egress-store.ts';
import { startSite } from '#test/support/web-site.ts';

describe('R5 egress', () => {
  it('keeps a row with the tenant, the purpose and the call, and tells the model what is refused', async (t) => {
    const { url, place } = await startSite(t, (_request, reply) => reply.end('hello'));
    const rows: NewEgressRow[] = [];
    const egress = createEgress({ resolve: async () => [], record: async (row) => void rows.push(row) });
    const labels = { tenant: 'default', purpose: 'web_fetch', callId: 'call_1' };
    const open = egress.open({ labels, rules: { internalHosts: [place] } });
    assert.equal(await (await open.fetch(url)).text(), 'hello');
    const closed = egress.open({ labels: { tenant: 'default', purpose: 'mcp' }, rules: {} });
    const result = egressResult(await closed.fetch(url).catch((error: unknown) => error));
    assert.equal(!result.ok && result.code, 'PermissionDenied');
    await Promise.all([open.close(), closed.close()]);
    assert.deepEqual(
      rows.map((row) => ({ ...row, milliseconds: 0 })),
      [
        {
          tenant: 'default',
          purpose: 'web_fetch',
          call_id: 'call_1',
          method: 'GET',
          host: place,
          status: 200,
          bytes: 5,
          milliseconds: 0,
          problem: null,
        },
        {
          tenant: 'default',
          purpose: 'mcp',
          call_id: null,
          method: 'GET',
          host: place,
          status: null,
          bytes: 0,
          milliseconds: 0,
          problem: 'loopback',
        },
      ],
    );
  });
});
