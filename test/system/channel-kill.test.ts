/**
 * IN-4, AP-1: kill -9 of all workers during a story over two services. A question comes with a file in Telegram, a
 * button in Slack allows it, and the answer goes to Telegram.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import {
  SLACK,
  slackHeaders,
  type SlackMessage,
  slackPress,
  startSlack,
} from '#test/support/slack-server.ts';
import { startTelegram, textUpdate, TOKEN } from '#test/support/telegram-server.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
/**
 * All workers die when the message is accepted, when the question waits, when the button is pressed, and when the
 * command runs.
 */
const POINTS = ['accepted', 'asked', 'pressed', 'running'] as const;
/** A delivery that a dying worker had claimed is checked when its lease is over. */
const PATIENCE_MS = 400_000;
const SECRET = 'of-the-webhook';

describe('IN-4 AP-1 a story over two services under kill -9 of all workers', { timeout: 1_800_000 }, () => {
  const ends: (() => void)[] = [];
  const chance = createChance(seedOfRun());
  let stand: Stand;
  let tenant: Tenant;
  let telegram: Awaited<ReturnType<typeof startTelegram>>;
  let slack: Awaited<ReturnType<typeof startSlack>>;

  before(async () => {
    const t = { after: (end: () => void) => void ends.push(end) };
    [telegram, slack] = await Promise.all([startTelegram(t), startSlack(t)]);
    stand = await createStand({
      workers: 2,
      settings: `webhooks: { retrySeconds: [${Array.from({ length: 20 }, () => '0.2').join(', ')}] }
channels: { telegram: { baseUrl: "${telegram.url}" }, slack: { baseUrl: "${slack.url}" } }`,
      agents: [
        { key: 'asks', type: 'open', model: 'rehearsal/follow', exec: { security: 'full', ask: 'always' } },
      ],
    });
    tenant = stand.tenants[0];
    const there = { chat: 'C9' };
    await post('/v1/channels', {
      key: 'tg',
      type: 'telegram',
      agent: 'asks',
      settings: { token: TOKEN, secret_token: SECRET },
    });
    const settings = { ...SLACK, approvals_to: there, approvals_for: ['asks'] };
    await post('/v1/channels', { key: 'slack', type: 'slack', agent: 'main', settings });
    await post('/v1/channels/tg/pairings', { person: '42', user: 'ann' });
    await post('/v1/channels/slack/pairings', { person: 'U7', user: 'ann', may_decide: true });
  });
  after(async () => {
    await stand?.close();
    for (const end of ends) end();
  });

  async function post(path: string, body: object): Promise<void> {
    const reply = await stand.ask(tenant, 'POST', path, { body });
    assert.ok(reply && reply.status < 300, JSON.stringify(reply?.body));
  }
  async function hears(
    channel: string,
    body: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const url = `${stand.apiUrl}/v1/channels/${channel}/inbound?tenant=${tenant.id}`;
    assert.equal((await fetch(url, { method: 'POST', body, headers })).status, 200);
  }
  async function patiently<Found>(what: string, probe: () => Promise<Found | undefined>): Promise<Found> {
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(50)) {
      const found = await probe();
      if (found !== undefined) return found;
    }
    throw new Error(`${what} did not come about`);
  }
  async function killAll(): Promise<void> {
    await sleep(chance.between(0, 150));
    await Promise.all(stand.workers.map((worker) => worker.kill()));
    await Promise.all(stand.workers.map((worker) => worker.start()));
  }
  /** Resolves when its row exists, so that its button is known. */
  const questionOf = (token: string): Promise<SlackMessage> =>
    patiently(`the question of ${token}`, async () => {
      const { rows } = await stand.pool.query<{ message_id: string }>(
        `select message_id from channel_posts where channel_key = 'slack' and approval_id is not null`,
      );
      const known = new Set(rows.map(({ message_id }) => message_id));
      return slack.messages.find(({ ts, text }) => known.has(ts) && text.includes(token));
    });
  const answersOf = (token: string) =>
    telegram.messages.filter(({ text }) => text.startsWith(`Done ${token}.`));

  it(`each of ${POINTS.length * ROUNDS} is allowed once, done at most once and answered`, async (t) => {
    const tokens: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      for (const point of POINTS) {
        const token = `${point}-${round}`;
        tokens.push(token);
        telegram.files.set(token, Buffer.from(`the file of ${token}`));
        const command = `echo ${token} >> ${stand.witnessFile}${point === 'running' ? ' && sleep 3' : ''}`;
        const caption = `exec ${JSON.stringify({ command })}\nthen\nDone ${token}.`;
        const update = textUpdate('', {
          more: { caption, document: { file_id: token, file_name: `${token}.txt` } },
        });
        await hears('tg', JSON.stringify(update), { 'x-telegram-bot-api-secret-token': SECRET });
        if (point === 'accepted') await killAll();
        const question = await questionOf(token);
        if (point === 'asked') await killAll();
        const press = slackPress(question, 'Approve', 'U7');
        const form = { 'content-type': 'application/x-www-form-urlencoded', ...slackHeaders(press) };
        await hears('slack', press, form);
        if (point === 'pressed') await killAll();
        if (point === 'running') {
          await patiently('the command', async () =>
            (await stand.effects()).includes(token) ? true : undefined,
          );
          await killAll();
        }
        await patiently(`the answer of ${token}`, async () =>
          answersOf(token).length > 0 ? true : undefined,
        );
      }
    await patiently('all deliveries', async () => {
      const { rows } = await stand.pool.query(`select 1 from webhook_deliveries where status = 'pending'`);
      return rows.length === 0 ? true : undefined;
    });
    const { rows: received } = await stand.pool.query<{ text: string; files: number }>(
      `select text, jsonb_array_length(attachments) as files from messages where tenant_id = $1 and role = 'user'`,
      [tenant.id],
    );
    const { rows: approvals } = await stand.pool.query<{ status: string; decided_by: string }>(
      'select status, decided_by from approvals where tenant_id = $1',
      [tenant.id],
    );
    const effects = await stand.effects();
    assert.equal(received.length, tokens.length, 'one message each');
    assert.ok(received.every(({ files, text }) => files === 1 && text.includes('[attached: artifact:')));
    assert.deepEqual(
      approvals.map(({ status, decided_by }) => `${status} by ${decided_by}`),
      tokens.map(() => 'approved by ann'),
    );
    const failed = await stand.pool.query(`select 1 from webhook_deliveries where status = 'failed'`);
    assert.equal(failed.rowCount, 0);
    let again = 0;
    for (const token of tokens) {
      const done = effects.filter((line) => line === token).length;
      // A command whose worker dies while it runs may not have started.
      assert.ok(done <= 1 && (done === 1 || token.startsWith('pressed')), `${token} was done ${done} times`);
      const questions = slack.messages.filter(({ text }) => text.includes(token)).length;
      // Services have no keys for repeats: what one received in the instant of the kill is there twice.
      assert.ok(
        questions <= 2 && answersOf(token).length <= 2,
        `${token} was told more often than once a kill`,
      );
      again += questions - 1 + answersOf(token).length - 1;
    }
    t.diagnostic(`${tokens.length} stories, ${again} messages told twice`);
    assert.ok(again <= tokens.length, 'at most one a kill');
  });
});
