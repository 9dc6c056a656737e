/** The agent's side of ACP v1, over the API, with the key of the person who started the command. */
import {
  agent,
  type AgentApp,
  type FileSystemCapabilities,
  methods,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk';
import { CliError } from '#cli/cli-error.ts';
import { ApiError } from '#cli/client.ts';
import { pathOf } from '#cli/command-context.ts';
import manifest from '../../package.json' with { type: 'json' };
import { createOpenSessions, type EditorOptions } from './open-sessions.ts';
import { readPrompt } from './read-prompt.ts';
import { artifactsOf } from './session-files.ts';

export interface AcpAgent {
  readonly app: AgentApp;
  close(): void;
}

const CAPABILITIES = {
  loadSession: true,
  promptCapabilities: { image: true, audio: true, embeddedContext: true },
  sessionCapabilities: { list: {}, resume: {}, close: {} },
};
const AUTH_METHOD = {
  id: 'tempoclaw-key',
  name: 'Key of TempoClaw',
  description:
    'Set TEMPOCLAW_URL and TEMPOCLAW_API_KEY, or start the command in the folder of a running one.',
};
const { agent: on } = methods;

export function createAcpAgent(options: EditorOptions): AcpAgent {
  const sessions = createOpenSessions(options);
  let fs: FileSystemCapabilities | undefined;

  const app = agent({ name: 'tempoclaw' })
    .onRequest(on.initialize, ({ params }) => {
      fs = params.clientCapabilities?.fs;
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'tempoclaw', title: 'TempoClaw', version: manifest.version },
        agentCapabilities: CAPABILITIES,
        authMethods: [AUTH_METHOD],
      };
    })
    .onRequest(on.authenticate, () =>
      answer(async () => {
        await options.client.get(pathOf('me'));
      }),
    )
    .onRequest(on.session.new, ({ params: { cwd }, client: context }) =>
      answer(() => sessions.begin({ context, fs }, cwd)),
    )
    .onRequest(on.session.load, ({ params: { sessionId, cwd }, client: context }) =>
      answer(() => sessions.reopen({ context, fs }, sessionId, cwd, true)),
    )
    .onRequest(on.session.resume, ({ params: { sessionId, cwd }, client: context }) =>
      answer(() => sessions.reopen({ context, fs }, sessionId, cwd, false)),
    )
    .onRequest(on.session.list, ({ params: { cwd, cursor } }) =>
      answer(() => sessions.list(cwd ?? undefined, cursor ?? undefined)),
    )
    .onRequest(on.session.setMode, ({ params: { sessionId, modeId } }) =>
      answer(() => sessions.chooseAgent(sessionId, modeId)),
    )
    .onRequest(on.session.prompt, ({ params: { sessionId, prompt }, signal }) =>
      answer(async () => ({
        stopReason: await sessions
          .find(sessionId)
          .prompt(readPrompt(prompt, artifactsOf(options.client)), signal),
      })),
    )
    .onNotification(on.session.cancel, ({ params: { sessionId } }) => sessions.cancel(sessionId))
    .onRequest(on.session.close, ({ params: { sessionId } }) => answer(() => sessions.close(sessionId)));

  return { app, close: sessions.closeAll };
}

/** Errors of the API in the words of the protocol. */
async function answer<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const words = [error.message, error.remedy].filter(Boolean).join(' ');
    if (error.code === 'Unauthorized') throw RequestError.authRequired(undefined, words);
    const isRefused = error instanceof ApiError && error.status < 500;
    throw isRefused
      ? RequestError.invalidParams({ code: error.code }, words)
      : RequestError.internalError({ code: error.code }, words);
  }
}
