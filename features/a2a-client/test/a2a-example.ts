/** An agent of another system, made of the server parts of the SDK as its examples are. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentCard, type Part, Role, type Task, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server';

export interface ExampleAgent {
  readonly url: string;
  readonly place: string;
  /** Texts of messages that its agent worked at. */
  readonly heard: string[];
  readonly cancelled: string[];
  /** Cuts the connection in place of the next answer to this method. */
  cutNext(method: string): void;
  /** Knows this method no longer. */
  lose(method: string): void;
  stop(): Promise<void>;
}

/** Larger than a request may be at most. */
const LARGE = Buffer.alloc(9_000_000, 'x');

/** `ask…` asks a question, `files…` brings files, `slow…` works until it is cancelled, `chat…` answers with a message, all else is echoed. */
export async function startExampleAgent(key: string): Promise<ExampleAgent> {
  const heard: string[] = [];
  const cancelled: string[] = [];
  let cut = '';
  let lost = '';
  const parts = (text: string) => [
    {
      content: { $case: 'text' as const, value: text },
      metadata: undefined,
      filename: '',
      mediaType: 'text/plain',
    },
  ];
  const file = (content: Part['content'], filename: string, mediaType: string): Part => ({
    content,
    metadata: undefined,
    filename,
    mediaType,
  });
  const files = (): Part[] => [
    file({ $case: 'raw', value: Buffer.from('a,b\n1,2') }, 'table.csv', 'text/csv'),
    file({ $case: 'raw', value: Buffer.from('no picture') }, '../wrong".png', 'image/png'),
    file({ $case: 'url', value: `${url}/large` }, 'large.txt', 'text/plain'),
    file({ $case: 'url', value: `${url}/missing` }, 'missing.txt', 'text/plain'),
    file({ $case: 'url', value: 'https://elsewhere.invalid/x.pdf' }, 'x.pdf', 'application/pdf'),
    file({ $case: 'raw', value: Buffer.alloc(0) }, 'empty.txt', 'text/plain'),
    ...Array.from({ length: 5 }, (_, at) =>
      file({ $case: 'raw', value: Buffer.from(`${at}`) }, `${at}.txt`, 'text/plain'),
    ),
  ];
  const executor: AgentExecutor = {
    async execute({ taskId, contextId, userMessage, task: known }, bus) {
      const content = userMessage.parts[0]?.content;
      const text = content?.$case === 'text' ? content.value : '';
      heard.push(text);
      const message = {
        messageId: `${taskId}-${heard.length}`,
        contextId,
        taskId,
        role: Role.ROLE_AGENT,
        parts: parts('Which colour?'),
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      };
      if (text.startsWith('chat')) {
        bus.publish(AgentEvent.message({ ...message, taskId: '', parts: parts('Just words.') }));
        bus.finished();
        return;
      }
      const state = text.startsWith('ask')
        ? TaskState.TASK_STATE_INPUT_REQUIRED
        : text.startsWith('slow')
          ? TaskState.TASK_STATE_WORKING
          : TaskState.TASK_STATE_COMPLETED;
      const own = known ? parts(`You like ${text}.`) : parts(`Done: ${text}`);
      const answer = { artifactId: 'a', name: 'a', description: '', metadata: undefined, extensions: [] };
      const task: Task = {
        id: taskId,
        contextId,
        status: {
          state,
          message: text.startsWith('ask') ? message : undefined,
          timestamp: new Date().toISOString(),
        },
        artifacts:
          state === TaskState.TASK_STATE_COMPLETED
            ? [{ ...answer, parts: [...own, ...(text.startsWith('files') ? files() : [])] }]
            : [],
        history: [],
        metadata: undefined,
      };
      bus.publish(AgentEvent.task(task));
      if (state === TaskState.TASK_STATE_WORKING)
        await new Promise<void>((resolve) => bus.once('finished', resolve));
      else bus.finished();
    },
    async cancelTask(taskId, bus) {
      cancelled.push(taskId);
      const status = {
        state: TaskState.TASK_STATE_CANCELED,
        message: undefined,
        timestamp: new Date().toISOString(),
      };
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId: '', status, metadata: undefined }));
      bus.finished();
    },
  };
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      response.setHeader('content-type', 'application/json');
      if (request.headers.authorization !== `Bearer ${key}`) {
        response.writeHead(401).end('{}');
        return;
      }
      if (request.url === '/large') {
        response.end(LARGE);
        return;
      }
      if (request.url === '/missing') {
        response.writeHead(404).end('{}');
        return;
      }
      if (request.url?.endsWith('agent-card.json')) {
        response.end(JSON.stringify(AgentCard.toJSON(card)));
        return;
      }
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { method: string };
      const context = new ServerCallContext({ requestedVersion: '1.0' });
      const answer = await rpc.handle(lost === body.method ? { ...body, method: 'Unknown' } : body, context);
      if (cut === body.method) {
        cut = '';
        request.socket.destroy();
        return;
      }
      response.end(JSON.stringify(answer));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `http://${place}`;
  const card = AgentCard.fromJSON({
    name: 'example',
    description: 'An example',
    version: '1',
    supportedInterfaces: [
      { url: 'http://elsewhere.invalid/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ],
    capabilities: {},
  });
  const rpc = new JsonRpcTransportHandler(new DefaultRequestHandler(card, new InMemoryTaskStore(), executor));
  return {
    url,
    place,
    heard,
    cancelled,
    cutNext(method) {
      cut = method;
    },
    lose(method) {
      lost = method;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
