import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { insertEgressRow, type NewEgressRow } from '#store/egress-store.ts';
import { OLD_ROWS, pruneOldRows } from '#store/old-rows.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';

const ROW: NewEgressRow = {
  tenant: 'default',
  purpose: 'web_fetch',
  call_id: 'call_1',
  method: 'GET',
  host: 'example.com:443',
  status: 200,
  bytes: 12,
  milliseconds: 3,
  problem: null,
};

describe('R5 what was asked of the outside', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
    const rows = [
      ROW,
      { ...ROW, host: 'evil.example', status: null, bytes: 0, problem: 'blocked_domain' },
      { ...ROW, call_id: null, purpose: 'mcp' },
    ];
    for (const row of rows) await insertEgressRow(api.pool, { ...row, tenant: api.tenant });
  });
  after(() => api.stop());

  it('is listed newest first, page by page, of a call, a host or a tool', async () => {
    const hosts = async (query: string): Promise<unknown[]> => {
      const { body } = await api.ask('GET', `/v1/egress?${query}`);
      return (body as { data: { purpose: string; host: string }[] }).data.map(
        ({ purpose, host }) => `${purpose} ${host}`,
      );
    };
    assert.deepEqual(await hosts(''), [
      'mcp example.com:443',
      'web_fetch evil.example',
      'web_fetch example.com:443',
    ]);
    assert.deepEqual(await hosts('call_id=call_1&host=example.com'), ['web_fetch example.com:443']);
    assert.deepEqual(await hosts('purpose=mcp'), ['mcp example.com:443']);
    const { body } = await api.ask('GET', '/v1/egress?limit=2');
    const { next_cursor } = body as { next_cursor: string };
    assert.deepEqual(await hosts(`after=${next_cursor}`), ['web_fetch example.com:443']);
  });

  it('is not shown to a key of one user, nor to another tenant', async () => {
    const other = await api.makeTenant();
    const { body } = await api.ask('GET', '/v1/egress', other);
    assert.deepEqual((body as { data: unknown[] }).data, []);
    const key = await api.makeKey(['read'], { user: 'ann' });
    assert.equal((await api.ask('GET', '/v1/egress', { key })).status, 403);
  });

  it('is counted for Prometheus by purpose and outcome', async () => {
    const { body: metrics } = await api.ask('GET', '/metrics');
    assert.match(metrics, /tempoclaw_egress_requests\{purpose="web_fetch",outcome="blocked_domain"\} 1/);
    assert.match(metrics, /tempoclaw_egress_bytes\{purpose="web_fetch",outcome="answered"\} 12/);
  });

  it('is kept for thirty days', async () => {
    await api.pool.query(
      `update egress_requests set created_at = now() - interval '31 days' where purpose = 'mcp'`,
    );
    assert.equal(await pruneOldRows(api.pool, [OLD_ROWS.egress]), 1);
  });
});
