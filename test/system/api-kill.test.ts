/**
 * F6: kill -9 of the API under readers and writers. Readers continue with no gap and no duplicate; a repeated POST is
 * one message.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { openSse, type SseEvent } from '#test/support/sse.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
const SESSIONS = 4;
const READERS = 5;
const WRITERS = 10;

describe('F6 kill -9 of the API', { timeout: 900_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  const readers: { readonly ids: number[]; reconnects: number }[] = [];
  before(async () => {
    stand = await createStand({ workers: 1 });
  });
  after(() => stand?.close());

  async function say(token: string, text: string, n: number): Promise<Accepted> {
    const tenant = stand.tenants[n % 2] as Tenant;
    const id = `${tenant.id}-${token}`;
    const turn = await stand.say(tenant, id, id, { text: text.replaceAll('TOKEN', id) });
    const message = { tenant, session: id, turn, token: id };
    accepted.push(message);
    return message;
  }

  /** Reads to the turn's end, and reconnects from the last id that it saw. */
  async function read({ tenant, session, turn }: Accepted): Promise<void> {
    const seen = { ids: [] as number[], reconnects: 0 };
    readers.push(seen);
    const isLast = (event: SseEvent): boolean => {
      seen.ids.push(event.id);
      return event.event === 'turn.completed' && event.data.turn_id === turn;
    };
    for (;;) {
      try {
        const stream = await openSse(`${stand.apiUrl}/v1/sessions/${session}/events`, {
          authorization: `Bearer ${tenant.key}`,
          'last-event-id': String(seen.ids.at(-1) ?? 0),
        });
        const events = await stream.until(isLast);
        stream.close();
        const last = events.at(-1);
        if (last?.event === 'turn.completed') return;
      } catch {
        // It was refused or cut off, so this starts again from the last id.
      }
      seen.reconnects += 1;
      await sleep(100);
    }
  }

  async function oneRound(round: number): Promise<void> {
    const steps = Array.from({ length: 15 }, (_, n) => `exec {"command":"sleep 0.1; echo step ${n}"}`);
    const script = [...steps, 'Said TOKEN.'].join('\nthen\n');
    const running: Accepted[] = [];
    for (let n = 0; n < SESSIONS; n += 1) running.push(await say(`read-${round}-${n}`, script, n));
    const reading = running.flatMap((message) => Array.from({ length: READERS }, () => read(message)));
    await sleep(chance.between(200, 1_500));
    const writing = Array.from({ length: WRITERS }, (_, n) => say(`write-${round}-${n}`, 'Said TOKEN.', n));
    await sleep(chance.between(0, 60));
    await stand.api.kill();
    await sleep(chance.between(0, 500));
    await stand.api.start();
    await Promise.all(reading);
    await untilAllEnded(stand, [...running, ...(await Promise.all(writing))]);
  }

  it(`kills under ${SESSIONS * READERS} readers and ${WRITERS} writers, ${ROUNDS} rounds`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    for (let round = 0; round < ROUNDS; round += 1) await oneRound(round);
    for (const [what, n] of [
      ['readers', readers.length],
      ['messages', accepted.length],
    ] as const)
      t.diagnostic(`${what}: n = ${n}, 0 failures bound the rate at 3/n = ${(3 / n).toFixed(2)}`);
  });

  it('readers that go on from Last-Event-ID miss nothing and read nothing twice', () => {
    assert.equal(readers.length, ROUNDS * SESSIONS * READERS);
    for (const { ids } of readers)
      assert.deepEqual(
        ids,
        ids.map((_, index) => index + 1),
      );
    assert.ok(
      readers.filter(({ reconnects }) => reconnects > 0).length > readers.length / 2,
      'the kills hit the readers',
    );
  });

  it('a message that was sent again after the kill is there once', async () => {
    const { rows } = await stand.pool.query<{ said: number; turns: number }>(
      `select (select count(*)::int from messages where role = 'user') as said,
              (select count(*)::int from turns) as turns`,
    );
    assert.deepEqual(rows[0], { said: accepted.length, turns: accepted.length });
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
