/**
 * MO-1: images of results are stored once, shown to models with vision over the providers' own protocols, and served.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { z } from 'zod';
import { defineTool } from '#policy/define-tool.ts';
import { startProvider } from '#test/activities/model/provider-server.ts';
import { historyText } from '#test/support/histories.ts';
import { pngOf } from '#test/support/image-bytes.ts';
import { workflowIdOf } from '#test/support/live-worker.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

/** Returns as many as requested; each has its own width. */
const paint = defineTool<{ width: number; count: number; comment?: string | undefined }>({
  name: 'paint',
  description: 'Test tool paint.',
  group: 'other',
  replay: 'readonly',
  input: z.object({
    width: z.number().describe('Pixels'),
    count: z.number().describe('How many'),
    comment: z.string().optional().describe('A word'),
  }),
  limits: { duration: 'short', instant: true, timeoutSeconds: 10 },
  summary: () => 'paint',
  run: async (_deps, { width, count, comment }) => ({
    ok: true,
    text: 'painted',
    images: Array.from({ length: count }, (_, index) => pngOf(width, index + 1, comment)),
  }),
});

const SECRET = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz';
const of = (width: number, height: number): string => pngOf(width, height).toString('base64');

/** Where each protocol has an image: with its result, or in the next message of the user. */
const PLACES: Readonly<Record<string, (data: string) => unknown>> = {
  anthropic: (data) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }),
  openai: (data) => ({ type: 'input_image', image_url: `data:image/png;base64,${data}` }),
  chat: (data) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }),
  local: (data) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }),
  google: (data) => ({ inlineData: { mimeType: 'image/png', data } }),
};
const MODELS: Readonly<Record<string, string>> = {
  anthropic: 'anthropic/claude-sonnet-4-6',
  openai: 'openai/gpt-4.1-mini',
  chat: 'chat/gpt-4.1-mini',
  local: 'local/my-model',
  google: 'google/gemini-2.5-flash',
  blind: 'local/another',
};

describe('TL images in results', () => {
  let provider: Awaited<ReturnType<typeof startProvider>>;
  let stack: Stack;
  before(async () => {
    provider = await startProvider();
    const args = (width: number, count: number, comment?: string): string =>
      JSON.stringify({ width, count, comment });
    const plan: Readonly<Record<string, readonly string[]>> = {
      'paint one': [args(31, 1)],
      'paint many': [args(32, 3), args(33, 6), args(34, 1)],
      'paint bad': [args(9000, 1), args(35, 1, SECRET)],
    };
    for (const [text, all] of Object.entries(plan)) {
      const at = (turnIndex: number) => ({
        // Any message matches, because the images of a result may be in the user's last one.
        predicate: ({ messages }: { messages: unknown }) => JSON.stringify(messages).includes(text),
        turnIndex,
      });
      for (const [turn, args] of all.entries())
        provider.mock.on(at(turn), { content: 'So.', toolCalls: [{ name: 'paint', arguments: args }] });
      provider.mock.on(at(all.length), { content: 'Seen.' });
    }
    const at = `apiKey: k, baseUrl: '${provider.url}'`;
    stack = await startStack({
      tools: [paint],
      settings: `
models:
  images: { local/my-model: true }
  providers:
    anthropic: { ${at} }
    openai: { ${at}, api: responses }
    chat: { type: openai, ${at}, api: chat }
    local: { type: openai-compatible, ${at} }
    google: { ${at} }
`,
      agents: Object.entries(MODELS).map(([key, model]) => ({ key, model })),
    });
  });
  after(async () => {
    await stack?.stop();
    await provider?.close();
  });

  async function run(session: string, text: string, agent: string): Promise<string> {
    const { turn_id } = await stack.worker.say(session, text, { agent });
    assert.equal((await stack.worker.ended(turn_id)).text, 'Seen.');
    return turn_id;
  }

  /** All objects of the newest request, as they were on the wire. */
  function wire(): string {
    return JSON.stringify(provider.seen.at(-1)?.body);
  }

  for (const [agent, part] of Object.entries(PLACES))
    it(`${MODELS[agent]} is shown the image of a result, in the words of its protocol`, async () => {
      await run(`one-${agent}`, 'paint one', agent);
      const sent = wire();
      assert.ok(sent.includes(JSON.stringify(part(of(31, 1)))), sent.slice(0, 3000));
      assert.match(
        sent,
        /painted\\n\[image: image\/png, 31x1 pixels, \/v1\/tool-calls\/call_\S+\/images\/1\]/,
      );
      assert.doesNotMatch(sent, /\[Not shown/);
    });

  it('a model that takes none is told that there is one', async () => {
    await run('blind', 'paint one', 'blind');
    assert.ok(!wire().includes(of(31, 1)));
    assert.match(wire(), /31x1 pixels, [^\]]+\]\\n\[Not shown: newer images are, or this model takes none\]/);
  });

  it('the newest four are shown, of a result all or none, and a result has no more', async () => {
    await run('many', 'paint many', 'anthropic');
    const shown = (width: number, height: number): boolean => wire().includes(of(width, height));
    assert.deepEqual([shown(34, 1), shown(33, 1), shown(32, 1)], [true, false, false]);
    assert.match(wire(), /33x4 pixels[^\]]+\]\\n\[2 more images are left out\]/);
  });

  it('SC-2 one that is too large, or has a secret in its bytes, is left out and told so', async () => {
    await run('bad', 'paint bad', 'anthropic');
    assert.match(wire(), /\[an image is left out: it has 9000x1 pixels/);
    assert.match(wire(), /\[an image is left out: its bytes hold a secret\]/);
    const { rows } = await stack.pool.query<{ found: number }>(
      `select count(*)::int as found from files where position('${SECRET}'::bytea in bytes) > 0`,
    );
    assert.equal(rows[0]?.found, 0);
  });

  it('its bytes are kept once, are in no history and no result, and are served as what they are', async () => {
    const turn = await run('again', 'paint one', 'openai');
    const { rows } = await stack.pool.query<{ found: number }>(
      'select count(*)::int as found from files where bytes = $1',
      [pngOf(31, 1)],
    );
    assert.equal(rows[0]?.found, 1);
    const { worker } = stack;
    const id = workflowIdOf(worker, 'again');
    // The turn's row ends before its last workflow task does.
    await worker.client.workflow.getHandle(id).result();
    const history = await historyText(worker.client, id);
    assert.match(history, /painted/);
    assert.ok(!history.includes(of(31, 1)));
    const { body } = await stack.ask('GET', `/v1/turns/${turn}/tool-calls`);
    const [call] = body.data as { id: string; text: string; images: Record<string, unknown>[] }[];
    const url = `/v1/tool-calls/${call?.id}/images/1`;
    assert.deepEqual(call?.images, [
      { type: 'image/png', width: 31, height: 1, size: pngOf(31, 1).length, url },
    ]);
    const ask = (path: string, key = stack.key) =>
      fetch(stack.url + path, { headers: { authorization: `Bearer ${key}` } });
    const served = await ask(url);
    assert.deepEqual(Buffer.from(await served.arrayBuffer()), pngOf(31, 1));
    assert.deepEqual(
      ['content-type', 'x-content-type-options'].map((name) => served.headers.get(name)),
      ['image/png', 'nosniff'],
    );
    assert.equal((await ask(`/v1/tool-calls/${call?.id}/images/2`)).status, 404);
    assert.equal((await ask(url, (await stack.makeTenant()).key)).status, 404);
  });

  it('a session that is forgotten takes its images along, but for those that another has', async () => {
    const kept = async (width: number, height: number): Promise<number | null> =>
      (await stack.pool.query('select from files where bytes = $1', [pngOf(width, height)])).rowCount;
    await run('first', 'paint many', 'openai');
    await run('second', 'paint one', 'openai');
    for (const session of ['first', 'many']) {
      const { body } = await stack.ask('DELETE', `/v1/sessions/${session}`);
      await stack.worker.until('the receipt', async () => {
        const receipt = await stack.ask('GET', `/v1/forgettings/${body.id}`);
        return receipt.body.status === 'done' ? true : undefined;
      });
      assert.equal(await kept(34, 1), session === 'first' ? 1 : 0);
    }
    assert.equal(await kept(31, 1), 1);
  });
});
