/** DE-2: vectors of texts by providers: the requests on the wire, their results, and invalid answers. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { createModels, type Models } from '#activities/model/model-catalog.ts';
import type { Embeddings } from '#domain/model/model.ts';
import { type SeenRequest, startServer, type TestServer } from './provider-server.ts';

const KEY = 'sk-planted-0987654321';

/** Answers by the model's name: valid ones of OpenAI's and Google's protocols, and invalid ones. */
function answer({ path, body }: SeenRequest, response: ServerResponse): void {
  const say = (status: number, message: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(message));
  };
  const openai = (
    vectors: readonly (readonly unknown[])[],
    usage: object = { usage: { prompt_tokens: 7, total_tokens: 7 } },
  ) =>
    say(200, {
      object: 'list',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: body['model'],
      ...usage,
    });
  if (path.includes('batchEmbedContents'))
    return say(200, { embeddings: [{ values: [1, 0] }, { values: [0, 1] }] });
  switch (body['model']) {
    case 'refuses':
      return say(401, {
        error: { message: `Incorrect API key provided: ${KEY}`, type: 'invalid_request_error' },
      });
    case 'uneven':
      return openai([[1, 0], [1]]);
    case 'short':
      return openai([[1, 0]]);
    case 'empty':
      return openai([[], []]);
    case 'counts-nothing':
      return openai(
        [
          [1, 0],
          [0, 1],
        ],
        {},
      );
    default:
      return openai([
        [1, 0],
        [0, 1],
      ]);
  }
}

describe('DE-2 vectors of providers', () => {
  let server: TestServer;
  let models: Models;
  before(async () => {
    server = await startServer(answer);
    const baseUrl = server.url;
    models = createModels({
      providers: {
        openai: { apiKey: KEY, baseUrl },
        local: { apiKey: KEY, baseUrl },
        google: { apiKey: KEY, baseUrl },
        anthropic: { apiKey: KEY, baseUrl },
      },
    });
  });
  after(() => server.close());

  async function embed(ref: string, signal = new AbortController().signal): Promise<Embeddings> {
    const { provider, model } = models.resolve(ref);
    assert.ok(provider.embed);
    return provider.embed({ model, texts: ['one', 'two'], signal });
  }

  for (const ref of ['openai/text-embedding-3-small', 'local/nomic-embed-text'])
    it(`${ref} is asked for all texts at once, with the key`, async () => {
      assert.deepEqual(await embed(ref), {
        vectors: [
          [1, 0],
          [0, 1],
        ],
        tokens: 7,
      });
      const { path, body, headers } = server.seen.at(-1) ?? assert.fail();
      assert.deepEqual(
        [path, body['model'], body['input']],
        ['/v1/embeddings', ref.slice(ref.indexOf('/') + 1), ['one', 'two']],
      );
      assert.equal(headers.authorization, `Bearer ${KEY}`);
    });

  it('google is asked in its own protocol, and what it does not count is estimated', async () => {
    assert.deepEqual(await embed('google/gemini-embedding-001'), {
      vectors: [
        [1, 0],
        [0, 1],
      ],
      tokens: 2,
    });
    assert.match(
      server.seen.at(-1)?.path ?? '',
      /\/v1beta\/models\/gemini-embedding-001:batchEmbedContents$/,
    );
    assert.equal((await embed('local/counts-nothing')).tokens, 2);
  });

  it('who has no such models says so by having no way to ask', () => {
    assert.equal(models.resolve('anthropic/claude-sonnet-4-6').provider.embed, undefined);
    assert.equal(models.resolve('rehearsal/follow').provider.embed, undefined);
  });

  it('vectors that cannot be compared are no answer', async () => {
    for (const name of ['uneven', 'short', 'empty'])
      await assert.rejects(embed(`local/${name}`), { name: 'ModelError', code: 'BadAnswer' }, name);
  });

  it('a refusal is told without the key', async () => {
    await assert.rejects(embed('openai/refuses'), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'Auth');
      assert.doesNotMatch(error.message, /planted/);
      return true;
    });
  });

  it('is ended by its signal with the signal’s own reason', async () => {
    const stop = new AbortController();
    stop.abort(new Error('enough'));
    await assert.rejects(embed('openai/x', stop.signal), /^Error: enough$/);
  });
});
