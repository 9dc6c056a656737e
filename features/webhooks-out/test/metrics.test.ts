/** IN-4, IN-8: what the operator's monitoring sees of deliveries. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startApi } from '#test/support/stack.ts';

describe('IN-4 IN-8 the metrics of the operator', () => {
  it('count the endpoints of all tenants that fail, and none that was switched off', async (t) => {
    const api = await startApi();
    t.after(() => api.stop());
    const other = await api.makeTenant();
    const urls = [
      'https://fails.example/',
      'https://gone.example/',
      'https://off.example/',
      'mailto:a@b.example',
    ];
    for (const key of [api.key, other.key])
      for (const url of urls)
        assert.equal(
          (await api.ask('POST', '/v1/webhooks', { key, body: { url, events: ['approval.*'] } })).status,
          201,
        );
    await api.pool.query(
      `update webhooks set enabled = url !~ 'gone|off',
        failing_since = case when url ~ 'fails' then now() end,
        disabled_reason = case when url ~ 'gone' then 'it answered 410 Gone' end`,
    );
    const { body } = await api.ask('GET', '/metrics');
    assert.deepEqual(body.match(/^tempoclaw_deliveries_\S+ .*/gm), [
      'tempoclaw_deliveries_failing{kind="webhook"} 4',
      'tempoclaw_deliveries_failing{kind="mail"} 0',
      'tempoclaw_deliveries_failing{kind="channel"} 0',
    ]);
  });
});
