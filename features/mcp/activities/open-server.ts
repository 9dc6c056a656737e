/** One connection to one MCP server: its process or its door, the handshake, and what it lists. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Client,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { registerValues, scrubText } from '@tempoclaw/scrubber';
import { CALL_MARK, WORKER_MARK } from '#activities/process/kill-tree.ts';
import type { HostWall } from '#activities/process/wall.ts';
import { cleanOutsideText } from '#domain/hidden-text.ts';
import { MAX_MCP_TOOLS, type McpCredentials, readMcpTool } from '../rules/server.ts';
import { mapTexts } from '#domain/storable-text.ts';
import { findMcpCredentials, NO_CREDENTIALS } from '../store/mcp-credential-store.ts';
import { type McpServerToUse, openServerCredentials } from '../store/mcp-server-store.ts';
import type { ListedTool } from '../store/mcp-tool-store.ts';
import { WORDS, errorText } from './error-words.ts';
import {
  connectClient,
  createClient,
  hearChanges,
  listTools,
  probe,
  type ElicitationChannel,
} from './create-client.ts';
import { withinBounds } from './message-lines.ts';
import { authProviderOf, type OAuthDeps, type TokenUse } from './oauth.ts';
import { ProgramTransport } from './program-transport.ts';
import { type ServerBoxing, serverBox } from './server-box.ts';

/** `rulesOf`: where the tenant's servers may be. */
export interface OpenServerDeps extends OAuthDeps {
  /** Puts secrets in the place of `secret://NAME`. */
  readonly resolve: (tenant: string, text: string) => Promise<string>;
  readonly wall: Pick<HostWall, 'prefix' | 'environment'>;
  readonly boxing: ServerBoxing;
  /** A program's own is {tenant}/{name} below it: it works there, writes nowhere else, and finds it again at its next start. */
  readonly folders: string;
  /** Of programs on this machine: PATH, HOME, LANG. */
  readonly environment: Readonly<Record<string, string>>;
  /** Names this worker to those who look for what it left. */
  readonly worker: string;
}

export interface OpenServer {
  readonly client: Client;
  /** Calls that are being made over it. */
  readonly talks: Set<ElicitationChannel>;
  /** @throws what a request does, as the next two. */
  list(signal: AbortSignal): Promise<readonly ListedTool[]>;
  /** Whether it tells of changes of its list from now on; `onEnd` is called when it does no more. */
  hearChanges(onEnd: () => void): Promise<boolean>;
  /** Resolves when it is there. */
  probe(): Promise<void>;
  /** Whether a request was refused for its session, which the server has ended. */
  readonly isForgotten: (error: unknown) => boolean;
  /** Without the values that the server was given, and without what people do not see. */
  readonly hide: (text: string) => string;
  end(): Promise<void>;
}

export interface LiveServer extends OpenServer {
  /** By the server's name of each tool, as it was listed last. */
  readonly hashes: ReadonlyMap<string, string>;
}

export interface Heard {
  readonly onClosed: () => void;
  readonly onToolsChanged: () => void;
}

/** Bytes of one answer over HTTP, most of which may be left out (message-lines.ts). */
const STREAM_BYTES = 1024 * 1024 * 1024;
/** An open stream may say nothing for so long. */
const SILENT_MS = 300_000;
/** Until a server that is looked at must have answered. */
const PROBE_MS = 10_000;
/** Of a connection, the last ones, to be hidden. */
const KEPT_TOKENS = 8;

/** Throws what went wrong, in words that hold none of the values that the server was given. */
export async function openServer(
  deps: OpenServerDeps,
  server: McpServerToUse,
  received: Heard,
  /** `user`: whose credentials it is made with; empty: the server's own. `signal`: it takes too long. */
  {
    mode,
    user,
    signal,
  }: { readonly mode: 'auto' | 'legacy'; readonly user: string; readonly signal: AbortSignal },
): Promise<OpenServer> {
  const credentials = await openCredentials(deps, server, user);
  const items = [...Object.values(credentials.env), ...Object.values(credentials.headers)];
  let values = registerValues(items);
  // Cleaned first: what is invisible may stand within a secret.
  const hide = (text: string): string => scrubText(cleanOutsideText(text), values).text;
  // Tokens of before may still come back in an answer.
  const tokens: string[] = [];
  const login: LogIn = (fetchFn) =>
    authProviderOf(deps, server, user, fetchFn, (learned) => {
      tokens.splice(0, tokens.length, ...[...tokens, ...learned].slice(-KEPT_TOKENS));
      values = registerValues([...items, ...tokens]);
    });
  const way = await wayTo(deps, server, credentials, login);
  const { client, talks } = createClient(received.onToolsChanged, server.config.sampling);
  const end = async (): Promise<void> => {
    client.onclose = undefined;
    // Whatever it leaves is looked for by the next worker.
    await client.close().catch(() => undefined);
    await way.end().catch(() => undefined);
  };
  const problem = await Promise.race([connectClient(client, way.transport, mode), rejectedBy(signal)]).then(
    () => undefined,
    (error: unknown) => errorText(error, hide),
  );
  if (problem !== undefined) {
    await end();
    const last = hide(way.lastWords()).slice(-WORDS);
    throw new Error(last === '' ? problem : `${problem}; its last words: ${last}`);
  }
  client.onclose = received.onClosed;
  return {
    client,
    talks,
    hide,
    end,
    list: async (until) => listed(await listTools(client, { signal: until }), hide),
    hearChanges: (onEnd) => hearChanges(client, onEnd),
    probe: () => probe(client, { timeout: PROBE_MS }),
    isForgotten: (error) =>
      error instanceof SdkHttpError && error.status === 404 && way.transport.sessionId !== undefined,
  };
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => reject(new Error('it did not answer in time'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** The first of each name; what is beyond bounds is left out. */
function listed(tools: readonly unknown[], hide: OpenServer['hide']): readonly ListedTool[] {
  const found = new Map<string, ListedTool>();
  for (const tool of tools) {
    const read = readMcpTool(tool);
    if (!read || found.has(read.name) || found.size >= MAX_MCP_TOOLS) continue;
    const definition = { ...mapTexts(read, hide), name: read.name };
    const hash = createHash('sha256').update(canonical(definition)).digest('hex');
    found.set(definition.name, { definition, hash });
  }
  return [...found.values()];
}

/** A server that lists its fields in another order has changed nothing. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

async function openCredentials(
  deps: OpenServerDeps,
  server: McpServerToUse,
  user: string,
): Promise<McpCredentials> {
  const { sealer, resolve } = deps;
  const { tenant, id } = server;
  // As they are: a reference of a user's would give him a secret of the tenant.
  if (user !== '')
    return (await findMcpCredentials(deps, { tenant, server: id, user }))?.kept ?? NO_CREDENTIALS;
  const { env, headers } = openServerCredentials(sealer, tenant, server);
  const opened = async (from: McpCredentials['env']): Promise<Record<string, string>> => {
    const values: Record<string, string> = {};
    for (const [name, value] of Object.entries(from)) values[name] = await resolve(tenant, value);
    return values;
  };
  return { env: await opened(env), headers: await opened(headers) };
}

type LogIn = (fetchFn: typeof fetch) => TokenUse;

interface Way {
  readonly transport: Transport;
  readonly lastWords: () => string;
  readonly end: () => Promise<void>;
}

async function wayTo(
  deps: OpenServerDeps,
  server: McpServerToUse,
  credentials: McpCredentials,
  login: LogIn,
): Promise<Way> {
  return server.config.transport === 'stdio'
    ? processWay(deps, server, credentials)
    : httpWay(deps, server, credentials, login);
}

/** In its box, or behind the wall of commands, with nothing of the worker's environment but where programs are. */
async function processWay(
  { wall, boxing, environment, worker, folders }: OpenServerDeps,
  { tenant, id, name, config }: McpServerToUse,
  { env }: McpCredentials,
): Promise<Way> {
  const mark = `mcp/${tenant}/${id}/${randomUUID()}`;
  const program = [config.command, ...config.args];
  const box = config.box ? await serverBox(boxing, tenant, program, Object.keys(env)) : undefined;
  const folder = box ? undefined : join(folders, tenant, name);
  if (folder !== undefined) await mkdir(folder, { recursive: true, mode: 0o700 });
  const own = folder === undefined ? [] : [folder];
  const { PATH = '', HOME = '/', LANG = 'C.UTF-8' } = environment;
  const transport = new ProgramTransport({
    command: box?.command ?? [...wall.prefix(own), ...program],
    env: {
      PATH,
      HOME,
      LANG,
      ...(box ? {} : wall.environment(own)),
      ...env,
      [WORKER_MARK]: worker,
      [CALL_MARK]: mark,
    },
    cwd: folder ?? tmpdir(),
    mark: `${CALL_MARK}=${mark}`,
  });
  return {
    transport,
    lastWords: () => transport.lastWords,
    end: async () => {
      await transport.close();
      await box?.end();
    },
  };
}

/** The look every 30 seconds whether a server is alive: a row of each would hide the others. */
function isLook(init: RequestInit | undefined): boolean {
  const body = init?.body;
  if (typeof body !== 'string' || body.length > LOOK_CHARS) return false;
  const { method } = JSON.parse(body) as { readonly method?: unknown };
  return method === 'ping' || method === 'server/discover';
}
const LOOK_CHARS = 2_000;

async function httpWay(
  { egress, rulesOf }: OpenServerDeps,
  { tenant, config }: McpServerToUse,
  { headers }: McpCredentials,
  login: LogIn,
): Promise<Way> {
  const door = egress.open({
    labels: { tenant, purpose: 'mcp' },
    rules: await rulesOf(tenant),
    // The client follows those to the same origin, and no other.
    limits: { redirects: 0, bytes: STREAM_BYTES, totalMs: undefined, idleMs: SILENT_MS },
    isRoutine: isLook,
  });
  const authProvider = login(door.fetch);
  const options = { fetch: withinBounds(authProvider.fetch), requestInit: { headers }, authProvider };
  const url = new URL(config.url);
  const transport =
    config.transport === 'sse'
      ? new SSEClientTransport(url, {
          ...options,
          eventSourceInit: {
            fetch: (request, init) =>
              withinBounds(door.fetch)(request, {
                ...init,
                headers: { ...headers, ...(init.headers as Record<string, string>) },
              } as RequestInit),
          },
        })
      : new StreamableHTTPClientTransport(url, options);
  return { transport, lastWords: () => '', end: () => door.close() };
}
