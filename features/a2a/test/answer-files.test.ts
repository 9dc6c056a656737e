/** Files of answers, read by the SDK's own client over both bindings. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Message, type Part, Role, type StreamResponse, type Task } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { type Stack, startStack } from '#test/support/stack.ts';

/** Larger than what an answer has as bytes. */
const LARGE = Buffer.alloc(300_000, 'seal ');

describe('IN-11 files of answers to other agents', { timeout: 100_000 }, () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack?.stop());

  const authorized = (key: string): typeof fetch => {
    const headers = { authorization: `Bearer ${key}` };
    return (url, init) => fetch(url, { ...init, headers: { ...init?.headers, ...headers } });
  };
  async function keep(bytes: Buffer, filename: string, user = ''): Promise<string> {
    const response = await authorized(stack.key)(
      `${stack.url}/v1/artifacts?filename=${filename}${user && `&user=${user}`}`,
      { method: 'POST', body: new Uint8Array(bytes), headers: { 'content-type': 'text/plain' } },
    );
    return ((await response.json()) as { id: string }).id;
  }
  let made = 0;
  function say(...parts: readonly Partial<Part>[]) {
    made += 1;
    const message: Message = {
      messageId: `files-${made}`,
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: parts.map((one) => ({
        content: undefined,
        metadata: undefined,
        filename: '',
        mediaType: '',
        ...one,
      })),
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
    return { tenant: '', metadata: undefined, configuration: undefined, message };
  }
  const text = (value: string): Partial<Part> => ({ content: { $case: 'text', value } });
  const partsOf = ({ artifacts }: Pick<Task, 'artifacts'>): Part[] => artifacts.flatMap(({ parts }) => parts);
  const bytesOf = ({ content }: Part): string =>
    content?.$case === 'raw' ? content.value.toString() : (content?.$case ?? '');

  /** The end of the answer. A turn that has ended before its stream begins is whole in the first item. */
  function streamedTask([begin, ...items]: readonly StreamResponse[]) {
    assert.ok(begin?.payload?.$case === 'task');
    const { id } = begin.payload.value;
    const last = items.findLast(({ payload }) => payload?.$case === 'artifactUpdate')?.payload;
    if (last?.$case !== 'artifactUpdate') return { id, parts: partsOf(begin.payload.value) };
    assert.ok(last.value.lastChunk && last.value.artifact);
    return { id, parts: last.value.artifact.parts };
  }

  for (const [binding, Transport] of [
    ['JSONRPC', JsonRpcTransportFactory],
    ['HTTP+JSON', RestTransportFactory],
  ] as const) {
    const connect = (key = stack.key): Promise<Client> =>
      new ClientFactory({
        transports: [new Transport({ fetchImpl: authorized(key) })],
        preferredTransports: [binding],
      }).createFromUrl(`${stack.url}/v1/a2a/main/`);

    it(`are parts of its artifact, in the stream and afterwards, over ${binding}`, async () => {
      const client = await connect();
      const [small, large] = [await keep(Buffer.from('Seals.'), 'seals.txt'), await keep(LARGE, 'large.txt')];
      const words = `The [seals](artifact:${small}) and [more](artifact:${large}).`;
      const items: StreamResponse[] = [];
      for await (const item of client.sendMessageStream(say(text(words)))) items.push(item);
      const { id, parts: streamed } = streamedTask(items);
      const task = await client.getTask({ tenant: '', id });
      for (const parts of [streamed, partsOf(task)]) {
        assert.deepEqual(
          parts.map(({ filename, mediaType }) => [filename, mediaType]),
          [
            ['', 'text/plain'],
            ['seals.txt', 'text/plain'],
            ['large.txt', 'text/plain'],
          ],
        );
        const [answer, first, second] = parts;
        assert.deepEqual(answer?.content, { $case: 'text', value: words });
        assert.equal(first && bytesOf(first), 'Seals.');
        assert.deepEqual(first?.metadata, { artifact: `artifact:${small}`, bytes: 6 });
        assert.ok(second?.content?.$case === 'url');
        const response = await authorized(stack.key)(second.content.value);
        assert.deepEqual(Buffer.from(await response.arrayBuffer()), LARGE);
      }
      const { tasks } = await client.listTasks({
        tenant: '',
        contextId: task.contextId,
        status: 0,
        pageToken: '',
        statusTimestampAfter: undefined,
        includeArtifacts: true,
      });
      assert.equal(tasks.flatMap(partsOf).length, 3);
    });

    it(`are sent back by the address that they had, over ${binding}`, async () => {
      const client = await connect();
      const value = `${stack.url}/v1/artifacts/${await keep(LARGE, 'large.txt')}`;
      const task = await client.sendMessage(say(text('Again.'), { content: { $case: 'url', value } }));
      assert.ok('artifacts' in task);
      assert.match(String(partsOf(task)[0]?.content?.value), /Again\.\n\[attached: artifact:.*large\.txt/);
    });

    it(`are only those that the user may read, over ${binding}`, async () => {
      const [hers, his] = [
        await keep(Buffer.from('Hers.'), 'hers.txt', 'ann'),
        await keep(Buffer.from('His.'), 'his.txt', 'bob'),
      ];
      const client = await connect(await stack.makeKey(['read', 'run'], { user: 'ann' }));
      const words = `[a](artifact:${hers}) [b](artifact:${his}) [c](artifact:art_${'0'.repeat(32)})`;
      const task = await client.sendMessage(say(text(words)));
      assert.ok('artifacts' in task);
      assert.deepEqual(partsOf(task).slice(1).map(bytesOf), ['Hers.']);
      // A key that reaches all conversations sees what the user of the turn may read.
      const shown = await (await connect()).getTask({ tenant: '', id: task.id });
      assert.deepEqual(partsOf(shown).slice(1).map(bytesOf), ['Hers.']);
    });

    it(`are bytes only as far as a response may have them, over ${binding}`, async () => {
      const ids: string[] = [];
      for (let at = 0; at < 6; at += 1) ids.push(await keep(Buffer.alloc(250_000, `${at}`), `${at}.txt`));
      const client = await connect();
      const task = await client.sendMessage(
        say(text(ids.map((id, at) => `[${at}](artifact:${id})`).join(' '))),
      );
      assert.ok('artifacts' in task);
      const kinds = partsOf(task).map(({ content }) => content?.$case);
      assert.deepEqual(kinds, ['text', 'raw', 'raw', 'raw', 'raw', 'url', 'url']);
    });
  }
});
