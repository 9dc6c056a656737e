import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { startServer } from '#test/activities/model/provider-server.ts';
import { type Chat, startTelegramChat } from '#test/support/telegram-chat.ts';
import { refusal, textUpdate } from '#test/support/telegram-server.ts';

interface Writer extends Chat {
  /** Starts the turn, and resolves when its model is called for the nth time. */
  asked(nth: number): Promise<void>;
  /**
   * Words are sent once they are complete. A piece that must be seen ends in a mark and a blank, because a letter may
   * begin one of the secrets that this run generates.
   */
  write(text: string): void;
  /** Ends the answer: with a tool call, or as the last one. */
  end(call?: string): void;
  /** What the chat shows when everything is sent. */
  told(): Promise<readonly string[]>;
  edits(): readonly string[];
}

const DONE = 'data: [DONE]\n\n';

/** A chat whose model writes what the test says, when it says so. */
async function startWriter(t: TestContext, settings: object = { stream: true }): Promise<Writer> {
  // Answers by step: a repeated attempt gets what the previous one got.
  const answers: { readonly chunks: string[]; readonly open: ServerResponse[] }[] = [];
  const model = await startServer(({ body }, response) => {
    const lines = (body['messages'] as readonly { readonly role: string }[]).map(({ role }) => role);
    const answer = (answers[lines.filter((role) => role === 'assistant').length] ??= {
      chunks: [],
      open: [],
    });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of answer.chunks) response.write(chunk);
    if (answer.chunks.at(-1) === DONE) response.end();
    answer.open.push(response);
  });
  t.after(() => model.close());
  const chat = await startTelegramChat(
    t,
    settings,
    [{ key: 'writer', model: 'chat/writer' }],
    `models: { providers: { chat: { type: openai, api: chat, apiKey: planted, baseUrl: '${model.url}/v1' } } }`,
  );
  const { status } = await chat.ask('PATCH', '/v1/channels/tg', { body: { agent: 'writer' } });
  assert.equal(status, 200);
  await chat.pair('42', 'ann');
  const send = (delta: object, end: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: end }];
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
    tell(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const tell = (chunk: string): void => {
    const answer = answers.at(-1);
    answer?.chunks.push(chunk);
    for (const response of answer?.open ?? []) {
      response.write(chunk);
      if (chunk === DONE) response.end();
    }
  };
  return {
    ...chat,
    async asked(nth) {
      if (nth === 1) assert.equal((await chat.hears(textUpdate('Write.'))).status, 200);
      await chat.worker.until('the model being asked', async () =>
        answers.length >= nth ? true : undefined,
      );
    },
    write: (content) => send({ role: 'assistant', content }),
    end(name) {
      const called = { index: 0, id: 'call_1', type: 'function', function: { name, arguments: '{}' } };
      if (name !== undefined) send({ tool_calls: [called] });
      send({}, name === undefined ? 'stop' : 'tool_calls');
      tell(DONE);
    },
    async told() {
      await chat.worker.until('the end of all deliveries', async () => {
        const { rows } = await chat.pool.query(
          `select (select count(*) from webhook_deliveries where status = 'pending')
             + (select count(*) from turns where ended_at is null) as open, (select count(*) from turns) as turns`,
        );
        return rows[0].open === '0' && rows[0].turns !== '0' ? true : undefined;
      });
      return chat.telegram.messages.map(({ text }) => text);
    },
    edits: () =>
      chat.telegram.calls.filter(({ method }) => method === 'editMessageText').map(({ body }) => body.text),
  };
}

describe('IN-4 an answer that is seen while it is written', () => {
  it('grows in one message, and takes its place when it is whole; what is too long for one follows', async (t) => {
    const chat = await startWriter(t);
    await chat.asked(1);
    chat.write('The first words, ');
    const { id } = await chat.shows('the first words', ({ text }) => text === 'The first words,');
    chat.write('and the next, ');
    await chat.shows('the next', ({ text }) => text === 'The first words, and the next,');
    const rest = `one.\n\n${'a'.repeat(3_000)}\n\n${'b'.repeat(3_000)}`;
    chat.write(rest);
    chat.end();
    const messages = await chat.told();
    assert.deepEqual(messages, [
      `The first words, and the next, one.\n\n${'a'.repeat(3_000)}`,
      'b'.repeat(3_000),
    ]);
    assert.equal(chat.telegram.messages[0]?.id, id);
  });

  it('does so again after the tools of a step', async (t) => {
    const chat = await startWriter(t);
    await chat.asked(1);
    chat.write('I look.');
    chat.end('datetime');
    await chat.asked(2);
    chat.write('It is: ');
    await chat.shows('what is begun', ({ text }) => text === 'It is:');
    chat.write('noon.');
    chat.end();
    assert.deepEqual(await chat.told(), ['I look.', 'It is: noon.']);
  });

  it('is posted anew where the service changes no messages', async (t) => {
    const chat = await startWriter(t);
    chat.telegram.answer = ({ method }) =>
      method === 'editMessageText' ? refusal(400, "Bad Request: message can't be edited") : undefined;
    await chat.asked(1);
    chat.write('Half, ');
    await chat.shows('the half', ({ text }) => text === 'Half,');
    chat.write('and half. ');
    await chat.worker.until('a refusal', async () => (chat.edits().length > 0 ? true : undefined));
    chat.end();
    assert.deepEqual(await chat.told(), ['Half,', 'Half, and half.']);
  });

  it('grows no more once the service has asked for patience, and is told when that is over', async (t) => {
    const chat = await startWriter(t);
    let refused = 0;
    chat.telegram.answer = ({ method }) => {
      if (method !== 'editMessageText' || refused > 0) return undefined;
      refused += 1;
      return refusal(429, 'Too Many Requests: retry after 1', { retry_after: 1 });
    };
    await chat.asked(1);
    chat.write('Half, ');
    await chat.shows('the half', ({ text }) => text === 'Half,');
    chat.write('and half. ');
    await chat.worker.until('the refusal', async () => (refused > 0 ? true : undefined));
    chat.write('That is all.');
    chat.end();
    assert.deepEqual(await chat.told(), ['Half, and half. That is all.']);
    assert.equal(chat.edits().length, 2, 'the refused one, and the whole answer');
  });

  it('harms nothing when its first message is lost on the way', async (t) => {
    const chat = await startWriter(t);
    let lost = 0;
    chat.telegram.loses = ({ method }) => method === 'sendMessage' && (lost += 1) === 1;
    await chat.asked(1);
    chat.write('Half, ');
    await chat.worker.until('the loss', async () => (lost > 0 ? true : undefined));
    chat.write('and half. ');
    chat.end();
    assert.deepEqual(await chat.told(), ['Half,', 'Half, and half.']);
  });

  it('is not seen when it says nothing, nor in a channel that does not ask for it', async (t) => {
    const silent = await startWriter(t);
    await silent.asked(1);
    silent.write('NO_');
    silent.write('REPLY');
    silent.end();
    assert.deepEqual(await silent.told(), []);
    const plain = await startWriter(t, {});
    await plain.asked(1);
    plain.write('Half, ');
    plain.write('and half. ');
    plain.end();
    assert.deepEqual(await plain.told(), ['Half, and half.']);
    assert.deepEqual(plain.edits(), []);
  });
});
