/**
 * DU-2: kill -9 of the worker at each point of a provider's job: before the order, before its answer, while it is
 * polled, while its file downloads.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createStand, type Stand } from '#test/support/faults.ts';
import { type MediaServer, startMediaServer } from '#test/support/media-server.ts';

const VIDEO = 'create_video {"prompt":"An otter","duration":4}';
const IMAGE = 'create_image {"prompt":"An otter"}';
const ORDER = 'POST /v2/video_generation';

describe('DU-2 kill -9 of the worker under a job that is paid for', { timeout: 300_000 }, () => {
  let server: MediaServer;
  let stand: Stand;
  before(async () => {
    server = await startMediaServer();
    stand = await createStand({
      workers: 1,
      workerSettings: () => server.env,
      settings: 'media: { image: [dashscope/wan2.5-t2i-preview] }',
    });
  });
  after(async () => {
    await stand?.close();
    await server?.close();
  });

  async function killedAt(session: string, text: string, beginning: string, when: 'before' | 'after') {
    const [worker] = stand.workers;
    assert.ok(worker);
    const killed = server.killAt(worker, beginning, when);
    const turn = await stand.say(stand.tenants[0], session, session, { text });
    await killed;
    return turn;
  }

  const end = (turn: string) =>
    stand.until(`the end of ${turn}`, async () => {
      const { rows } = await stand.pool.query<{
        ok: boolean;
        code: string | null;
        result: string;
        cost: string | null;
      }>(
        `select c.ok, c.code, c.result, t.cost_usd as cost from tool_calls c join turns t on t.tenant_id = c.tenant_id and t.id = c.turn_id
         where t.id = $1 and t.ended_at is not null`,
        [turn],
      );
      return rows[0];
    });

  it('before the order is taken: it is told as unknown, and not sent again', async () => {
    const taken = server.jobs.size;
    const { code, result } = await end(await killedAt('before', VIDEO, ORDER, 'before'));
    assert.equal(code, 'OutcomeUnknown', result);
    // An order in transit arrives all the same.
    assert.ok(server.jobs.size <= taken + 1);
    assert.equal(server.lines(ORDER).length, 1);
  });

  it('between the order and its answer: a task of DashScope is found in its list, and followed', async () => {
    const turn = await killedAt('between', IMAGE, 'POST /api/v1/services', 'after');
    server.finish();
    const { ok, result } = await end(turn);
    assert.equal(ok, true, result);
    assert.equal(server.lines('POST /api/v1/services').length, 1);
  });

  it('while it is looked at: another worker looks at the same job', async () => {
    const before = server.lines(ORDER).length;
    const turn = await killedAt('looks', VIDEO, 'GET /v2/query', 'before');
    const { ok, result } = await end(turn);
    assert.equal(ok, true, result);
    assert.equal(server.lines(ORDER).length, before + 1);
  });

  it('while its file comes: it is fetched again, and ordered once', async () => {
    const before = server.lines(ORDER).length;
    const turn = await killedAt('fetches', VIDEO, 'GET /files/', 'before');
    const { ok, result, cost } = await end(turn);
    assert.equal(ok, true, result);
    assert.equal(Number(cost), 0.32);
    assert.match(result, /^Made by minimax\/MiniMax-H3: generated\//);
    assert.equal(server.lines(ORDER).length, before + 1);
  });
});
