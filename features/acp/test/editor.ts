/** `tempoclaw acp` as an editor starts it, spoken to by the client side of the protocol's SDK. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  client,
  type ClientContext,
  type ContentBlock,
  type InitializeResponse,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';

const MAIN = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));
export const FOLDER = '/home/ann/project';
const { agent: ask } = methods;

type Answer = (request: RequestPermissionRequest, signal: AbortSignal) => Promise<RequestPermissionResponse>;

export const choose =
  (kind: string): Answer =>
  async ({ options }) => ({
    outcome: {
      outcome: 'selected',
      optionId: options.find((one) => one.kind === kind)?.optionId ?? assert.fail(`no ${kind}`),
    },
  });

export interface Editor {
  readonly agent: ClientContext;
  readonly capabilities: InitializeResponse['agentCapabilities'];
  readonly updates: SessionUpdate[];
  readonly requests: RequestPermissionRequest[];
  readonly files: Map<string, string>;
  answer: Answer;
  begin(): Promise<string>;
  say(sessionId: string, text: string): Promise<string>;
  send(sessionId: string, prompt: ContentBlock[]): Promise<string>;
  text(): string;
  /** What the agent writes besides text. */
  blocks(): ContentBlock[];
  calls(): { status: unknown; title: unknown }[];
  stop(): Promise<void>;
}

export interface EditorOptions {
  readonly url: string;
  readonly key: string;
  readonly args?: readonly string[];
  readonly fs?: boolean;
}

export async function startEditor({ url, key, args = [], fs = true }: EditorOptions): Promise<Editor> {
  const program = spawn(process.execPath, [MAIN, 'acp', ...args], {
    env: { PATH: process.env['PATH'] ?? '', TEMPOCLAW_URL: url, TEMPOCLAW_API_KEY: key },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const updates: SessionUpdate[] = [];
  const requests: RequestPermissionRequest[] = [];
  const files = new Map<string, string>();
  const app = client({ name: 'editor' })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update);
    })
    .onRequest(methods.client.session.requestPermission, ({ params, signal }) => {
      requests.push(params);
      return editor.answer(params, signal);
    })
    .onRequest(methods.client.fs.readTextFile, ({ params }) => {
      const content = files.get(params.path);
      if (content === undefined) throw new Error('no such file');
      return { content };
    })
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      files.set(params.path, params.content);
      return {};
    });
  const stream = ndJsonStream(
    Writable.toWeb(program.stdin),
    Readable.toWeb(program.stdout) as ReadableStream<Uint8Array>,
  );
  const { agent } = app.connect(stream);
  const { protocolVersion, agentCapabilities } = await agent.request(ask.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: fs, writeTextFile: fs } },
  });
  assert.equal(protocolVersion, PROTOCOL_VERSION);
  assert.equal(agentCapabilities?.loadSession, true);
  const editor: Editor = {
    agent,
    capabilities: agentCapabilities,
    updates,
    requests,
    files,
    answer: choose('allow_once'),
    async begin() {
      const { sessionId } = await agent.request(ask.session.new, { cwd: FOLDER, mcpServers: [] });
      return sessionId;
    },
    say: (sessionId, text) => editor.send(sessionId, [{ type: 'text', text }]),
    async send(sessionId, prompt) {
      updates.length = 0;
      return (await agent.request(ask.session.prompt, { sessionId, prompt })).stopReason;
    },
    blocks: () =>
      updates.flatMap((one) =>
        one.sessionUpdate === 'agent_message_chunk' && one.content.type !== 'text' ? [one.content] : [],
      ),
    text: () =>
      updates.map((one) => (one.sessionUpdate === 'agent_message_chunk' ? words(one) : '')).join(''),
    calls: () =>
      updates.flatMap((one) =>
        one.sessionUpdate === 'tool_call' || one.sessionUpdate === 'tool_call_update'
          ? [{ status: one.status, title: one.title }]
          : [],
      ),
    async stop() {
      const ended = program.exitCode === null ? once(program, 'close') : undefined;
      program.stdin.end();
      await ended;
      assert.equal(program.exitCode, 0);
    },
  };
  return editor;
}

const words = ({ content }: { content: { type: string; text?: string } }): string => content.text ?? '';
