/**
 * DU-2: one turn reads a scan, shows its figures on the canvas, and orders a spoken summary, a picture and a film,
 * while its worker is killed four times. All of it is there at the end, and each provider got one order.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startProvider } from '#test/activities/model/provider-server.ts';
import { scanOf } from '#test/support/documents.ts';
import { createStand, type Stand } from '#test/support/faults.ts';
import { type MediaServer, MP3, MP4, PNG, startMediaServer } from '#test/support/media-server.ts';
import { openSse } from '#test/support/sse.ts';

const ORDERS = {
  speech: 'POST /v1/audio/speech',
  picture: 'POST /api/v1/services',
  film: 'POST /v2/video_generation',
} as const;

interface Call {
  readonly tool: string;
  readonly ok: boolean;
  readonly result: string;
}

const SCRIPT = `
rules:
  - when: { step: 0, user: { regex: '(?<scan>artifact:\\S+)' } }
    reply: { calls: [{ tool: read_document, args: { media_id: '{{match.scan}}', prompt: 'What are the sales?' } }] }
  - when: { last_tool: read_document, result: { regex: 'North (?<north>\\d+), South (?<south>\\d+)' } }
    reply:
      calls:
        - tool: canvas
          args: { action: show, html: '<svg><rect id="north" height="{{match.north}}"/><rect id="south" height="{{match.south}}"/></svg>' }
        - { tool: tts, args: { text: 'North sold {{match.north}}, South {{match.south}}.', provider: openai } }
  - when: { last_tool: tts, result_ok: true }
    reply: { calls: [{ tool: create_image, args: { prompt: 'Two shops' } }] }
  - when: { last_tool: create_image, result_ok: true }
    reply: { calls: [{ tool: create_video, args: { prompt: 'Two shops, busy', duration: 4 } }] }
  - reply: { text: 'At the end: {{result}}' }
`;

describe('DU-2 a report in pictures and sound, its worker killed four times', { timeout: 300_000 }, () => {
  let media: MediaServer;
  let vision: Awaited<ReturnType<typeof startProvider>>;
  let stand: Stand;
  before(async () => {
    media = await startMediaServer();
    vision = await startProvider();
    vision.mock.on({ predicate: () => true }, { content: 'North 12, South 30' });
    stand = await createStand({
      workers: 1,
      workerSettings: () => media.env,
      scripts: { report: SCRIPT },
      agents: [
        {
          key: 'reporter',
          type: 'open',
          model: 'rehearsal/report',
          tools: { ask: [{ tool: 'create_video', reason: 'it costs' }] },
        },
      ],
      settings: `
media: { image: [dashscope/wan2.5-t2i-preview] }
models:
  vision: [anthropic/claude-sonnet-4-6]
  providers: { anthropic: { apiKey: k, baseUrl: '${vision.url}' } }
`,
    });
  });
  after(async () => {
    await stand?.close();
    await vision?.close();
    await media?.close();
  });

  const withKey = () => ({ authorization: `Bearer ${stand.tenants[0].key}` });

  async function putScan(): Promise<string> {
    const response = await fetch(`${stand.apiUrl}/v1/artifacts`, {
      method: 'POST',
      headers: { ...withKey(), 'content-type': 'application/pdf' },
      body: new Blob([new Uint8Array(scanOf(64, 48))]),
    });
    return ((await response.json()) as { id: string }).id;
  }

  const approvalOf = (turn: string) =>
    stand.until('the question', async () => {
      const { rows } = await stand.pool.query<{ id: string }>(
        `select id from approvals where turn_id = $1 and status = 'pending'`,
        [turn],
      );
      return rows[0]?.id;
    });

  const endOf = (turn: string) =>
    stand.until(`the end of ${turn}`, async () => {
      const { rows } = await stand.pool.query<{ calls: Call[] | null; error: unknown }>(
        `select error, (select json_agg(c order by step, index) from tool_calls c where c.tenant_id = t.tenant_id and c.turn_id = t.id) as calls
           from turns t where id = $1 and ended_at is not null`,
        [turn],
      );
      return rows[0];
    });

  /** A turn that ends before its worker was killed fails the test at once. */
  async function duringTurn(turn: string, killed: Promise<void>): Promise<void> {
    const early = endOf(turn).then((end) => assert.fail(`it ended early: ${JSON.stringify(end)}`));
    await Promise.race([killed, early]);
    early.catch(() => undefined);
  }

  async function madeBytes(result: string | undefined): Promise<Buffer> {
    const path = /^Made by \S+: (\S+) /.exec(result ?? '')?.[1] ?? assert.fail(result);
    const got = await fetch(`${stand.apiUrl}/v1/agents/reporter/workspace/${path}`, { headers: withKey() });
    assert.equal(got.status, 200, path);
    return Buffer.from(await got.arrayBuffer());
  }

  async function shown(): Promise<string> {
    const link = await stand.ask(stand.tenants[0], 'POST', '/v1/sessions/sales/canvas/links', { body: {} });
    const reader = await openSse(`${String(link?.body['url'])}/events`, {});
    const events = await reader.until(({ event }) => event === 'canvas');
    return JSON.stringify(events.at(-1));
  }

  it('orders each once, whatever died, and has all of it', async () => {
    const [tenant] = stand.tenants;
    const [worker] = stand.workers;
    assert.ok(worker);
    const text = `Report on artifact:${await putScan()}`;

    const ordered = media.killAt(worker, ORDERS.picture, 'after');
    const turn = await stand.say(tenant, 'sales', 'sales', { text, agent: 'reporter' });
    await duringTurn(turn, ordered);
    const [picture] = media.jobs.values();
    assert.ok(picture);
    picture.state = 'done';

    const approval = await approvalOf(turn);
    await worker.kill();
    await worker.start();

    const pending = media.killAt(worker, 'GET /v2/query', 'before');
    const body = { decision: 'approve' };
    // The decision waits until the new worker has started the approval's workflow, which the killed one may not have
    // done.
    await stand.until('the decision', async () => {
      const decided = await stand.ask(tenant, 'POST', `/v1/approvals/${approval}/decision`, { body });
      if (decided?.status === 503) return undefined;
      assert.equal(decided?.status, 200, JSON.stringify(decided?.body));
      return true;
    });
    await duringTurn(turn, pending);
    const [, film] = media.jobs.values();
    assert.ok(film);

    const fetched = media.killAt(worker, 'GET /files/video', 'before');
    film.state = 'done';
    await duringTurn(turn, fetched);

    const { calls, error } = await endOf(turn);
    assert.ok(calls, JSON.stringify(error));
    assert.deepEqual(
      calls.map(({ tool, ok }) => [tool, ok]),
      ['read_document', 'canvas', 'tts', 'create_image', 'create_video'].map((tool) => [tool, true]),
      JSON.stringify(calls),
    );
    for (const [what, order] of Object.entries(ORDERS)) assert.equal(media.lines(order).length, 1, what);
    assert.equal(media.jobs.size, 2);
    assert.match(await shown(), /north\\\\?" height=\\\\?"12.*south\\\\?" height=\\\\?"30/);
    const [, , speech, image, video] = calls;
    assert.deepEqual(await madeBytes(speech?.result), MP3);
    assert.deepEqual(await madeBytes(image?.result), PNG);
    assert.deepEqual(await madeBytes(video?.result), MP4);
    const seen = media.seen.find(({ line }) => line.startsWith(ORDERS.speech));
    assert.equal(seen?.body.input, 'North sold 12, South 30.');
    const used = await stand.ask(tenant, 'GET', '/v1/usage?by=model,kind&session=sales');
    assert.ok(used);
    const uses = (used.body.data as { kind: string; calls: number }[]).filter(({ kind }) =>
      ['media', 'reading'].includes(kind),
    );
    assert.deepEqual(
      uses.map(({ calls: times }) => times),
      [1, 1, 1, 1],
      JSON.stringify(uses),
    );
  });
});
