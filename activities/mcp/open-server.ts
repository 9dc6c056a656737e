/** One connection to one MCP server: its process or its door, the handshake, and what it lists. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CALL_MARK, killLeftovers, WORKER_MARK } from '#activities/process/kill-tree.ts';
import type { HostWall } from '#activities/process/wall.ts';
import { MAX_MCP_TOOLS, type McpCredentials, readMcpTool } from '#domain/mcp/server.ts';
import { registerValues } from '#domain/scrub/registered-values.ts';
import { scrubText } from '#domain/scrub/scrub-text.ts';
import { findMcpCredentials, NO_CREDENTIALS } from '#store/mcp-credential-store.ts';
import { type McpServerToUse, openServerCredentials } from '#store/mcp-server-store.ts';
import type { ListedTool } from '#store/mcp-tool-store.ts';
import { connectClient, createClient, type Talk } from './create-client.ts';
import { type ServerBoxing, serverBox } from './server-box.ts';
import { authProviderOf, type OAuthDeps, type TokenUse } from './oauth.ts';

/** `rulesOf`: where the tenant's servers may be. */
export interface OpenServerDeps extends OAuthDeps {
  /** Puts secrets in the place of `secret://NAME`. */
  readonly resolve: (tenant: string, text: string) => Promise<string>;
  readonly wall: Pick<HostWall, 'prefix' | 'environment'>;
  readonly boxing: ServerBoxing;
  /** Of programs on this machine: PATH, HOME, LANG. */
  readonly environment: Readonly<Record<string, string>>;
  /** Names this worker to those who look for what it left. */
  readonly worker: string;
}

export interface OpenServer {
  readonly client: Client;
  /** Calls that are being made over it. */
  readonly talks: Set<Talk>;
  list(): Promise<readonly ListedTool[]>;
  /** Without the values that the server was given. */
  readonly hide: (text: string) => string;
  end(): Promise<void>;
}

export interface Heard {
  readonly onClosed: () => void;
  readonly onToolsChanged: () => void;
}

/** To start, also with a package that is fetched first, and to answer. */
const CONNECT_MS = 30_000;
/** Bytes of one message of a process, or of one answer over HTTP; what is longer ends the connection. */
const MESSAGE_BYTES = 4 * 1024 * 1024;
const STREAM_BYTES = 64 * 1024 * 1024;
/** An open stream may say nothing for so long. */
const SILENT_MS = 300_000;
/** Of a connection, the last ones, to be hidden. */
const KEPT_TOKENS = 8;
/** Characters of its error output that are kept, the last ones. */
const LAST_WORDS = 1_000;

/** Throws what went wrong, in words that hold none of the values that the server was given. */
export async function openServer(
  deps: OpenServerDeps,
  server: McpServerToUse,
  heard: Heard,
  /** `user`: whose credentials it is made with; empty: the server's own. */
  { mode, user }: { readonly mode: 'auto' | 'legacy'; readonly user: string },
): Promise<OpenServer> {
  const credentials = await openCredentials(deps, server, user);
  const given = [...Object.values(credentials.env), ...Object.values(credentials.headers)];
  let values = registerValues(given);
  const hide = (text: string): string => scrubText(text, values).text;
  // Tokens of before may still come back in an answer.
  const tokens: string[] = [];
  const login: LogIn = (fetchFn) =>
    authProviderOf(deps, server, user, fetchFn, (learned) => {
      tokens.splice(0, tokens.length, ...[...tokens, ...learned].slice(-KEPT_TOKENS));
      values = registerValues([...given, ...tokens]);
    });
  const way = await wayTo(deps, server, credentials, login);
  const { client, talks } = createClient(heard.onToolsChanged, server.config.sampling);
  const end = async (): Promise<void> => {
    client.onclose = undefined;
    // Whatever it leaves is looked for by the next worker.
    await client.close().catch(() => undefined);
    await way.end().catch(() => undefined);
  };
  const problem = await connectClient(client, way.transport, mode, CONNECT_MS).then(() => undefined, wordsOf);
  if (problem !== undefined) {
    await end();
    throw new Error(hide(problem + way.lastWords()));
  }
  client.onclose = heard.onClosed;
  return { client, talks, hide, end, list: async () => listed(await listTools(client)) };
}

async function listTools(client: Client): Promise<readonly unknown[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  return (await client.listTools(undefined, { timeout: CONNECT_MS })).tools;
}

/** The first of each name; what is beyond bounds is left out. */
function listed(tools: readonly unknown[]): readonly ListedTool[] {
  const found = new Map<string, ListedTool>();
  for (const tool of tools) {
    const definition = readMcpTool(tool);
    if (!definition || found.has(definition.name) || found.size >= MAX_MCP_TOOLS) continue;
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

/** What was thrown, in one line: the innermost cause says most. */
export function wordsOf(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  const words = inner instanceof Error ? inner.message : String(inner);
  return words.replace(/\s+/g, ' ').slice(0, 500);
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

/** A class of our own has the SDK ask the program itself which revision it speaks, where it would start another one for that. */
class ProgramTransport extends StdioClientTransport {}

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
  { wall, boxing, environment, worker }: OpenServerDeps,
  { tenant, id, config }: McpServerToUse,
  { env }: McpCredentials,
): Promise<Way> {
  const mark = `mcp/${tenant}/${id}/${randomUUID()}`;
  const program = [config.command, ...config.args];
  const box = config.box ? await serverBox(boxing, tenant, program, Object.keys(env)) : undefined;
  const folder = box ? undefined : await mkdtemp(join(tmpdir(), 'tempoclaw-mcp-'));
  const folders = folder === undefined ? [] : [folder];
  const [command = '', ...args] = box?.command ?? [...wall.prefix(folders), ...program];
  const { PATH = '', HOME = '/', LANG = 'C.UTF-8' } = environment;
  const transport = new ProgramTransport({
    command,
    args,
    env: {
      PATH,
      HOME,
      LANG,
      ...(box ? {} : wall.environment(folders)),
      ...env,
      [WORKER_MARK]: worker,
      [CALL_MARK]: mark,
    },
    cwd: folder ?? tmpdir(),
    stderr: 'pipe',
    maxBufferSize: MESSAGE_BYTES,
  });
  let words = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    words = `${words}${chunk.toString()}`.slice(-LAST_WORDS);
  });
  let pid = 0;
  const start = transport.start.bind(transport);
  transport.start = async () => {
    await start();
    pid = transport.pid ?? 0;
  };
  return {
    transport,
    lastWords: () => (words.trim() === '' ? '' : `; its last words: ${words.trim().replace(/\s+/g, ' ')}`),
    end: async () => {
      await killLeftovers({ pid, mark: `${CALL_MARK}=${mark}` }, 0);
      await box?.end();
      if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** The look every 30 seconds whether a server is alive: a row of each would hide the others. */
function isPing(init: RequestInit | undefined): boolean {
  const body = init?.body;
  if (typeof body !== 'string' || body.length > PING_CHARS) return false;
  return (JSON.parse(body) as { readonly method?: unknown }).method === 'ping';
}
const PING_CHARS = 500;

async function httpWay(
  { egress, rulesOf }: OpenServerDeps,
  { tenant, config }: McpServerToUse,
  { headers }: McpCredentials,
  login: LogIn,
): Promise<Way> {
  const door = egress.open({
    tenant,
    purpose: 'mcp',
    rules: await rulesOf(tenant),
    // The client follows those to the same origin, and no other.
    limits: { redirects: 0, bytes: STREAM_BYTES, totalMs: undefined, idleMs: SILENT_MS },
    isRoutine: isPing,
  });
  const authProvider = login(door.fetch);
  const options = { fetch: authProvider.fetch, requestInit: { headers }, authProvider };
  const url = new URL(config.url);
  const transport =
    config.transport === 'sse'
      ? new SSEClientTransport(url, {
          ...options,
          eventSourceInit: {
            fetch: (asked, init) =>
              door.fetch(asked, {
                ...init,
                headers: { ...headers, ...(init.headers as Record<string, string>) },
              } as RequestInit),
          },
        })
      : new StreamableHTTPClientTransport(url, options);
  return { transport, lastWords: () => '', end: () => door.close() };
}
