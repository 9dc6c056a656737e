/** IN-4: kill -9 of all workers while an answer grows in a chat. The whole answer replaces what was shown, once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { startTelegram, textUpdate, TOKEN } from '#test/support/telegram-server.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
/** A delivery that a dying worker had claimed is checked when its lease is over. */
const PATIENCE_MS = 400_000;
const SECRET = 'of-the-webhook';

describe('IN-4 an answer that grows under kill -9 of all workers', { timeout: 1_800_000 }, () => {
  const ends: (() => void)[] = [];
  const chance = createChance(seedOfRun());
  let stand: Stand;
  let tenant: Tenant;
  let telegram: Awaited<ReturnType<typeof startTelegram>>;

  before(async () => {
    telegram = await startTelegram({ after: (end) => void ends.push(end) });
    stand = await createStand({
      workers: 2,
      settings: `channels: { telegram: { baseUrl: "${telegram.url}" } }`,
      agents: [{ key: 'slow', type: 'open', model: 'rehearsal/stream' }],
    });
    tenant = stand.tenants[0];
    const settings = { token: TOKEN, secret_token: SECRET, stream: true };
    await post('/v1/channels', { key: 'tg', type: 'telegram', agent: 'slow', settings });
    await post('/v1/channels/tg/pairings', { person: '42', user: 'ann' });
  });
  after(async () => {
    await stand?.close();
    for (const end of ends) end();
  });

  async function post(path: string, body: object): Promise<void> {
    const reply = await stand.ask(tenant, 'POST', path, { body });
    assert.ok(reply && reply.status < 300, JSON.stringify(reply?.body));
  }
  async function patiently(what: string, probe: () => Promise<boolean>): Promise<void> {
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(50))
      if (await probe()) return;
    throw new Error(`${what} did not come about`);
  }
  const isThere = async (from: string): Promise<boolean> =>
    ((await stand.pool.query(`select 1 from ${from}`)).rowCount ?? 0) > 0;

  it('is whole in the end, in the message that had grown', async () => {
    const expected: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const words = `ms=800 ${'word '.repeat(20)}of the round ${round}`;
      expected.push(words);
      const url = `${stand.apiUrl}/v1/channels/tg/inbound?tenant=${tenant.id}`;
      const headers = { 'x-telegram-bot-api-secret-token': SECRET };
      const body = JSON.stringify(textUpdate(words));
      assert.equal((await fetch(url, { method: 'POST', body, headers })).status, 200);
      await patiently('a message that grows', () => isThere('channel_posts where part < 0'));
      await sleep(chance.between(0, 2_000));
      await Promise.all(stand.workers.map((worker) => worker.kill()));
      await Promise.all(stand.workers.map((worker) => worker.start()));
      await patiently('the whole answer', async () => telegram.messages.some(({ text }) => text === words));
      await patiently(
        'all deliveries',
        async () => !(await isThere(`webhook_deliveries where status = 'pending'`)),
      );
    }
    assert.deepEqual(
      telegram.messages.map(({ text }) => text),
      expected,
    );
  });
});
