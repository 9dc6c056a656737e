/** IN-3, IN-11: files that the official clients of protocols send with a message become its attachments. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HttpAgent } from '@ag-ui/client';
import { type Message, Role } from '@a2a-js/sdk';
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { Client } from '@langchain/langgraph-sdk';
import { DefaultChatTransport, type UIMessage } from 'ai';
import OpenAI from 'openai';
import { type Stack, startStack } from '#test/support/stack.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PNG_URL = `data:image/png;base64,${PNG}`;
const TEXT_URL = `data:text/plain;base64,${Buffer.from('Seals, in full.').toString('base64')}`;

describe('IN-11 files in protocols', { concurrency: 4 }, () => {
  let stack: Stack;
  let openai: OpenAI;
  before(async () => {
    stack = await startStack();
    openai = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: stack.key, maxRetries: 0 });
  });
  after(() => stack.stop());

  const bearer = () => ({ authorization: `Bearer ${stack.key}` });

  /** Types and names of the files of the message with these words, whose text names each. */
  async function filesOf(words: string): Promise<readonly (readonly [string, string | null])[]> {
    const { rows } = await stack.pool.query<{ text: string; attachments: any[] | null }>(
      `select text, attachments from messages where tenant_id = $1 and role = 'user' and text like $2`,
      [stack.worker.tenant, `%${words}%`],
    );
    assert.equal(rows.length, 1, words);
    const { text = '', attachments } = rows[0] ?? {};
    for (const { artifact } of attachments ?? []) assert.ok(text.includes(`[attached: artifact:${artifact}`));
    return (attachments ?? []).map(({ type, name }) => [type, name] as const);
  }

  const chat = (content: unknown[]) =>
    openai.chat.completions.create({
      model: 'main',
      messages: [{ role: 'user', content }] as OpenAI.ChatCompletionMessageParam[],
    });

  it('come through chat completions: a picture, files, and an artifact by its id', async () => {
    const { body } = await stack.ask('POST', '/v1/artifacts?filename=kept.txt', { body: 'Kept.' as never });
    assert.match(body.id, /^art_/);
    await chat([
      { type: 'text', text: 'Four by chat.' },
      { type: 'image_url', image_url: { url: PNG_URL } },
      { type: 'file', file: { file_data: TEXT_URL, filename: 'seals.txt' } },
      { type: 'file', file: { file_id: body.id } },
      { type: 'file', file: { file_data: Buffer.from('a,b').toString('base64'), filename: 'a.csv' } },
    ]);
    const files = await filesOf('Four by chat.');
    assert.deepEqual(files.slice(0, 2), [
      ['image/png', null],
      ['text/plain', 'seals.txt'],
    ]);
    assert.deepEqual([files[2]?.[1], files[3]?.[1]], ['kept.txt', 'a.csv']);
  });

  it('come through responses, and belong to the conversation that is sent again', async () => {
    const first = {
      role: 'user' as const,
      content: [
        { type: 'input_text' as const, text: 'One by responses.' },
        { type: 'input_image' as const, image_url: PNG_URL, detail: 'auto' as const },
        { type: 'input_file' as const, file_data: TEXT_URL, filename: 'seals.txt' },
      ],
    };
    const { output_text: answer } = await openai.responses.create({ model: 'main', input: [first] });
    assert.deepEqual(await filesOf('One by responses.'), [
      ['image/png', null],
      ['text/plain', 'seals.txt'],
    ]);
    const more = { role: 'user' as const, content: 'Two by responses.' };
    const said = { role: 'assistant' as const, content: answer };
    await openai.responses.create({ model: 'main', input: [first, said, more] });
    const { rows } = await stack.pool.query(
      `select distinct session_key from messages where tenant_id = $1 and text like '%by responses.%'`,
      [stack.worker.tenant],
    );
    assert.equal(rows.length, 1);
  });

  it('are named when a new session begins with what was said before', async () => {
    const image = { type: 'image_url' as const, image_url: { url: PNG_URL } };
    await openai.chat.completions.create({
      model: 'main',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Earlier.' }, image] },
        { role: 'assistant', content: 'An answer from elsewhere.' },
        { role: 'user', content: 'And now by chat.' },
      ],
    });
    const { rows } = await stack.pool.query<{ text: string }>(
      `select text from messages where tenant_id = $1 and role = 'user' and text like '%And now by chat.%'`,
      [stack.worker.tenant],
    );
    assert.match(rows[0]?.text ?? '', /Earlier\.\n\[file\]/);
  });

  it('come through the chats of the AI SDK, without a word beside them', async () => {
    const transport = new DefaultChatTransport<UIMessage>({
      api: `${stack.url}/v1/ui/main`,
      headers: bearer(),
    });
    const file = { type: 'file', mediaType: 'image/png', filename: 'by-chat.png', url: PNG_URL } as const;
    const stream = await transport.sendMessages({
      chatId: 'files',
      messages: [{ id: 'u1', role: 'user', parts: [file] }],
      trigger: 'submit-message',
      messageId: undefined,
      abortSignal: undefined,
    });
    for await (const _ of stream);
    assert.deepEqual(await filesOf('by-chat.png'), [['image/png', 'by-chat.png']]);
  });

  it('come through AG-UI', async () => {
    const client = new HttpAgent({
      url: `${stack.url}/v1/ag-ui/main`,
      threadId: 'ag-files',
      headers: bearer(),
    });
    client.addMessage({
      id: 'u1',
      role: 'user',
      content: [
        { type: 'text', text: 'Seen by AG-UI.' },
        { type: 'image', source: { type: 'data', value: PNG, mimeType: 'image/png' } },
      ],
    });
    await client.runAgent({});
    assert.deepEqual(await filesOf('Seen by AG-UI.'), [['image/png', null]]);
    const image = { type: 'image', source: { type: 'data', value: PNG, mimeType: 'image/png' } };
    const result = { id: 't1', role: 'tool', toolCallId: 'apr_1', content: [image] };
    const body = { threadId: 'ag-files', runId: 'r9', tools: [], context: [], messages: [result] };
    const refused = await stack.ask('POST', '/v1/ag-ui/main', { body });
    assert.match(JSON.stringify(refused.body), /not the result of a tool/);
  });

  it('come through LangGraph, in both of its forms', async () => {
    const client = new Client<any>({
      apiUrl: `${stack.url}/v1/langgraph`,
      apiKey: null,
      defaultHeaders: bearer(),
      callerOptions: { maxRetries: 0 },
    });
    const content = [
      { type: 'text', text: 'Seen by LangGraph.' },
      { type: 'image_url', image_url: { url: PNG_URL } },
      {
        type: 'file',
        source_type: 'base64',
        mime_type: 'text/plain',
        data: Buffer.from('Some.').toString('base64'),
        metadata: { filename: 'some.txt' },
      },
    ];
    await client.runs.wait('lg-files', 'main', { input: { messages: [{ role: 'user', content }] } });
    assert.deepEqual(await filesOf('Seen by LangGraph.'), [
      ['image/png', null],
      ['text/plain', 'some.txt'],
    ]);
  });

  for (const [binding, Transport] of [
    ['JSON-RPC', JsonRpcTransportFactory],
    ['HTTP+JSON', RestTransportFactory],
  ] as const)
    it(`come through A2A over ${binding}`, async () => {
      const authorized: typeof fetch = (url, init) =>
        fetch(url, { ...init, headers: { ...init?.headers, ...bearer() } });
      const client = await new ClientFactory({
        transports: [new Transport({ fetchImpl: authorized })],
      }).createFromUrl(`${stack.url}/v1/a2a/main/.well-known/agent-card.json`, '');
      const part = { metadata: undefined, filename: '', mediaType: '' };
      const message = {
        messageId: `m-${binding}`,
        contextId: '',
        taskId: '',
        role: Role.ROLE_USER,
        parts: [
          { ...part, content: { $case: 'text', value: `Seen by ${binding}.` } },
          {
            ...part,
            content: { $case: 'raw', value: Buffer.from(PNG, 'base64') },
            filename: 'a.png',
            mediaType: 'image/png',
          },
        ] as Message['parts'],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      };
      await client.sendMessage({ tenant: '', message, configuration: undefined, metadata: undefined });
      assert.deepEqual(await filesOf(`Seen by ${binding}.`), [['image/png', 'a.png']]);
    });

  it('may be larger than other requests, and are refused with the reason', async () => {
    const large = `data:text/plain;base64,${Buffer.alloc(2_000_000, 'a').toString('base64')}`;
    await chat([
      { type: 'text', text: 'A large one.' },
      { type: 'file', file: { file_data: large, filename: 'large.txt' } },
    ]);
    assert.deepEqual(await filesOf('A large one.'), [['text/plain', 'large.txt']]);
    const file = { type: 'file', file: { file_data: TEXT_URL } };
    // It is not even JSON, so that it is refused before it is read.
    const many = await fetch(`${stack.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...bearer(), 'content-type': 'application/json' },
      body: `{"model":"main","messages":[${'[],'.repeat(400_000)}`,
    });
    assert.equal(many.status, 400);
    assert.match(await many.text(), /more than 100000 values/);
    for (const [content, words] of [
      [[{ type: 'image_url', image_url: { url: 'http://169.254.169.254/x' } }], /other addresses/],
      [[{ type: 'file', file: { file_data: 'data:text/plain;base64,&&&&' } }], /not base64/],
      [[{ type: 'file', file: { file_id: `art_${'0'.repeat(32)}` } }], /There is no artifact/],
      [[{ type: 'file', file: { file_data: 'data:image/png;base64,AAAA' } }], /not what its content type/],
      [Array.from({ length: 11 }, () => file), /10 files, not 11/],
      [[{ type: 'video_url', video_url: PNG_URL }], /no such part/],
    ] as const)
      await assert.rejects(chat([...content]), words);
  });
});
