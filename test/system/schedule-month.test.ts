/**
 * IN-4: a request of a chat is answered there every morning of a month in which the clocks change, while all workers
 * are killed on some of them. A backfill of the Temporal Schedule starts each morning, which Temporal runs for its
 * instants.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { scheduleIdOf } from '#features/schedules/contract/schedule.ts';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { startTelegram, textUpdate, TOKEN } from '#test/support/telegram-server.ts';

const ZONE = 'Europe/Berlin';
const MORNING = 'Good morning, the day is yours.';
const MORNINGS = 30;
/** Mornings during which all workers die. */
const KILLED: ReadonlySet<number> = new Set([4, 15, 22]);
const DAY_MS = 86_400_000;
/** A delivery that a dying worker had claimed is checked when its lease is over. */
const PATIENCE_MS = 400_000;
const SECRET = 'of-the-webhook';

/** Hours by which the zone is ahead of UTC at noon of a day. */
function aheadOf(day: number): number {
  const noon = new Date(day + DAY_MS / 2);
  const hour = new Intl.DateTimeFormat('en-GB', { timeZone: ZONE, hour: '2-digit', hourCycle: 'h23' });
  return Number(hour.format(noon)) - 12;
}

/** Eight o'clock there on each day of the month around the next clock change that is wholly in the future. */
function morningsToCome(): Date[] {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  let change = today + (MORNINGS / 2 + 2) * DAY_MS;
  while (aheadOf(change) === aheadOf(change - DAY_MS)) change += DAY_MS;
  return Array.from({ length: MORNINGS }, (_, nth) => {
    const day = change + (nth - MORNINGS / 2) * DAY_MS;
    return new Date(day + (8 - aheadOf(day)) * 3_600_000);
  });
}

describe('TL cron IN-4 a month of mornings in a chat', { timeout: 1_800_000 }, () => {
  const ends: (() => void)[] = [];
  const chance = createChance(seedOfRun());
  let stand: Stand;
  let tenant: Tenant;
  let telegram: Awaited<ReturnType<typeof startTelegram>>;

  before(async () => {
    telegram = await startTelegram({ after: (end) => void ends.push(end) });
    stand = await createStand({
      workers: 2,
      settings: `webhooks: { retrySeconds: [${Array.from({ length: 20 }, () => '0.2').join(', ')}] }
channels: { telegram: { baseUrl: "${telegram.url}" } }`,
    });
    tenant = stand.tenants[0];
    const settings = { token: TOKEN, secret_token: SECRET };
    await post('/v1/channels', { key: 'tg', type: 'telegram', agent: 'main', settings });
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
  async function patiently<Found>(what: string, probe: () => Promise<Found | undefined>): Promise<Found> {
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(50)) {
      const found = await probe();
      if (found !== undefined) return found;
    }
    throw new Error(`${what} did not come about`);
  }
  const runsOf = async (id: string): Promise<any[]> => {
    const reply = await stand.ask(tenant, 'GET', `/v1/schedules/${id}/runs?limit=200`);
    return (reply?.body['data'] as any[] | undefined) ?? [];
  };
  const texts = (text: string) => telegram.messages.filter((message) => message.text === text);

  it(`each of ${MORNINGS} is said in the chat at eight by the clocks there`, async (t) => {
    const mornings = morningsToCome();
    const months = new Set(mornings.map((at) => at.getUTCMonth() + 1));
    const schedule = { kind: 'cron', expr: `0 8 * ${[...months].join(',')} *`, tz: ZONE };
    const job = { name: 'mornings', schedule, message: MORNING, overlap: 'allow' };
    const words = `cron ${JSON.stringify({ action: 'add', job })}\nthen\nIt is planned.`;
    const url = `${stand.apiUrl}/v1/channels/tg/inbound?tenant=${tenant.id}`;
    const headers = { 'x-telegram-bot-api-secret-token': SECRET };
    const body = JSON.stringify(textUpdate(words));
    assert.equal((await fetch(url, { method: 'POST', body, headers })).status, 200);
    await patiently('the schedule', async () => (texts('It is planned.').length > 0 ? true : undefined));
    const { rows } = await stand.pool.query<{ id: string; session_key: string }>(
      'select id, session_key from schedules where tenant_id = $1',
      [tenant.id],
    );
    const [{ id, session_key: session } = { id: '', session_key: '' }] = rows;
    const handle = (await stand.client()).schedule.getHandle(scheduleIdOf(tenant.id, id));

    for (const [nth, at] of mornings.entries()) {
      await handle.backfill({ start: new Date(at.getTime() - 1000), end: at, overlap: 'ALLOW_ALL' });
      if (KILLED.has(nth)) {
        await sleep(chance.between(0, 600));
        await Promise.all(stand.workers.map((worker) => worker.kill()));
        await Promise.all(stand.workers.map((worker) => worker.start()));
      }
      await patiently(`the run of ${at.toISOString()}`, async () =>
        (await runsOf(id)).find((run) => run.at === at.toISOString() && run.status === 'completed'),
      );
    }
    await patiently('all deliveries', async () => {
      const { rowCount } = await stand.pool.query(
        `select 1 from webhook_deliveries where status = 'pending'`,
      );
      return rowCount === 0 ? true : undefined;
    });

    const runs = (await runsOf(id)).toReversed();
    assert.deepEqual(
      runs.map(({ at, status, session: where }) => [at, status, where]),
      mornings.map((at) => [at.toISOString(), 'completed', session]),
      'one run each, in the session of the chat',
    );
    assert.deepEqual([...new Set(mornings.map((at) => at.getUTCHours()))].toSorted(), [6, 7]);
    const { rows: received } = await stand.pool.query(
      `select 1 from messages where tenant_id = $1 and role = 'user' and id like 'msg_cron-%'`,
      [tenant.id],
    );
    assert.equal(received.length, MORNINGS, 'one message each');
    const { rows: messages } = await stand.pool.query<{ turn_id: string; message_id: string }>(
      `select e.turn_id, p.message_id from channel_posts p
       join webhook_deliveries d on d.tenant_id = p.tenant_id and d.id = p.delivery_id
       join events e on e.tenant_id = d.tenant_id and e.session_key = d.session_key and e.id = d.event_id
       join schedule_runs r on r.tenant_id = e.tenant_id and r.turn_id = e.turn_id
       where p.tenant_id = $1 order by r.at`,
      [tenant.id],
    );
    assert.deepEqual(
      messages.map(({ turn_id }) => turn_id),
      runs.map(({ turn_id }) => turn_id),
    );
    const posts = telegram.messages.filter(({ text }) => text.startsWith(MORNING));
    const reply = new Set(posts.map(({ id: message }) => String(message)));
    assert.ok(messages.every(({ message_id }) => reply.has(message_id)));
    // Services have no keys for repeats: what one received in the instant of a kill is there twice, the second time
    // with words that say so.
    const twice = reply.size - MORNINGS;
    const marked = posts.length - texts(MORNING).length;
    assert.ok(twice <= marked, `${twice} twice, ${marked} marked`);
    t.diagnostic(`${MORNINGS} mornings from ${mornings[0]?.toISOString()}, ${twice} told twice`);
    assert.ok(twice <= KILLED.size, 'at most one a kill');
  });
});
